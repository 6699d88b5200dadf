"""Makes the pictures of the page: the real server, the sample project, a scripted model, and Chromium.

    python -m docs.pictures.page

What differs each time is how long the calls took.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect, sync_playwright

HERE: Final = Path(__file__).parent
SAMPLE: Final = HERE.parents[1] / "src" / "toolroll" / "packs" / "code"
WIDTH, HEIGHT = 1280, 860
_CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")
_FORMAT: Final = "src/services/format.js"
_ANSWER: Final = """## Where cups are written out

`formatCups` in `src/services/format.js` writes a number of cups. **Three files** import it:

| file | what it does with it |
|---|---|
| `src/components/App.jsx` | prints each debt |
| `src/services/ReminderService.js` | writes the reminders |
| `tests/format.test.js` | tests it |

```js
// one cup, two cups
export const formatCups = (cups) => `${cups} ${cups === 1 ? "cup" : "cups"}`;
```

Zero cups read "0 cups" today. Shall I write them as words?
"""


def _usage(sent: int, written: int) -> dict[str, int]:
    return {"input_tokens": sent, "output_tokens": written, "requests": 1}


def _todos(*states: str) -> dict[str, Any]:
    lines = ("Find where cups are written out", "See who depends on it", "Propose a change")
    todos = [{"content": line, "status": state} for line, state in zip(lines, states, strict=True)]
    return {"name": "write_todos", "arguments": {"todos": todos}}


def _script() -> list[dict[str, Any]]:
    after = (SAMPLE / "sample" / _FORMAT).read_text()
    after = after.replace(
        "export const formatCups = (cups) => `${cups}",
        'export const formatCups = (cups) =>\n  cups === 0 ? "no tea at all" : `${cups}',
    )
    edit = {
        "path": _FORMAT,
        "content": after,
        "description": "Write zero cups as words; one and more stay as they are.",
    }
    search = {"name": "search_files", "arguments": {"pattern": "formatCups"}}
    importers = {"name": "find_importers", "arguments": {"modulePath": _FORMAT}}
    return [
        {"calls": [_todos("in_progress", "pending", "pending")], "usage": _usage(2_310, 80)},
        {"calls": [search, importers], "usage": _usage(12_800, 60)},
        {"calls": [{"name": "read_file", "arguments": {"path": _FORMAT}}], "usage": _usage(13_900, 45)},
        {"calls": [_todos("completed", "completed", "pending")], "usage": _usage(14_400, 80)},
        {"text": _ANSWER, "usage": _usage(15_200, 310)},
        {"text": "I propose this.", "calls": [{"name": "edit_file", "arguments": edit}], "usage": _usage(16_400, 420)},
        {"text": "Done.", "usage": _usage(17_000, 20)},
    ]


def _start(page: Page, project: Path, script: Path) -> None:
    page.get_by_label("What should be found or changed?").fill("Where are cups written out, and who depends on it?")
    page.get_by_label("Folder").fill(str(project))
    page.get_by_label("Model").fill(f"scripted:{script}")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Shall I write them as words?")).to_be_visible()


def _take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    page.screenshot(path=HERE / f"page-{name}.png", animations="disabled")


def make_pictures(link: str, project: Path, script: Path) -> None:
    """Take the pictures of the page behind this link."""
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        page = context.new_page()
        page.goto(link)
        _start(page, project, script)
        expect(page.get_by_text("answered")).to_be_visible()
        _take(page, "chat")
        page.get_by_label("Your message").fill("Yes, please.")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
        expect(page.get_by_label("1 waiting")).to_be_visible()
        page.emulate_media(color_scheme="dark")
        _take(page, "approval")
        browser.close()


def main() -> None:
    """Start the server on a copy of the sample project, and take the pictures."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as name:
        place = Path(name)
        project, script = place / "tea-board", place / "sonnet"
        shutil.copytree(SAMPLE / "sample", project)
        script.write_text(json.dumps(_script()))
        environment = {**os.environ, "TOOLROLL_HOME": str(place / "home"), "TOOLROLL_MODEL": "sonnet"}
        program = Path(sys.executable).with_name("toolroll")
        command = [program, "serve", "--no-open", "--json", "--port", "0", "--root", project]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own
            assert server.stdout is not None
            try:
                make_pictures(json.loads(server.stdout.readline())["url"], project, script)
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
