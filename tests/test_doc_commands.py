"""Every command that a page names exists, with its options: also those that no test runs, as they need a key."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from toolroll.cli.ghostpen.main import DefaultLazyGroup, ghostpen
from toolroll.cli.main import root
from toolroll.cli.options import DefaultGroup

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PAGES.remove("docs/promises.md")  # names what is planned, too
PROGRAMS: dict[str, click.Command] = {"toolroll": root, "ghostpen": ghostpen}

COMMAND = r"(?:toolroll|ghostpen)\s[^`\n]*(?:\n[^`\n]+)?"
IN_A_LINE = re.compile(rf"`({COMMAND})`")
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ON_A_LINE = re.compile(r"^\s*(?:\$ )?((?:toolroll|ghostpen) .*)$", re.MULTILINE)


def commands_on(page: str) -> Iterator[str]:
    """What looks like a command, in text and in blocks."""
    yield from (" ".join(found.split()) for found in IN_A_LINE.findall(page))
    for block in BLOCK.findall(page):
        yield from ON_A_LINE.findall(re.sub(r"\\\n", " ", block))


def words_of(command: str) -> list[str]:
    """The words of the first of the commands in a line, without what goes into a file or a pipe."""
    lexer = shlex.shlex(command.replace("…", ""), posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = list(lexer)
    ends = [place for place, word in enumerate(words) if word[0] in ";|&<>"]
    return words[: min(ends, default=len(words))]


def options_of(command: click.Command) -> set[str]:
    context = click.Context(command, help_option_names=["-h", "--help"])
    return {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)}


def fault_of(command: str) -> str | None:
    """What is wrong with a command; None where all of it exists."""
    name, *words = words_of(command)
    now: click.Command | None = PROGRAMS[name]
    known, path = options_of(PROGRAMS[name]), name
    for word in words[: words.index("--")] if "--" in words else words:
        if word.startswith("-") and word != "-" and not re.fullmatch(r"-\d+", word):
            known = known | (options_of(default_of(now)) if isinstance(now, click.Group) else set())
            if word.partition("=")[0] not in known:
                return f"`{command}`: {path} has no {word}"
        elif isinstance(now, click.Group) and word != word.upper():
            found = now.get_command(click.Context(now), word)
            if found is None and default_name(now) is None:
                return f"`{command}`: {path} has no command {word}"
            now, path = found or default_of(now), f"{path} {word}" if found else path
            known = options_of(now) | {"--debug"}
    return None


def default_name(group: click.Group) -> str | None:
    """The name of the command that is meant where none is named."""
    if isinstance(group, DefaultGroup):
        return group.default
    return "write" if isinstance(group, DefaultLazyGroup) else None


def default_of(group: click.Group) -> click.Command:
    """The command that is meant where none is named."""
    name = default_name(group)
    found = group.get_command(click.Context(group), name) if name else group
    assert found is not None
    return found


@pytest.mark.parametrize("name", PAGES)
def test_commands_on_pages_exist(name: str) -> None:
    found = list(commands_on((ROOT / name).read_text(encoding="utf-8")))
    assert [fault for one in found if (fault := fault_of(one))] == []


def test_there_are_commands_on_pages() -> None:
    """The pattern finds them: a page that names none would prove nothing."""
    found = [one for name in PAGES for one in commands_on((ROOT / name).read_text(encoding="utf-8"))]
    assert len(found) > 150


@pytest.mark.parametrize(
    ("command", "is_right"),
    [
        ("toolroll code 'x' --model sonnet  # a comment --nonsense", True),
        ("toolroll code 'x' --modle sonnet", False),
        ("toolroll runs fork ID --at STEP", True),
        ("toolroll runs spoon ID", False),
        ("toolroll cod", False),
        ("toolroll explore 'an idea' --mode business", True),
        ("toolroll explore --mode business", True),
        ("toolroll explore list --mode business", False),
        ("ghostpen 'a post' --mix a b | grep --nothing", True),
        ("ghostpen init --mix a b", False),
        ("toolroll --help", True),
        ("toolroll config set code.check -- pytest -q", True),
        ("toolroll runs resume 3f9c --approve=c1; echo --done", True),
    ],
)
def test_what_does_not_exist_is_found(command: str, is_right: bool) -> None:
    assert (fault_of(command) is None) is is_right
