"""Where the data is: where it was said, in `./data` where there is one, or among the user's own."""

from pathlib import Path

import pytest

from toolroll.packs.writing.tools.dependencies import DATA, FEEDBACK, PROFILES, data_folder
from toolroll.testing import make_run


async def test_the_stores_are_in_the_folder_that_was_said(tmp_path: Path) -> None:
    async with make_run(deps={"data": tmp_path}) as run:
        ctx = run.context()
        assert tmp_path == await ctx.resolve(DATA)
        assert tmp_path / "feedback-tracker.json" == (await ctx.resolve(FEEDBACK)).path
        assert await ctx.resolve(PROFILES) is await run.context().resolve(PROFILES)


def test_else_it_is_the_local_folder_or_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    assert tmp_path / "home" / "data" / "ghostpen" == data_folder()
    (tmp_path / "data").mkdir()
    assert tmp_path / "data" == data_folder()
    assert Path("elsewhere") == data_folder("elsewhere")
