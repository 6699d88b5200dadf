"""Changing the user's settings: checked first, whole or not at all, private, and never a secret."""

import stat
from pathlib import Path

import pytest

from toolroll.errors import UsageError
from toolroll.home.settings import read_settings, settings_path
from toolroll.home.settings_file import set_setting, unset_setting

KEY = "sk-ant-api03-canary-canary-canary-canary-canary-000"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TOOLROLL_HOME": str(tmp_path / "home")}


def test_S41_what_is_set_is_read_and_what_is_unset_is_gone(home: dict[str, str]) -> None:
    assert set_setting(home, "code.deny", ("a/**", "b")) == ("a/**", "b")
    assert set_setting(home, "code.max_steps", ("5",)) == 5
    settings = read_settings(home)
    assert (settings.code.deny, settings.code.max_steps) == (("a/**", "b"), 5)
    assert unset_setting(home, "code.deny")
    assert not unset_setting(home, "code.deny")
    assert settings_path(home).read_text() == "\n[code]\nmax_steps = 5\n".lstrip("\n")


def test_XF9_the_file_is_private_and_comments_stay(home: dict[str, str]) -> None:
    set_setting(home, "model", ("x",))
    path = settings_path(home)
    path.write_text("# mine\nmodel = 'x' # why\n")
    set_setting(home, "model", ("y",))
    assert path.read_text() == '# mine\nmodel = "y" # why\n'
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model", (KEY,)),
        ("code.check", ("curl", "-H", f"x-api-key: {KEY}")),
        ("anthropic_api_key", ("anything",)),
        ("GITHUB_TOKEN", ("anything",)),
        ("my_password", ("anything",)),
    ],
)
def test_S41_D6_a_secret_is_not_a_setting(home: dict[str, str], name: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="keys belong in the environment or the keyring") as raised:
        set_setting(home, name, words)
    assert KEY not in raised.value.message
    assert not settings_path(home).exists()


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("modle", ("x",), "Did you mean model?"),
        ("code.max_steps", ("0",), "code.max_steps must be greater than 0"),
        ("model", ("",), "model must not be empty"),
        ("model", ("\udcff",), "model must be text"),
    ],
)
def test_S41_what_makes_no_sense_is_not_written(
    home: dict[str, str], name: str, words: tuple[str, ...], told: str
) -> None:
    with pytest.raises(UsageError) as raised:
        set_setting(home, name, words)
    assert told in raised.value.message
    assert not settings_path(home).exists()


def test_S41_a_file_that_is_wrong_is_not_made_worse_but_can_be_mended(home: dict[str, str]) -> None:
    set_setting(home, "model", ("x",))
    path = settings_path(home)
    path.write_text("modle = 1\nmodel = 'x'\n")
    with pytest.raises(UsageError, match="there is no setting 'modle'; did you mean model"):
        set_setting(home, "model", ("y",))
    assert unset_setting(home, "modle")
    assert set_setting(home, "model", ("y",)) == "y"
    for broken in (b"model = ", b"\xff", b"x = " + b"9" * 5_000, b"x = " + b"[" * 100_000):
        path.write_bytes(broken)
        with pytest.raises(UsageError, match="cannot be used"):
            set_setting(home, "model", ("y",))
        with pytest.raises(UsageError, match="cannot be used"):
            unset_setting(home, "model")
        assert path.read_bytes() == broken
