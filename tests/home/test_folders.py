"""Where the user's files are."""

from pathlib import Path

import pytest

from toolroll.errors import UsageError
from toolroll.home.folders import find_folders


def test_one_variable_puts_everything_into_one_folder(tmp_path: Path) -> None:
    """S41: data, configuration and cache, and nothing is made by asking."""
    home = tmp_path / "all"
    folders = find_folders({"TOOLROLL_HOME": str(home)})
    assert (home / "data", home / "config", home / "cache") == (folders.data, folders.config, folders.cache)
    assert not home.exists()


@pytest.mark.parametrize("home", ["here", "./here", "~/toolroll", "../up\x1b[2J"])
def test_a_home_that_moves_with_the_working_folder_is_refused(home: str) -> None:
    """S41: a workspace must not be able to bring its own approvals."""
    with pytest.raises(UsageError, match="Set it to a whole path") as refused:
        find_folders({"TOOLROLL_HOME": home})
    assert "\x1b" not in refused.value.message


@pytest.mark.parametrize(
    ("home", "why"),
    [
        ("file", "', which is no folder. Set it to a folder of your own."),
        ("file/below", "', which cannot be used: Not a directory. Set it"),
        ("n" * 300, "', which cannot be used: File name too long. Set it"),
        ("/proc/foo", "'/proc/foo', where no folder can be made. Set it"),
    ],
)
def test_a_home_that_can_be_no_folder_is_refused(home: str, why: str, tmp_path: Path) -> None:
    """S41: one sentence for every command, instead of an empty list or an error of each one's own."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError) as refused:
        find_folders({"TOOLROLL_HOME": str(tmp_path / home)})
    assert refused.value.message.startswith("TOOLROLL_HOME is '")
    assert why in refused.value.message


@pytest.mark.parametrize("environment", [{}, {"TOOLROLL_HOME": ""}])
def test_without_the_variable_the_system_decides(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    folders = find_folders(environment)
    assert folders.config != folders.cache != folders.data
    assert {"toolroll"} == {folders.data.name, folders.config.name, folders.cache.name}
    assert not list(tmp_path.iterdir())
