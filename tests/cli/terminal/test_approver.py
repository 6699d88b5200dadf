"""The approver at a real terminal: every key, and what a yes needs."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.programs import environment, toolroll
from tests.support.terminal import TOOLS, Pseudo

BEFORE = "".join(f"line {number} of the file\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 2 of", "line two of").replace("line 28 of", "line twenty-eight of")
QUESTION = "Allow this? "

Start = Callable[..., Pseudo]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "space"
    place.mkdir()
    (place / "notes.txt").write_text(BEFORE)
    return place


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def start(
    folder: Path,
    home: Path,
    text: str = AFTER,
    *,
    tool: str = "save",
    path: str = "notes.txt",
    columns: int = 80,
    rows: int = 60,
    more: tuple[str, ...] = (),
    **env: str,
) -> Pseudo:
    """`toolroll call save` at a terminal on which all of it fits, unless told otherwise."""
    arguments = json.dumps({"path": path, "text": text})
    command = toolroll("call", tool, arguments, "--from", str(TOOLS), *more)
    return Pseudo(command, env=environment(home, **env), cwd=folder, columns=columns, rows=rows)


def content(folder: Path) -> str:
    return (folder / "notes.txt").read_bytes().decode()


def test_S5_the_request_is_shown_and_yes_does_exactly_that(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        assert "\n".join(terminal.display).startswith(
            "save wants to write\n"
            "why   Save a text in a file.\n"
            'path  "notes.txt"\n'
            "text  the whole text after the change below\n"
            "\n"
            "notes.txt  +2 -2\n"
            "@@ -1,5 +1,5 @@\n"
            " 1   line 1 of the file\n"
            " 2 - line 2 of the file\n"
            " 2 + line two of the file\n"
        )
        assert "y yes · n no · e edit · h hunks · ! always · ? help" in terminal.display
        assert content(folder) == BEFORE, "nothing is done before the answer"
        terminal.press("y")
        assert terminal.end() == (0, "saved notes.txt\n")
    assert content(folder) == AFTER


def test_S5_changed_words_are_marked_in_colour(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        row = terminal.display.index(" 2 + line two of the file")
        marked = [cell.data for _, cell in sorted(terminal.screen.buffer[row].items()) if cell.reverse]
        assert "".join(marked) == "two"
        assert terminal.screen.buffer[row][5].fg == "green"
        assert terminal.screen.buffer[row - 1][5].fg == "red"


def test_S5_without_colour_the_words_are_still_marked(folder: Path, home: Path) -> None:
    """S7: NO_COLOR is minded; what is left is not colour."""
    with start(folder, home, NO_COLOR="1") as terminal:
        terminal.wait_for(QUESTION)
        row = terminal.display.index(" 2 + line two of the file")
        cells = terminal.screen.buffer[row]
        assert "".join(cell.data for _, cell in sorted(cells.items()) if cell.reverse) == "two"
        assert {cell.fg for cell in cells.values()} == {"default"}


def test_S5_no_asks_why_and_the_model_reads_it(folder: Path, home: Path) -> None:
    with start(folder, home, more=("--json",)) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("n", "Why not?")
        terminal.press("keep the old one, будь ласка")
        code, out = terminal.end()
    assert code == 1
    text = "User rejected changes: keep the old one, будь ласка"
    assert json.loads(out) == {"tool": "save", "is_error": True, "content": text, "output_ref": None}
    assert content(folder) == BEFORE


def test_S5_no_without_a_reason(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("NO", "Why not?")
        terminal.press("")
        assert terminal.end() == (1, "User rejected changes\n")


def test_S5_closing_the_input_is_a_no(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.send(b"y\x04\x04")  # not sent off with Enter
        assert terminal.end() == (1, "User rejected changes\n")
    assert content(folder) == BEFORE


def test_S5_S2_control_c_is_a_no_and_stops(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.send(b"\x03")
        assert terminal.end() == (130, "")
        assert "Interrupted." in terminal.text
        assert "Traceback" not in terminal.text
    assert content(folder) == BEFORE


def test_S5_help_explains_the_keys_and_a_wrong_key_says_so(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("?", QUESTION)
        assert "h  go through the changes one by one, and take only some" in terminal.display
        terminal.press("x", "That is no key here. Type one of y n e h ! or ?, then Enter.", QUESTION)
        terminal.press("a", "There is only this one.", QUESTION)
        terminal.press("", "Type one of y n e h ! or ?, then Enter.", QUESTION)
        terminal.press("v", "Type one of y n e h ! or ?, then Enter.", QUESTION)
        terminal.press("b", QUESTION)
        terminal.press("yes")
        assert terminal.end()[0] == 0


def test_S5_a_tool_without_a_diff_offers_fewer_keys(folder: Path, home: Path) -> None:
    command = toolroll("call", "send", '{"to": "ada", "reason": "To say hello."}', "--from", str(TOOLS))
    with Pseudo(command, env=environment(home), cwd=folder) as terminal:
        terminal.wait_for(QUESTION)
        assert terminal.display[:6] == [
            "send wants to act outside",
            "why   To say hello.",
            'to    "ada"',
            "also  reason the same as why",
            "",
            "y yes · n no · ? help",
        ]
        terminal.press("e", "cannot be edited", QUESTION)
        terminal.press("h", "no diff", QUESTION)
        terminal.press("!", "names no path", QUESTION)
        terminal.press("y")
        assert terminal.end() == (0, '{"sent":true,"to":"ada"}\n')


EDITOR = "sed -i -e s/two/TWO/ -e '$a added by hand'"


def test_S5_K42_an_edit_is_shown_again_and_then_applied(folder: Path, home: Path) -> None:
    with start(folder, home, EDITOR=EDITOR) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("e", "Use your text?")
        shown = terminal.text[terminal.text.index("With your text") :]
        assert " 2 + line TWO of the file\n" in shown, "against what is in the file, not against the proposal"
        assert "31 + added by hand\n" in shown
        terminal.press("y")
        assert terminal.end() == (0, "saved notes.txt\n")
    assert content(folder) == AFTER.replace("two", "TWO") + "added by hand\n"


def test_S5_K42_an_empty_text_is_an_edit_too(folder: Path, home: Path) -> None:
    with start(folder, home, VISUAL="truncate -s 0", EDITOR="false") as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("e", "Use your text?")
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert content(folder) == ""


def test_S5_an_edit_can_go_on_or_be_dropped(folder: Path, home: Path) -> None:
    with start(folder, home, EDITOR='sed -i "1s/$/!/"') as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("e", "Use your text?")
        terminal.press("e", "+ line 1 of the file!!\n", "Use your text?")
        terminal.press("n", "Your text was dropped.", QUESTION)
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert content(folder) == AFTER


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        ("'unbalanced", "A quotation mark is not closed in EDITOR or VISUAL: 'unbalanced"),
        ("true", "You changed nothing."),
        ("false", "The editor 'false' ended with an error (1)."),
        ("no-such-editor-anywhere", "could not be started: No such file or directory. Check EDITOR."),
        ("rm", "What the editor left behind is not a text file."),
        ('sh -c \'printf "\\377" > "$0"\'', "What the editor left behind is not a text file."),
    ],
)
def test_S5_an_editor_that_fails_changes_nothing(folder: Path, home: Path, editor: str, told: str) -> None:
    with start(folder, home, EDITOR=editor) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("e", QUESTION)
        assert told in terminal.text.replace("\n   ", " ")
        terminal.press("n", "Why not?")
        terminal.send(b"\x04")
        assert terminal.end() == (1, "User rejected changes\n")


def stopped_and_continued(terminal: Pseudo) -> None:
    """As Ctrl-Z and `fg` do it; a terminal without a shell has nobody who would go on after Ctrl-Z."""
    terminal.send(b"")
    os.kill(terminal.process.pid, signal.SIGSTOP)
    status = Path(f"/proc/{terminal.process.pid}/stat")
    while status.read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    os.kill(terminal.process.pid, signal.SIGCONT)


def test_S5_after_a_stop_the_question_is_asked_again(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        stopped_and_continued(terminal)
        terminal.wait_for("+ line two of the file")
        terminal.wait_for("y yes · n no")
        terminal.wait_for(QUESTION)
        terminal.press("n", "Why not?")
        stopped_and_continued(terminal)
        terminal.wait_for("Why not?")
        terminal.send(b"\r")
        assert terminal.end() == (1, "User rejected changes\n")


def test_S5_after_a_stop_on_the_first_page_it_is_shown_again_and_no_more(folder: Path, home: Path) -> None:
    with start(folder, home, LONG, rows=24) as terminal:
        terminal.wait_for("Enter more")
        stopped_and_continued(terminal)
        terminal.wait_for("Enter more")
        assert QUESTION not in terminal.text
        terminal.press("y", "lines are still unseen")


def test_XF9_the_edited_file_is_private_and_gone_afterwards(folder: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    note = tmp_path / "note"
    editor = f'sh -c \'stat -c "%a %n" "$0" "$(dirname "$0")" > {note}; echo x >> "$0"\''
    with start(folder, home, EDITOR=editor, TMPDIR=str(tmp_path / "temporary")) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("e", "Use your text?")
        file, place = note.read_text().splitlines()
        assert (file.split()[0], place.split()[0]) == ("600", "700")
        assert file.endswith(".txt")
        assert not list((tmp_path / "temporary").iterdir())


def test_S5_hunks_are_taken_or_left_one_by_one(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("h", "Take this change?")
        assert "notes.txt, change 1 of 2" in terminal.display
        terminal.press("maybe", "Type y, n, f, s, q or ?, then Enter.", "Take this change?")
        terminal.press("n", "change 2 of 2", "Take this change?")
        terminal.press("y", "1 of 2 changes taken.")
        assert terminal.end() == (0, "saved notes.txt\n")
    assert content(folder) == BEFORE.replace("line 28 of", "line twenty-eight of")


def test_S5_taking_all_hunks_is_a_yes_and_none_is_no_answer(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("h", "Take this change?")
        terminal.press("n", "Take this change?")
        terminal.press("n", "To take none of them, say n.", QUESTION)
        terminal.press("h", "Take this change?")
        terminal.press("q", QUESTION)
        terminal.press("h", "Take this change?")
        terminal.send(b"\x04", QUESTION)
        terminal.press("h", "Take this change?")
        terminal.press("y", "Take this change?")
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert content(folder) == AFTER


def test_S5_hunks_keep_odd_bytes_exactly(folder: Path, home: Path) -> None:
    """Byte for byte: CR, a missing last newline, form feeds and separators outside of the hunk."""
    before = "a\r\nb\x0c\n" + "\u2028 c\n" * 20 + "last"
    (folder / "notes.txt").write_bytes(before.encode())
    with start(folder, home, text=before.replace("a\r", "A\r").replace("last", "LAST")) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("h", "Take this change?")
        terminal.press("y", "Take this change?")
        terminal.press("n")
        assert terminal.end()[0] == 0
    assert content(folder) == before.replace("a\r", "A\r")


def test_S5_K43_always_is_narrow_confirmed_and_remembered_outside(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("!", "On which paths? [notes.txt] ")
        terminal.press("**", "it fits everything", QUESTION)
        terminal.press("!", "On which paths?")
        terminal.press("other/*.txt", "it does not match what is asked for here.", QUESTION)
        terminal.press("!", "On which paths?")
        terminal.press("", "Always allow this?")
        assert "save on notes.txt" in terminal.display
        terminal.press("hm", "Type y, r or n, then Enter.", "Always allow this?")
        terminal.press("y", "Remembered in", "toolroll policy forget NUMBER.")
        assert terminal.end() == (0, "saved notes.txt\n")
    assert content(folder) == AFTER
    [rule] = json.loads((home / "config" / "rules.json").read_text())["rules"]
    assert (rule["tool"], rule["path"], rule["workspace"]) == ("save", "notes.txt", str(folder.resolve()))
    again = start(folder, home, text="unasked\n")
    with again as terminal:
        terminal.end()
        assert QUESTION not in terminal.text
    with start(folder, home, tool="save_unseen", text="x") as terminal:
        terminal.wait_for(QUESTION)  # another tool is asked about as before


MINE = """
from pathlib import Path
from toolroll import tool

@tool(effect="writes", paths=["path"])
def put(path: str) -> str:
    "Put it."
    Path(path).write_text("by {name}")
    return "{name}"
"""


def test_S5_K43_always_is_for_this_tool_and_not_for_another_of_its_name(folder: Path, home: Path) -> None:
    def put(source: str) -> Pseudo:
        command = toolroll("call", "put", '{"path": "list.txt"}', "--from", source)
        return Pseudo(command, env=environment(home), cwd=folder)

    for name in ("mine", "other"):
        (folder / f"{name}.py").write_text(MINE.replace("{name}", name))
    with put("mine.py") as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("!", "On which paths? [list.txt] ")
        terminal.press("", "Always allow this?")
        assert "as it is defined now)" in terminal.text
        terminal.press("y")
        assert terminal.end()[1] == "mine\n"
    for same in ("mine.py", "./mine.py", str(folder / "mine.py"), "mine"):
        with put(same) as terminal:
            assert terminal.end() == (0, "mine\n"), "unasked, however it is named"
    with put("other.py") as terminal:
        terminal.wait_for(QUESTION)
    (folder / "mine.py").write_text(MINE.replace("Put it.", "Put it somewhere else."))
    with put("mine.py") as terminal:
        terminal.wait_for(QUESTION)
    assert (folder / "list.txt").read_text() == "by mine"


def test_S5_K43_what_was_remembered_without_its_code_is_ignored_and_told(folder: Path, home: Path) -> None:
    old = {"action": "allow", "tool": "save", "path": "notes.txt", "added": "2026-03-01T12:30:00Z"}
    for count, told in (
        (1, "Note: 1 remembered approval does not say which code"),
        (2, "Note: 2 remembered approvals do not say which code"),
    ):
        (home / "config").mkdir(parents=True, mode=0o700, exist_ok=True)
        rules = [old | {"workspace": str(folder.resolve())}] * count
        (home / "config" / "rules.json").write_text(json.dumps({"version": 1, "rules": rules}))
        (home / "config" / "rules.json").chmod(0o600)
        with start(folder, home) as terminal:
            terminal.wait_for(QUESTION)
            assert told in terminal.text


def test_S5_always_can_be_backed_out_of(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("!", "On which paths?")
        terminal.send(b"\x04", QUESTION)
        terminal.press("!", "On which paths?")
        terminal.press("*.txt", "Always allow this?")
        terminal.press("n", QUESTION)
        terminal.press("n", "Why not?")
        terminal.press("")
        assert terminal.end()[0] == 1
    assert not (home / "config" / "rules.json").exists()


def test_S5_K43_always_is_not_offered_when_the_rules_cannot_be_read(folder: Path, home: Path) -> None:
    (home / "config").mkdir(parents=True, mode=0o700)
    (home / "config" / "rules.json").write_text("{broken")
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        assert "Warning: The remembered approvals in" in terminal.text
        assert "! always" not in terminal.text
        terminal.press("!", "Nothing can be remembered here")
    assert (home / "config" / "rules.json").read_text() == "{broken"


def test_S5_K43_always_is_not_offered_for_a_tool_that_asks_each_time(folder: Path, home: Path) -> None:
    asking = folder.with_name("asking.py")
    asking.write_text(
        f"import sys\nsys.path.insert(0, {str(TOOLS.parent)!r})\n"
        "from sample_tools import save\n"
        "from toolroll.kernel.define.wrappers import renamed, with_approval\n"
        "put = with_approval(renamed(save, 'put'))\n"
    )
    command = toolroll("call", "put", '{"path": "notes.txt", "text": "new"}', "--from", str(asking))
    with Pseudo(command, env=environment(home), cwd=folder, rows=60) as terminal:
        terminal.wait_for(QUESTION)
        assert "! always" not in terminal.text
        terminal.press("!", "Nothing can be remembered here", "the tool asks each time")


def test_S5_what_cannot_be_remembered_is_told(folder: Path, home: Path) -> None:
    with start(folder, home) as terminal:
        terminal.wait_for(QUESTION)
        (home / "config").mkdir(parents=True, mode=0o700)
        (home / "config" / "rules.json").write_text("{broken")
        terminal.press("!", "On which paths?")
        terminal.press("", "Always allow this?")
        terminal.press("y", QUESTION)
        assert "cannot be used" in terminal.text
        terminal.send(b"\x04")
        assert terminal.end()[0] == 1
    assert content(folder) == BEFORE


LONG = "".join(f"new line {number}\n" for number in range(1, 101))


def test_XA6_a_yes_before_the_last_page_is_refused(folder: Path, home: Path) -> None:
    with start(folder, home, LONG, rows=24) as terminal:
        terminal.wait_for("n no: ")
        assert "lines 1-21 of 137 · Enter more · v all the rest · b back · n no:" in terminal.display
        for key in ("y", "e", "h", "!"):
            terminal.press(key, "116 lines are still unseen.", "n no: ")
        assert content(folder) == BEFORE
        terminal.press("?", "v      all that is left, at once", "A yes can be said after the last page.")
        assert "do exactly this" not in terminal.text, "only keys that work here"
        terminal.press("", "lines 22-42 of 137")
        terminal.press("b", "lines 1-21 of 137")
        terminal.press("y", "95 lines are still unseen.")
        for place in (42, 63, 84, 105, 126):
            terminal.press("", f"-{place} of 137")
        terminal.press("", QUESTION)
        assert "100 + new line 100" in terminal.display
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert content(folder) == LONG


def test_XA6_a_no_needs_no_full_view_and_all_the_rest_can_be_had_at_once(folder: Path, home: Path) -> None:
    with start(folder, home, LONG, rows=24) as terminal:
        terminal.wait_for("n no: ")
        terminal.press("v", QUESTION)
        for number in range(1, 101):
            assert f"{number:>3} + new line {number}\n" in terminal.text
        terminal.send(b"\x04")
        assert terminal.end()[0] == 1
    with start(folder, home, LONG, rows=24) as terminal:
        terminal.wait_for("n no: ")
        terminal.press("n", "Why not?")
        terminal.press("too long")
        assert terminal.end() == (1, "User rejected changes: too long\n")


def test_XA6_an_edit_and_a_hunk_need_a_full_view_too(folder: Path, home: Path) -> None:
    """Turning back before the last page leads to the question again, not to a yes."""
    with start(folder, home, LONG, rows=24, EDITOR="sed -i 1d") as terminal:
        terminal.wait_for("n no: ")
        terminal.press("v", QUESTION)
        terminal.press("e", "lines 1-21 of 133", "n no: ")
        terminal.press("n", QUESTION)
        terminal.press("h", "lines 1-21 of", "n no: ")
        terminal.press("n", QUESTION)
        terminal.send(b"\x04")
        assert terminal.end() == (1, "User rejected changes\n")
    assert content(folder) == BEFORE


def test_XA6_keys_typed_before_the_question_do_not_answer_it(folder: Path, home: Path) -> None:
    """A paste or an impatient Enter must not approve what nobody has seen yet."""
    with start(folder, home) as terminal:
        terminal.send(b"y\r")  # long before Python has even started
        terminal.wait_for(QUESTION)
        assert content(folder) == BEFORE
        terminal.press("n", "Why not?")
        terminal.press("")
        assert terminal.end()[0] == 1
    assert content(folder) == BEFORE


def test_XA6_a_hostile_file_cannot_draw_on_the_screen(folder: Path, home: Path) -> None:
    evil = (
        "good\x1b[2J\x1b[H\nAllow this? y\r\x1b]52;c;ZXZpbA==\x07\n\x9b2J\u202eevil\u200b\n" + "x" + " " * 2_000 + "y\n"
    )
    with start(folder, home, evil) as terminal:
        terminal.wait_for("? help\n\x1b[?2004h" + QUESTION)
        raw = terminal.raw.decode()
        for power in ("\x1b[2J", "\x1b]52", "\x07", "\x9b", "\u202e", "\u200b"):
            assert power not in raw
        assert "1 + good‹U+001B›[2J‹U+001B›[H\n" in terminal.text
        assert "2 + Allow this? y‹U+000D›‹U+001B›]52;c;ZXZpbA==‹U+0007›\n" in terminal.text
        assert "4 + x‹2000 spaces›y\n" in terminal.text
        assert "9 characters that would not be seen are spelled out" in terminal.text
        assert terminal.display[0] == "save wants to write"


def test_S5_at_40_columns_everything_is_folded_and_nothing_cut(folder: Path, home: Path) -> None:
    text = BEFORE.replace("line 2 of the file", "line 2 of the file, which is much longer now and goes on")
    with start(folder, home, text, columns=40, rows=24) as terminal:
        terminal.wait_for(QUESTION)
        shown = terminal.display
        assert "2 + line 2 of the file, which is much lo" in shown
        assert "  ┊ nger now and goes on" in shown
        assert "y yes · n no · e edit · h hunks · !" in shown
        assert all(len(line) <= 40 for line in shown)
        terminal.press("y")
        assert terminal.end()[0] == 0


def test_S5_ukrainian_text_and_wide_letters_keep_their_columns(folder: Path, home: Path) -> None:
    with start(folder, home, BEFORE.replace("line 2 of", "漢字漢字漢字漢字 і ще слова про"), columns=40) as terminal:
        terminal.wait_for(QUESTION)
        folded = terminal.text[terminal.text.index("2 + 漢") :].split("\n")[:2]
        assert folded[1].startswith("  ┊ ")
        assert folded[0][4:] + folded[1][4:] == "漢字漢字漢字漢字 і ще слова про the file"


BATCH = """
import asyncio, json, os, sys
from pathlib import Path
from toolroll.cli.terminal.approver import TerminalApprover
from toolroll.cli.terminal.terminal import open_terminal
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.define.tool import Toolset
from toolroll.packs.catalog import load_tools

async def main():
    terminal = open_terminal(os.environ)
    run = Run(approver=TerminalApprover(terminal, environment=os.environ))
    given = [(name, json.dumps({"path": name, "text": text})) for name, text in json.loads(sys.argv[2])]
    calls = [ToolCall(id=name, name="save", arguments=arguments) for name, arguments in given]
    results = await execute_step(Toolset(load_tools(sys.argv[1])), calls, run)
    print(json.dumps([result.text for result in results]))

asyncio.run(main())
"""


def batch(folder: Path, home: Path, *files: tuple[str, str], rows: int = 60) -> Pseudo:
    command = [sys.executable, "-c", BATCH, str(TOOLS), json.dumps(files)]
    return Pseudo(command, env=environment(home), cwd=folder, rows=rows)


def test_S5_K41_all_of_a_batch_are_shown_before_one_yes_to_all(folder: Path, home: Path) -> None:
    with batch(folder, home, ("a", "1\n"), ("b", "2\n"), ("c", "3\n")) as terminal:
        terminal.wait_for(QUESTION)
        assert "save wants to write (1 of 3)" in terminal.display
        assert "a all 3" in terminal.text
        terminal.press("n", "Why not?")
        terminal.press("", "(2 of 3)", QUESTION)
        terminal.press("a", "Yes to all 2? [y/n] ")
        assert "save wants to write (3 of 3)" in terminal.display
        assert "1 + 3" in terminal.display
        terminal.press("y")
        code, out = terminal.end()
    assert (code, json.loads(out)) == (0, ["User rejected changes", "saved b", "saved c"])
    assert sorted(file.name for file in folder.iterdir()) == ["b", "c", "notes.txt"]


def test_S5_a_no_to_all_asks_one_by_one_again(folder: Path, home: Path) -> None:
    with batch(folder, home, ("a", "1\n"), ("b", "2\n")) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("a", "Yes to all 2?")
        terminal.press("n", "(1 of 2)", QUESTION)
        terminal.press("y", "(2 of 2)", QUESTION)
        terminal.send(b"\x04")
        assert json.loads(terminal.end()[1]) == ["saved a", "User rejected changes"]


def test_XA6_all_needs_a_full_view_of_the_others_too(folder: Path, home: Path) -> None:
    with batch(folder, home, ("a", "1\n"), ("b", LONG), rows=24) as terminal:
        terminal.wait_for(QUESTION)
        terminal.press("a", "lines 1-21 of 107")
        terminal.press("y", "Press Enter for the next page, or n to go back.")
        terminal.press("?", "b      the page before", "n no: ")
        terminal.press("n", "(1 of 2)", QUESTION)
        terminal.press("a", "lines 1-21 of 107")
        terminal.press("", "lines 22-42 of 107")
        terminal.press("b", "lines 1-21 of 107")
        terminal.press("v", "Yes to all 2?")
        terminal.press("y")
        assert json.loads(terminal.end()[1]) == ["saved a", "saved b"]


@pytest.mark.skipif(not os.path.exists("/dev/tty") and not sys.platform.startswith("linux"), reason="no /dev/tty")
def test_S3_XA8_with_arguments_on_stdin_the_person_is_asked_at_the_terminal(folder: Path, home: Path) -> None:
    read, write = os.pipe()
    os.write(write, json.dumps({"path": "notes.txt", "text": AFTER}).encode())
    os.close(write)
    command = toolroll("call", "save", "-", "--from", str(TOOLS))
    with Pseudo(command, env=environment(home), cwd=folder, rows=60, stdin=read) as terminal:
        os.close(read)
        terminal.wait_for(QUESTION)
        terminal.press("y")
        assert terminal.end() == (0, "saved notes.txt\n")
    assert content(folder) == AFTER


@pytest.mark.parametrize("value", ["true", "1"])
def test_XA8_a_machine_is_not_asked_even_at_a_terminal(folder: Path, home: Path, value: str) -> None:
    with start(folder, home, CI=value) as terminal:
        code, out = terminal.end()
    assert code == 3
    assert "nobody could be asked" in out
    assert content(folder) == BEFORE


def test_XA8_a_piped_yes_is_no_answer(folder: Path, home: Path) -> None:
    """`yes | toolroll call ...`, with a terminal behind stderr."""
    read, write = os.pipe()
    os.write(write, b"y\n" * 100)
    os.close(write)
    command = toolroll("call", "save", json.dumps({"path": "notes.txt", "text": AFTER}), "--from", str(TOOLS))
    with Pseudo(command, env=environment(home), cwd=folder, stdin=read) as terminal:
        os.close(read)
        assert terminal.end()[0] == 3
    assert content(folder) == BEFORE
