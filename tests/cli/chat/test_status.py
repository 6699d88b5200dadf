"""The line below the prompt, and calls that can be read, at a terminal."""

import pytest
from tests.cli.chat.screen import CTRL_D, chat
from tests.support.project import Project

READ = {"calls": [{"name": "read_file", "arguments": {"path": "src/main.js"}}]}
SEEK = {"calls": [{"name": "search_files", "arguments": {"pattern": "TODO", "path": "src"}}]}
CODE = "So:\n\n```python\ndef tea():\n    return 1\n```\n"


@pytest.mark.parametrize("columns", [80, 40])
def test_S11_calls_are_told_in_words_and_the_prompt_has_a_status_line(project: Project, columns: int) -> None:
    model = project.script(READ, SEEK, {"text": CODE, "usage": {"input_tokens": 900, "output_tokens": 100}})
    with chat(project, "code", "--model", model, columns=columns, rows=40) as screen:
        screen.say("look", '· Search "TODO" in src (', "def tea():")
        screen.waits()
        assert "· Read src/main.js (" in screen.whole
        assert '"path"' not in screen.whole
        screen.waits_until(lambda: screen.display[screen.screen.cursor.y + 1].startswith("scripted:"), "a status line")
        assert screen.display[screen.screen.cursor.y + 2] == ""
        assert b"\x1b[35mdef" in screen.raw  # keywords have a colour
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "scripted:" not in screen.display[-1]


def test_S11_verbose_shows_arguments_as_they_are(project: Project) -> None:
    done = project.call("code", "look", "--verbose", "--model", project.script(READ, "Ok."))
    assert '· read_file {"path":"src/main.js"}' in done.stderr
    assert " bytes" in done.stderr
