"""Where the data is: where it was said, in `./data` where there is one that is trusted, or among the user's own."""

from pathlib import Path

import pytest

from toolroll.errors import UsageError
from toolroll.packs.writing.tools.dependencies import (
    DATA,
    FEEDBACK,
    PROFILES,
    data_folder,
    distrust_data,
    is_trusted,
    trust_data,
)
from toolroll.testing import make_run


async def test_the_stores_are_in_the_folder_that_was_said(tmp_path: Path) -> None:
    async with make_run(deps={"data": tmp_path}) as run:
        ctx = run.context()
        assert tmp_path == await ctx.resolve(DATA)
        assert tmp_path / "feedback-tracker.json" == (await ctx.resolve(FEEDBACK)).path
        assert await ctx.resolve(PROFILES) is await run.context().resolve(PROFILES)


def test_XA30_else_it_is_the_local_folder_if_it_is_trusted_or_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    assert tmp_path / "home" / "data" / "ghostpen" == data_folder()
    (tmp_path / "data").mkdir()
    with pytest.raises(UsageError, match="toolroll trust add data"):
        data_folder()
    trust_data(tmp_path)
    assert tmp_path / "data" == data_folder()
    assert Path("elsewhere") == data_folder("elsewhere")
    assert (distrust_data(tmp_path), distrust_data(tmp_path), is_trusted(tmp_path)) == (True, False, False)


async def test_XA30_a_tool_does_not_take_a_folder_that_nobody_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    async with make_run() as run:
        with pytest.raises(UsageError):
            await run.context().resolve(DATA)
