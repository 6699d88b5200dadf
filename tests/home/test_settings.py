"""The user's settings: typed, checked as a whole, and never from a project."""

from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.home.settings import LimitSettings, Settings, read_settings, settings_path
from toolroll.workspace.limits import Limits


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TOOLROLL_HOME": str(tmp_path)}


def write(home: dict[str, str], text: str | bytes) -> Path:
    path = settings_path(home)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(0o600)
    return path


def test_C44_without_a_file_everything_is_as_usual(home: dict[str, str]) -> None:
    assert read_settings(home) == Settings()
    settings_path(home).parent.mkdir(parents=True)
    assert read_settings(home) == Settings()


@pytest.mark.parametrize("target", ["{folder}/dotfile.toml", "../dotfile.toml"])
def test_XF9_a_file_that_is_a_link_is_told_in_plain_words(home: dict[str, str], tmp_path: Path, target: str) -> None:
    (tmp_path / "dotfile.toml").write_text('model = "opus"\n')
    path = settings_path(home)
    path.parent.mkdir(mode=0o700)
    path.symlink_to(target.format(folder=tmp_path))
    with pytest.raises(UsageError, match=f"The settings in '{path}' cannot be used: it is a link that leads elsewhere"):
        read_settings(home)


def test_C44_every_limit_of_a_workspace_is_a_setting() -> None:
    assert set(LimitSettings.model_fields) == {field.name for field in fields(Limits)}


def test_C44_what_is_set_counts(home: dict[str, str]) -> None:
    text = 'model = "opus"\n[code]\ndeny = ["secrets/**"]\ncheck = ["npm", "test"]\n[code.limits]\nread_lines = 10\n'
    write(home, text)
    settings = read_settings(home)
    assert (settings.model, settings.code.deny, settings.code.check) == ("opus", ("secrets/**",), ("npm", "test"))
    assert (settings.code.limits.read_lines, settings.code.limits.matches) == (10, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model = ", "Invalid value"),
        ("modle = 'x'", "there is no setting 'modle'; did you mean model?"),
        ("[code]\ndeny = 'secrets'", "code.deny"),
        ("[code]\ndeny = ['../x']", "code.deny: A rule's path"),
        ("[code]\ncheck = [1]", "code.check.0"),
        ("[code.limits]\nread_lines = 0", "code.limits.read_lines"),
        ("[code.limits]\nread_lines = true", "code.limits.read_lines"),
        ("[code]\nmax_steps = '3'", "code.max_steps"),
        (b"\xff", "codec can't decode"),
        pytest.param("[code]\nmax_steps = " + "9" * 5_000, "4300 digits", id="digits"),
        pytest.param("model = " + "[" * 100_000, "recursion", id="depth"),
    ],
)
def test_C44_a_wrong_setting_is_named_and_nothing_is_used(home: dict[str, str], text: str | bytes, told: str) -> None:
    path = write(home, text)
    with pytest.raises(UsageError) as raised:
        read_settings(home)
    assert told in raised.value.message
    assert str(path) in raised.value.message


def test_XA9_settings_that_others_can_write_are_not_used(home: dict[str, str]) -> None:
    write(home, "model = 'x'").chmod(0o666)
    with pytest.raises(UsageError, match="other users can write"):
        read_settings(home)


@given(st.binary(max_size=200))
def test_C44_any_bytes_are_settings_or_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    home = {"TOOLROLL_HOME": str(tmp_path_factory.getbasetemp() / "any")}
    write(home, data)
    with suppress(UsageError):
        assert isinstance(read_settings(home), Settings)
