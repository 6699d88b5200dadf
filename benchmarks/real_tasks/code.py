"""Coding tasks: find, read, change. What a file must hold is checked by running it where that says more."""

import ast
from collections.abc import Callable
from typing import Any

from benchmarks.real_tasks.projects import KETTLE, SHELF
from benchmarks.real_tasks.task import Outcome, Task, only, says


def runs(check: Callable[[dict[str, Any]], bool]) -> Callable[[str, str], bool]:
    """Return a check of a Python file: it must run, and its names must do what is wanted."""

    def judge(_before: str, after: str) -> bool:
        names: dict[str, Any] = {}
        try:
            exec(compile(after, "after.py", "exec"), names)
            return check(names)
        except Exception:
            return False

    return judge


def swapped(old: str, new: str) -> Callable[[str, str], bool]:
    """Return a check that one text took the place of another, and nothing else changed."""
    return lambda before, after: after.strip() == before.replace(old, new).strip()


def _has_docstring(_before: str, after: str) -> bool:
    try:
        found = [one for one in ast.parse(after).body if isinstance(one, ast.FunctionDef) and one.name == "load_books"]
    except SyntaxError:
        return False
    return bool(found) and ast.get_docstring(found[0]) == "Read all books from a file."


def _names_files(outcome: Outcome) -> str:
    names = ("isbn.py", "store.py", "report.py", "cli.py")
    return says(*names)(outcome)


def _rejects_short(names: dict[str, Any]) -> bool:
    is_valid = names["is_valid"]
    return bool(is_valid("978-0-306-40615-7")) and not is_valid("97") and not is_valid("978-0-306-40615-7-7")


def _keeps_lines(before: str, after: str, added: str) -> bool:
    return added in after and all(line in after for line in before.splitlines())


CODE = (
    Task(
        name="find a function",
        kind="code",
        half="first",
        prompt="In which file, and in which line, is the function check_digit defined?",
        judge=says("shelf/isbn.py", "9"),
        files=SHELF,
    ),
    Task(
        name="find a caller",
        kind="code",
        half="first",
        prompt="Which file calls load_books?",
        judge=says("cli.py"),
        files=SHELF,
    ),
    Task(
        name="change a number",
        kind="code",
        half="first",
        prompt="Change PAGE_SIZE in shelf/report.py from 20 to 50.",
        judge=only("shelf/report.py", swapped("PAGE_SIZE = 20", "PAGE_SIZE = 50")),
        files=SHELF,
    ),
    Task(
        name="check a length",
        kind="code",
        half="first",
        prompt="In shelf/isbn.py, is_valid must return False unless the number has exactly 13 digits. Change that.",
        judge=only("shelf/isbn.py", runs(_rejects_short)),
        files=SHELF,
    ),
    Task(
        name="create a page",
        kind="code",
        half="first",
        prompt="Create the file CHANGELOG.md. It shall have one line: # Changelog",
        judge=only("CHANGELOG.md", lambda _, after: after.strip() == "# Changelog"),
        files=SHELF,
    ),
    Task(
        name="add a comment",
        kind="code",
        half="first",
        prompt="Put the comment `// Times are in seconds.` on top of src/timer.js.",
        judge=only(
            "src/timer.js",
            lambda before, after: after.startswith("// Times are in seconds.") and _keeps_lines(before, after, "//"),
        ),
        files=KETTLE,
    ),
    Task(
        name="rename a function",
        kind="code",
        half="first",
        prompt="In src/format.js rename the function pad to padZero, everywhere in that file.",
        judge=only("src/format.js", swapped("pad(", "padZero(")),
        files=KETTLE,
    ),
    Task(
        name="add a function",
        kind="code",
        half="first",
        prompt="Add a function count_books(books) to shelf/store.py. It returns how many books there are.",
        judge=only(
            "shelf/store.py",
            lambda before, after: (
                _keeps_lines(before, after, "def count_books")
                and runs(lambda names: names["count_books"]([1, 2]) == 2)(before, after)
            ),
        ),
        files=SHELF,
    ),
    Task(
        name="read a setting",
        kind="code",
        half="first",
        prompt="What is the timeout in settings.toml?",
        judge=says("45"),
        files=SHELF,
    ),
    Task(
        name="list a folder",
        kind="code",
        half="first",
        prompt="Which Python files are in the folder shelf?",
        judge=_names_files,
        files=SHELF,
    ),
    Task(
        name="find a function in JavaScript",
        kind="code",
        half="second",
        prompt="In which file, and in which line, is the function formatTime defined?",
        judge=says("src/format.js", "5"),
        files=KETTLE,
    ),
    Task(
        name="find an import",
        kind="code",
        half="second",
        prompt="Which file imports the module report?",
        judge=says("cli.py"),
        files=SHELF,
    ),
    Task(
        name="change a number in JavaScript",
        kind="code",
        half="second",
        prompt="In src/timer.js, set MAX_MINUTES to 90.",
        judge=only("src/timer.js", swapped("MAX_MINUTES = 60", "MAX_MINUTES = 90")),
        files=KETTLE,
    ),
    Task(
        name="guard a division",
        kind="code",
        half="second",
        prompt="In shelf/report.py, average fails for an empty list. It must return 0 then.",
        judge=only("shelf/report.py", runs(lambda names: names["average"]([]) == 0 and names["average"]([2, 4]) == 3)),
        files=SHELF,
    ),
    Task(
        name="create a module",
        kind="code",
        half="second",
        prompt='Create the file shelf/version.py with the line VERSION = "1.2.0".',
        judge=only("shelf/version.py", runs(lambda names: names["VERSION"] == "1.2.0")),
        files=SHELF,
    ),
    Task(
        name="add a docstring",
        kind="code",
        half="second",
        prompt='Give the function load_books in shelf/store.py the docstring "Read all books from a file."',
        judge=only("shelf/store.py", _has_docstring),
        files=SHELF,
    ),
    Task(
        name="remove a line",
        kind="code",
        half="second",
        prompt="Remove the line that prints debug from shelf/cli.py.",
        judge=only("shelf/cli.py", swapped('    print("debug", len(books))\n', "")),
        files=SHELF,
    ),
    Task(
        name="correct a word",
        kind="code",
        half="second",
        prompt="In README.md the word recieve is spelled wrong. Correct it to receive.",
        judge=only("README.md", swapped("recieve", "receive")),
        files=SHELF,
    ),
    Task(
        name="read a licence",
        kind="code",
        half="second",
        prompt="Which license does package.json name?",
        judge=says("Apache-2.0"),
        files=KETTLE,
    ),
    Task(
        name="read a constant",
        kind="code",
        half="second",
        prompt="For how many days may a book be kept? Look into shelf/store.py.",
        judge=says("21"),
        files=SHELF,
    ),
)
