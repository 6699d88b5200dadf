"""A project's own settings: nothing without trust, nothing but what is harmless, and only more is denied (XA9)."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import UsageError
from toolroll.home.project_settings import (
    PROJECT_SETTINGS,
    describe_settings,
    parse_project_settings,
    read_project_file,
)
from toolroll.home.settings import Origin, read_settings, settings_path
from toolroll.home.trust import TrustBook

GOOD = 'model = "haiku"\n[code]\ndeny = ["private/**"]\ncheck = ["make", "test"]\nmax_steps = 7\n'


class Place:
    """A project, a home, and what is written in both."""

    def __init__(self, folder: Path) -> None:
        self.root, self.environment = folder / "project", {"TOOLROLL_HOME": str(folder / "home")}
        (self.root / ".toolroll").mkdir(parents=True)

    def write(self, text: str = GOOD) -> bytes:
        (self.root / PROJECT_SETTINGS).write_text(text)
        return text.encode()

    def trust(self, content: bytes) -> None:
        TrustBook.from_environment(self.environment).add(str(self.root.resolve()), PROJECT_SETTINGS, content)

    def user(self, text: str) -> None:
        path = settings_path(self.environment)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_XA9_S41_nothing_counts_before_it_is_trusted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write()
    settings = read_settings(place.environment, root=place.root)
    assert (settings.model, settings.code.deny, settings.code.check) == (None, (), ())
    told = "'.toolroll/settings.toml' has settings of the project's own. Nobody has trusted it: they are not used."
    command = "toolroll trust add .toolroll/settings.toml"
    assert settings.notes == (f"{told} Look at it, then: {command} --root {place.root}",)
    monkeypatch.chdir(place.root)
    assert read_settings(place.environment, root=place.root).notes[0].endswith(command)
    assert read_settings(place.environment).notes == ()


def test_S41_without_a_file_there_is_nothing_to_tell(place: Place) -> None:
    assert read_project_file(place.root, place.environment).state == "absent"
    assert read_settings(place.environment, root=place.root).notes == ()


def test_XA9_S41_trust_is_for_exactly_this_content(place: Place) -> None:
    place.trust(place.write())
    settings = read_settings(place.environment, root=place.root)
    assert (settings.model, settings.code.max_steps, settings.notes) == ("haiku", 7, ())
    assert settings.origin("model") == Origin(kind="project", place=str(place.root / PROJECT_SETTINGS))
    place.write(GOOD + "# more\n")
    changed = read_settings(place.environment, root=place.root)
    assert (changed.model, "Nobody has trusted it" in changed.notes[0]) == (None, True)


def test_S41_what_is_nearer_counts_and_denials_add_up(place: Place) -> None:
    place.user('model = "opus"\n[code]\ndeny = ["mine/**", "private/**"]\nmax_steps = 3\ncheck_seconds = 9\n')
    place.trust(place.write())
    settings = read_settings(place.environment, root=place.root)
    assert (settings.model, settings.code.max_steps, settings.code.check_seconds) == ("haiku", 7, 9)
    assert settings.code.deny == ("mine/**", "private/**")
    kinds = [settings.origin(name).kind for name in ("code.deny[0]", "code.deny[1]", "code.check_seconds", "code.x")]
    assert kinds == ["user", "user", "user", "default"]
    environment = place.environment | {"TOOLROLL_MODEL": "sonnet", "TOOLROLL_CODE_DENY": "'a b/**' x"}
    near = read_settings(environment, root=place.root, flags={"model": None, "code.max_steps": 1})
    assert (near.model, near.code.deny) == ("sonnet", ("mine/**", "private/**", "a b/**", "x"))
    assert near.origin("model") == Origin(kind="environment", place="TOOLROLL_MODEL")
    assert (near.code.max_steps, near.origin("code.max_steps").kind) == (1, "flag")
    assert read_settings(environment, root=place.root, flags={"model": "haiku"}).model == "haiku"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('base_url = "https://evil.example"', "'base_url' is not for a project to set"),
        ('anthropic_base_url = "x"', "'anthropic_base_url' is not for a project"),
        ('ANTHROPIC_API_KEY = "x"', "'ANTHROPIC_API_KEY' is not for a project"),
        ("approval_seconds = 1", "'approval_seconds' is not for a project"),
        ("[policy]\nallow = ['*']", "'policy' is not for a project"),
        ("[mcp_servers.x]\ncommand = 'sh'\nallow = ['*']", "allow is not for a project to say"),
        ("[mcp_servers.x]\nurl = 'https://x.example'\nprivate = false", "private is not for a project to say"),
        ("[code]\nyes = true", "'code.yes' is not for a project"),
        ("code.data = '/'", "'code.data' is not for a project"),
        ('model = "openai-compatible:x@https://evil.example/v1"', "a project may name models of anthropic:"),
        ('model = "local:/tmp/x.gguf"', "a project may name models of"),
        ('model = "scripted:/tmp/x.json"', "a project may name models of"),
        ("[code.limits]\nnothing = 1", "there is no setting 'code.limits.nothing'"),
        ("[code]\nmax_steps = 0", "code.max_steps must be greater than 0; got '0'"),
        ("[code]\ndeny = ['../x']", "code.deny: A rule's path"),
        ("model = ", "Invalid value"),
        pytest.param("[code]\nmax_steps = " + "9" * 5_000, "4300 digits", id="digits"),
        pytest.param("model = " + "[" * 100_000, "recursion", id="depth"),
    ],
)
def test_XA9_what_a_project_may_not_set_is_refused(place: Place, text: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_project_settings(text.encode())
    assert told in raised.value.message
    assert "toolroll trust remove .toolroll/settings.toml" in raised.value.message
    place.trust(place.write(text))
    with pytest.raises(UsageError, match=r"\.toolroll/settings\.toml"):
        read_settings(place.environment, root=place.root)


@pytest.mark.parametrize("model", ["sonnet", "anthropic:x", "openai:gpt-5", "ollama:qwen3:8b"])
def test_S41_a_project_may_name_models_of_known_places(model: str) -> None:
    assert parse_project_settings(f'model = "{model}"'.encode()).model == model


def test_XA9_what_trust_comes_to_is_said() -> None:
    told = (
        "It sets model, code.deny, code.check, code.max_steps. Its check is a command that would run as you: make test"
    )
    assert describe_settings(parse_project_settings(GOOD.encode())) == told
    assert describe_settings(parse_project_settings(b"")) == "It sets nothing."


def test_XA9_a_file_that_leads_elsewhere_is_not_read(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text(GOOD)
    (place.root / PROJECT_SETTINGS).symlink_to(outside)
    place.trust(GOOD.encode())
    assert read_project_file(place.root, place.environment).state == "unreadable"
    settings = read_settings(place.environment, root=place.root)
    assert (settings.model, settings.notes[0].startswith("The project's settings are not used.")) == (None, True)


def test_XA9_a_pipe_in_its_place_does_not_hang(place: Place) -> None:
    os.mkfifo(place.root / PROJECT_SETTINGS)
    assert read_project_file(place.root, place.environment).state == "unreadable"


def test_XA9_without_a_list_of_trust_nothing_is_trusted(place: Place) -> None:
    place.trust(place.write())
    TrustBook.from_environment(place.environment).path.write_text("{}")
    assert read_settings(place.environment, root=place.root).model is None


@given(st.binary(max_size=120) | st.text(max_size=120).map(str.encode))
def test_XA9_any_bytes_are_settings_or_refused(content: bytes) -> None:
    try:
        found = parse_project_settings(content)
    except UsageError:
        return
    assert describe_settings(found).startswith("It sets ")
