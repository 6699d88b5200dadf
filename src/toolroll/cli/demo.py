"""`toolroll demo`: one tool, from its definition to a change that is refused, approved, and caught being stale.

Everything is real (the validation, the diff, the binding of a yes to what was shown, the file), but for two sides that
are written down here: what a model would call, and what a person would answer.
"""

import asyncio
import inspect
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from toolroll.cli import sample
from toolroll.cli.draw import fold
from toolroll.cli.rows import request_rows
from toolroll.cli.session import DONE, Session, output_options
from toolroll.kernel.approval import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.context import Run
from toolroll.kernel.result import ToolResult

MAX_COLUMNS: Final = 88
"""Wider lines of text are hard to read; a terminal may be as wide as it likes."""

_INDENT: Final = 2
_START: Final = "2 x bread\n1 x milk\n1 x butter\n"
_INTRO: Final = (
    "No model, no key, no network. The calls that a model would make and the answers that you would give are "
    "written down in this demo; everything else is the real thing, in a temporary folder."
)
_SUMMARY: Final = "Four calls: one wrong, one refused, one made, one stopped because the file had changed."
_WRITTEN: Final = "   (written down in the demo)"
_LABEL_COLUMNS: Final = 13
_NEXT: Final = """\
toolroll tools list                        the tools that come along
toolroll tools show write_todos            what a model is told about one
toolroll call done '{"message": "Hello"}'  call one yourself
toolroll call NAME '{...}' --from FILE.py  call your own, and be asked"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One call: what is to be seen, what the model sends, what the person answers, what happens meanwhile."""

    title: str
    told: str
    call: dict[str, object]
    answer: Decision | None = None
    meanwhile: str | None = None


SCENES: Final = (
    Scene(
        title="A wrong call is answered so that a model can repair it",
        told="Too many, and a parameter that does not exist. Nothing ran; every fault is named.",
        call={"item": "tea", "amount": 500, "shop": "corner"},
    ),
    Scene(
        title="A change is shown before it is made: this one is refused",
        told="The tool says that it writes. So it asks, with a diff of what would really happen.",
        call={"item": "milk", "amount": 12},
        answer=Reject("two are enough"),
    ),
    Scene(
        title="This one is approved",
        told="The model has read why, and proposes less.",
        call={"item": "milk", "amount": 2},
        answer=Approve(),
    ),
    Scene(
        title="A yes counts for what was shown, and for nothing else",
        told="While you look at the diff, somebody else writes to the file. The yes comes too late.",
        call={"item": "tea", "amount": 1},
        answer=Approve(),
        meanwhile="6 x eggs\n",
    ),
)


@click.command()
@output_options
@click.pass_obj
def demo(session: Session) -> int:
    """See how a tool is described, called, checked, refused and approved.

    Needs no key and no network, asks nothing, and leaves nothing behind.
    """
    stage = Stage(None if session.json else Console(highlight=False, width=_columns()))
    steps = asyncio.run(_play(stage))
    if session.json:
        session.write_json({"steps": steps})
    return DONE


def _columns() -> int | None:
    width = Console().width
    return MAX_COLUMNS if width > MAX_COLUMNS else None


async def _play(stage: "Stage") -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory(prefix="toolroll-demo-") as place:
        folder = Path(place)
        (folder / str(sample.LIST)).write_text(_START)
        stage.open(folder)
        steps = [await _play_scene(stage, scene, folder, number) for number, scene in enumerate(SCENES, 3)]
    stage.close(folder)
    return steps


async def _play_scene(stage: "Stage", scene: Scene, folder: Path, number: int) -> dict[str, object]:
    arguments = json.dumps(scene.call)
    stage.begin(number, scene, arguments)
    script = _Script(stage, scene, folder)
    async with Run(deps={"folder": folder}, approver=script) as run:
        result = await sample.put_item.execute_raw(arguments, run.context())
    text = (folder / str(sample.LIST)).read_text()
    stage.end(result, text)
    return {
        "title": scene.title,
        "call": scene.call,
        "answer": None if scene.answer is None else type(scene.answer).__name__.lower(),
        "is_error": result.is_error,
        "content": result.text,
        "file": text,
    }


class _Script:
    """The person of this demo: looks, then gives the answer that is written down."""

    def __init__(self, stage: "Stage", scene: Scene, folder: Path) -> None:
        self._stage = stage
        self._scene = scene
        self._file = folder / str(sample.LIST)

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """The scene's answer."""
        answer = self._scene.answer or Reject()
        for request in requests:
            self._stage.ask(request, answer, self._scene.meanwhile)
        if self._scene.meanwhile:
            with self._file.open("a") as file:
                file.write(self._scene.meanwhile)
        return [answer for _ in requests]


class Stage:
    """Shows the play on a console; without one, nothing."""

    def __init__(self, console: Console | None) -> None:
        self._console = console

    def open(self, folder: Path) -> None:
        """The introduction: the tool as it is written, and as a model sees it."""
        self._title("toolroll demo")
        self._say(_INTRO)
        self._say(f"The folder: {folder}", "dim")
        self._title("1  A tool is a function with types")
        self._code(_source(), "python")
        self._say("\nThe folder is injected: a model is not told of it, and cannot name another one.")
        self._title("2  What a model is told about it")
        self._code(json.dumps(sample.put_item.parameters, indent=2), "json")

    def begin(self, number: int, scene: Scene, arguments: str) -> None:
        """The title of a scene, and the call."""
        self._title(f"{number}  {scene.title}")
        self._say(scene.told)
        self._line("model calls", f"{sample.put_item.name} {arguments}", "bold")

    def ask(self, request: ApprovalRequest, answer: Decision, meanwhile: str | None) -> None:
        """The question as a terminal shows it, and the answer that is written down for it."""
        if self._console is None:
            return
        self._say("")
        for line in fold(request_rows(request), self._console.width - 2 * _INDENT):
            self._put(line.drawn())
        self._say("")
        if meanwhile:
            self._line("meanwhile", f"somebody adds {meanwhile.strip()}", "yellow")
        self._line("Allow this?", "y" if isinstance(answer, Approve) else "n", "bold", _WRITTEN)
        if isinstance(answer, Reject) and answer.reason:
            self._line("Why not?", answer.reason, "bold", _WRITTEN)

    def end(self, result: ToolResult, text: str) -> None:
        """What the model reads, and what is in the file."""
        self._line("model reads", result.text, "red" if result.is_error else "green")
        self._line("in the file", ", ".join(text.splitlines()), "cyan")

    def close(self, folder: Path) -> None:
        """What is left: nothing."""
        self._title("That was it")
        left = "The folder is still there." if folder.exists() else "The folder and the list are gone again."
        self._say(f"{_SUMMARY} {left}")
        self._say("\nTry next:")
        self._say(_NEXT, "bold")

    def _title(self, title: str) -> None:
        if self._console is not None:
            width = self._console.width
            *lines, last = Text(title, style="bold").wrap(self._console, width)
            rule = "─" * max(width - len(last) - 1, 0)
            self._console.print(Text("\n").join([Text(), *lines, Text.assemble(last, (f" {rule}".rstrip(), "cyan"))]))

    def _say(self, text: str, style: str = "") -> None:
        self._put(Text(text, style=style))

    def _line(self, label: str, text: str, style: str, note: str = "") -> None:
        """A label, and beside it text that stays in its own column."""
        lines = [Text(line, style=style) for line in text.split("\n")]
        lines[-1] = Text.assemble(lines[-1], (note, "dim"))
        self._put(Text("\n").join(lines), label.ljust(_LABEL_COLUMNS))

    def _code(self, text: str, language: str) -> None:
        if self._console is not None:
            syntax = Syntax(text, language, theme="ansi_dark", background_color="default")
            drawn = syntax.highlight(text.rstrip())
            drawn.no_wrap, drawn.overflow = False, "fold"  # rich crops code at the width of the screen
            self._put(drawn)

    def _put(self, text: Text, label: str = "") -> None:
        if self._console is None:
            return
        text.rstrip()
        for line in text.wrap(self._console, self._console.width - 2 * _INDENT - len(label)) or [Text()]:
            line.rstrip()
            start = Text(" " * _INDENT + label, style="dim") if line or label else Text()
            self._console.print(Text.assemble(start, line), soft_wrap=True)
            label = " " * len(label)


def _source() -> str:
    """The tool's own source, as it runs here."""
    return inspect.getsource(sample.put_item.__wrapped__)  # type: ignore[attr-defined]  # what @tool decorated
