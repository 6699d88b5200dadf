"""Every example in README.md and docs/ runs, and prints what the page shows.

    ```python              runs by itself; the ```text block after it, if there is one, is its output
    ```python no-run       does not run (at most two in all pages)
    # file: name           as the first line of a block of any language: is kept as that file for what follows
    ```console             each `$ command` runs in a shell; the lines below it are its output

All blocks of a page share one folder, empty at first. A line `...` in an output stands for any lines.
A command that fails must say so: `$ command; echo "exit $?"`.
"""

import difflib
import os
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
from tests.support.programs import shared_starter

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NO_RUN_ALLOWED = 2
SECONDS_A_BLOCK = 30
# Other names of the same languages would leave a block out without anybody noticing.
UNCHECKED_NAMES = {"py", "py3", "python3", "pycon", "ipython", "shell-session", "sh-session", "bash-session"}

FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*(?P<target>[^()\s]*)\s*\)")
HEADING = re.compile(r"^#{1,6} (?P<text>.*)$", re.MULTILINE)
ELSEWHERE = ("http://", "https://", "mailto:")
FILE_LINE = re.compile(r"# file: (?P<name>[\w.-]+(?:/[\w.-]+)*)")


class PageError(Exception):
    """A page that cannot be read as meant: an open fence, an unknown word after its language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block; `line` is the line of the page on which its text begins."""

    language: str
    no_run: bool
    line: int
    text: str

    @property
    def file(self) -> str | None:
        match = FILE_LINE.fullmatch(self.text.partition("\n")[0])
        return match["name"] if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Where the examples of one page run."""

    path: Path
    home: Path

    def run(self, *command: str) -> tuple[int, str]:
        """Exit code and output of a program that has no terminal, no settings and an empty home."""
        environment = {
            "PATH": os.pathsep.join(
                [str(shared_starter().programs), sysconfig.get_path("scripts"), os.environ["PATH"]]
            ),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "80",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        # A session of its own has no terminal to ask at, not even by opening /dev/tty.
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )
        with process:
            try:
                output, _ = process.communicate(timeout=SECONDS_A_BLOCK)
            except subprocess.TimeoutExpired:
                # The group, because a child of the command may hold the pipe open.
                os.killpg(process.pid, signal.SIGKILL)
                output = f"still running after {SECONDS_A_BLOCK} s"
        return process.returncode, output


def make_block(info: str, line: int, lines: list[str]) -> Block:
    language, *words = info.split() or [""]
    known = [] if language not in {"python", "console"} else ["no-run"]
    if language.lower() in UNCHECKED_NAMES or language != language.lower() or set(words) - set(known):
        raise PageError(f"line {line - 1}: write ```python, ```console or ```text, at most with no-run: {info!r}")
    return Block(language=language, no_run="no-run" in words, line=line, text="".join(f"{one}\n" for one in lines))


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    opened: re.Match[str] | None = None
    start, lines = 0, list[str]()
    for number, line in enumerate(page.splitlines(), 1):
        match = FENCE.fullmatch(line)
        if opened is None:
            opened, start, lines = match, number + 1, []
        elif match and match["fence"].startswith(opened["fence"]) and not match["info"]:
            yield make_block(opened["info"], start, lines)
            opened = None
        else:
            lines.append(line.removeprefix(opened["indent"]))
    if opened is not None:
        raise PageError(f"line {start - 1}: this block is never closed")


def commands_of(block: Block) -> Iterator[tuple[int, str, str]]:
    """Line, command and shown output of each `$ command` of a console block."""
    if not block.text.startswith("$ "):
        raise PageError(f"line {block.line}: a console block begins with `$ command`")
    # A backslash at the end of a line continues the command, as in the shell.
    for match in re.finditer(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        line = block.line + block.text.count("\n", 0, match.start())
        yield line, match["command"], match["shown"]


def same(shown: str, real: str) -> bool:
    """Whether the output is the shown one, where a line `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown.rstrip("\n").splitlines()
    )
    return re.fullmatch(pattern, real.rstrip("\n") + "\n" if real.strip("\n") else "") is not None


def difference(shown: str, real: str) -> str:
    lines = difflib.unified_diff(shown.splitlines(), real.splitlines(), "on the page", "really", lineterm="")
    return "\n".join(lines)


def verdict(line: int, code: int, real: str, shown: str | None) -> Iterator[str]:
    """What is wrong with one run, if anything."""
    if code:
        yield f"line {line}: exit code {code}, and the page does not say so\n{real}"
    elif shown is not None and not same(shown, real):
        yield f"line {line}: prints something else\n{difference(shown, real)}"


def run_python(block: Block, shown: str | None, folder: Folder) -> Iterator[str]:
    name = block.file or "example.py"
    script = folder.path / name
    if block.file is None:
        # Empty lines in front, so that a traceback gives the line of the page.
        script.write_text("\n" * (block.line - 1) + block.text, encoding="utf-8")
    code, real = folder.run("python", name)
    if block.file is None:
        script.unlink()
    yield from verdict(block.line, code, real, shown)


def problems_of(page: str, folder: Folder) -> Iterator[str]:
    """Everything on the page that does not run as it says."""
    blocks = list(blocks_of(page))
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.file:
            (folder.path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder.path / block.file).write_text(block.text, encoding="utf-8")
        if block.no_run:
            continue
        if block.language == "python":
            yield from run_python(block, after.text if after and after.language == "text" else None, folder)
        if block.language == "console":
            for line, command, shown in commands_of(block):
                yield from verdict(line, *folder.run("sh", "-c", command), shown)


def without_blocks(page: str) -> str:
    """The page with an empty line for each line of a fenced block, and without code in its lines."""
    kept, fence = list[str](), ""
    for line in page.splitlines():
        match = FENCE.fullmatch(line)
        is_end = fence and match and match["fence"].startswith(fence)
        kept.append("" if fence or match else line)
        fence = "" if is_end else fence or (match["fence"] if match else "")
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "``", "\n".join(kept))


def anchors_of(page: str) -> set[str]:
    """The names by which a code host links to the headings of a page."""
    found: set[str] = set()
    headings = re.sub(r"[`*]|(?<=\])\([^)]*\)", "", "\n".join(re.findall(r"^#{1,6} .*$", page, re.MULTILINE)))
    for heading in HEADING.finditer(headings):
        name = re.sub(r"[^\w\- ]", "", heading["text"].lower()).replace(" ", "-")
        number = sum(bool(re.fullmatch(rf"{re.escape(name)}(-\d+)?", one)) for one in found)
        found.add(f"{name}-{number}" if number else name)
    return found


def dead_links_of(page: Path) -> Iterator[str]:
    """Every relative link of a page that leads nowhere."""
    text = without_blocks(page.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        name, _, anchor = match["target"].partition("#")
        target = page.parent / name if name else page
        line = text.count("\n", 0, match.start()) + 1
        if match["target"].startswith(ELSEWHERE):
            continue
        if not target.exists():
            yield f"line {line}: {match['target']} is not there"
        elif anchor and anchor not in anchors_of(target.read_text(encoding="utf-8")):
            yield f"line {line}: {match['target']}: the page has no such heading"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    for name in ("page", "home"):
        (tmp_path / name).mkdir()
    return Folder(path=tmp_path / "page", home=tmp_path / "home")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.timeout(300)
def test_examples_run_as_shown(name: str, folder: Folder) -> None:
    problems = [f"{name}, {one}" for one in problems_of((ROOT / name).read_text(encoding="utf-8"), folder)]
    if problems:
        pytest.fail("\n\n".join(problems), pytrace=False)


@pytest.mark.parametrize("name", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md"])
def test_every_link_leads_somewhere(name: str) -> None:
    assert list(dead_links_of(ROOT / name)) == []


def test_every_page_is_in_the_list_of_pages() -> None:
    linked = {match["target"] for match in LINK.finditer((ROOT / "docs/index.md").read_text(encoding="utf-8"))}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - linked == {"index.md"}


def test_every_module_that_the_architecture_names_exists() -> None:
    text = without_blocks((ROOT / "docs/architecture.md").read_text(encoding="utf-8").replace("`", "\0"))
    named = re.findall(r"\0([\w/]+(?:\.py|/))\0", text)
    known = [
        f"/{path.relative_to(ROOT)}" for folder in ("src", "tests", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    assert len(named) > 3
    assert [name for name in named if not any(f"/{name}" in one for one in known)] == []


def test_hardly_any_example_is_left_out() -> None:
    left_out = [
        f"{name}, line {block.line}"
        for name in PAGES
        for block in blocks_of((ROOT / name).read_text(encoding="utf-8"))
        if block.no_run
    ]
    assert len(left_out) <= NO_RUN_ALLOWED, left_out


# What follows tests the runner itself.


def check(folder: Folder, page: str) -> list[str]:
    return list(problems_of(page, folder))


GREET = """
```python
# file: pack/greet.py
def greet(name): return f"Hello {name}"
```
"""


TRUTH = """
```python
from pack.greet import greet
print(greet("Ada"))
```
It prints

```text
Hello Ada
```

```console
$ python -c 'from pack.greet import greet; \\
print(greet(1))'
Hello 1
$ ls
pack
$ ls pack
greet.py
$ false; echo "exit $?"
exit 1
$ true
```

~~~toml
# file: a.toml
x = 1
~~~

- in a list

  ```console
  $ tail -n 1 a.toml
  x = 1
  ```
"""

SURROUNDINGS = """
```console
$ test -t 0 -o -t 1 -o -t 2; echo "exit $?"
exit 1
$ (: < /dev/tty) 2> /dev/null || echo none
none
$ ls -A "$HOME"
$ echo "$TOOLROLL_HOME$NO_COLOR $COLUMNS"
1 80
```
"""


def test_a_page_that_says_the_truth_has_no_problems(folder: Folder) -> None:
    assert check(folder, GREET + TRUTH) == []


def test_programs_have_no_terminal_no_settings_and_an_empty_home(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", "/somewhere")
    assert check(folder, SURROUNDINGS) == []


def test_other_output_is_shown_as_a_difference(folder: Folder) -> None:
    [problem] = check(folder, "\n```python\nprint('one')\nprint('two')\n```\n```text\none\n2\n```\n")
    assert problem.startswith("line 3: prints something else\n--- on the page\n+++ really\n")
    assert problem.endswith("\n one\n-2\n+two")


def test_all_problems_of_a_page_come_at_once(folder: Folder) -> None:
    page = "```console\n$ echo a\nb\n$ exit 3\n```\n\n```python\nraise KeyError('x')\n```\n"
    first, second, third = check(folder, page)
    assert first.startswith("line 2: prints something else")
    assert second.startswith("line 4: exit code 3, and the page does not say so")
    assert "line 8" in third
    assert "KeyError: 'x'" in third
    assert 'example.py", line 8' in third


@pytest.mark.parametrize(
    ("shown", "real", "expected"),
    [
        ("a\n", "a\n\n", True),
        ("", "", True),
        ("", "a\n", False),
        ("a\n", "", False),
        ("a\n...\nb\n", "a\nb\n", True),
        ("a\n...\nb\n", "a\n1\n2\nb\n", True),
        ("a\n...\n", "a\n1\n", True),
        ("...\n", "", True),
        ("...\nb\n", "a\n", False),
        ("a\n", "a \n", False),
        ("a.c\n", "abc\n", False),
        ("a ...\n", "a b\n", False),
        ("a\n\nb\n", "a\nb\n", False),
    ],
)
def test_only_a_line_of_three_dots_stands_for_others(shown: str, real: str, expected: bool) -> None:
    assert same(shown, real) is expected


def test_no_run_leaves_out_and_nothing_else_does(folder: Folder) -> None:
    assert check(folder, "```python no-run\nraise SystemExit(1)\n```\n") == []
    assert len(check(folder, "```python\nraise SystemExit(1)\n```\n")) == 1


@pytest.mark.parametrize("info", ["py", "Python", "pycon", "python norun", "python3", "text no-run", "python no-run x"])
def test_a_word_that_would_leave_a_block_out_silently_is_refused(info: str) -> None:
    with pytest.raises(PageError, match=f"line 2.*{info}"):
        list(blocks_of(f"\n```{info}\nraise SystemExit(1)\n```\n"))


def test_a_block_that_is_never_closed_is_refused() -> None:
    with pytest.raises(PageError, match="line 2: this block is never closed"):
        list(blocks_of("\n````text\n```\n"))


def test_a_console_block_without_a_command_is_refused(folder: Folder) -> None:
    with pytest.raises(PageError, match="line 2: a console block begins with"):
        check(folder, "```console\nls\n```\n")


def test_a_program_that_hangs_is_ended(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SECONDS_A_BLOCK", 0.2)
    [problem] = check(folder, "```console\n$ sleep 60; true\n```\n")
    assert "still running after 0.2 s" in problem


LINKS = """
# One page

[here](#one-page), [there](other.md#what-is-it-really), [twice](other.md#twice-1), [a folder](pages/), [web](https://x.y/z)
![a [picture] over
two lines](missing.svg) and [none](other.md#nothing) and [gone](gone.md), `[code](nowhere.md)`

```text
[no](link.md)
```
"""


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "other.md").write_text("# What *is* it, `really`?\n\n## Twice\n\n## Twice\n")
    (tmp_path / "page.md").write_text(LINKS)
    assert list(dead_links_of(tmp_path / "page.md")) == [
        "line 5: missing.svg is not there",
        "line 6: other.md#nothing: the page has no such heading",
        "line 6: gone.md is not there",
    ]
