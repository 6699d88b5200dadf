"""A run told on a terminal while it goes: finished things stay above, what still changes is in a few lines below."""

import time
from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final, Literal

from rich.text import Text

from toolroll.agent.events import (
    ArgumentsArrived,
    CallFinished,
    CallStarted,
    Event,
    ReasoningArrived,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    WaitingForModel,
)
from toolroll.agent.result import RunResult
from toolroll.cli.render.live.blocks import Block, Blocks
from toolroll.cli.render.live.lines import (
    RunningCall,
    Status,
    format_finished,
    format_progress,
    format_queued,
    format_running,
    format_todos,
    format_written,
)
from toolroll.cli.render.live.markdown import Flow
from toolroll.cli.render.live.region import Region
from toolroll.cli.render.plain import PlainRenderer, describe_wait
from toolroll.cli.session import Session
from toolroll.cli.terminal.message_queue import QUEUE, QueueReader
from toolroll.errors import ToolrollError
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, Progress, StateChanged
from toolroll.safe.text import one_line, terminal_safe

DRAW_EVERY_S: Final = 0.05
"""Twenty times a second: more is not seen, and each drawing costs a millisecond and more."""

REST: Final = 4
"""After a drawing comes a rest so many times as long: a long list or table that grows takes a fifth of the time."""

TICK_S: Final = 0.1
"""How late a change of the size, or the last piece before a pause, is drawn."""

_KEYBOARD_FD: Final = 0

SPIN_AFTER_S: Final = 0.5
"""How long nothing else moves before the spinner does."""

STOP_HINT: Final = "Ctrl-C stops"
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MAX_THOUGHT_CHARACTERS: Final = 300
_MAX_REASON_CHARACTERS: Final = 100
_MIN_PREVIEW_LINES: Final = 3
_TODOS: Final = "todos"


class LiveRenderer(PlainRenderer):
    """Streamed Markdown, calls as they happen, todos, and a line of figures at the bottom."""

    def __init__(
        self,
        session: Session,
        *,
        environment: Mapping[str, str],
        model: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(session)
        # In a chat, what is typed meanwhile is the next message; else it is for the shell.
        self._queue = QUEUE if session.is_chat else None
        typing = None if self._queue is None else QueueReader(self._queue, _KEYBOARD_FD)
        self._region = Region(session.out, environment=environment, typing=typing)
        self._clock = clock
        self._status = Status(model)
        self._blocks, self._flow = Blocks(), Flow(self._region.console)
        self._thought = ""
        self._writing: dict[str, tuple[str, int]] = {}
        self._running: dict[str, RunningCall] = {}
        self._other: Progress | None = None
        self._wait: tuple[float, WaitingForModel] | None = None
        self._retry: tuple[float, Retrying] | None = None
        self._asked: set[str] = set()
        self._is_asking = False
        self._todos: list[Text] = []
        self._preview: tuple[tuple[str, int], list[Text]] = (("", 0), [])
        self._next_s = float("-inf")
        self._timer: TimerHandle | None = None
        self._is_running = False
        self._moved_s = 0.0
        self._above: Literal["nothing", "text", "lines"] = "nothing"

    def on_event(self, event: Event, /) -> None:
        """Tell of one event."""
        with self._region.lock:  # tools in threads report, too
            self._note(event)
            self._refresh()

    def finish(self, result: RunResult[object], error: ToolrollError | None = None, /) -> int:
        """Show the answer, if it was not shown yet, and how the run ended."""
        self._stop()
        try:
            return super().finish(result, error)
        finally:
            self._region.clear()

    def close(self) -> None:
        """Show all that came, and take the rest away."""
        self._stop()
        self._end_line()
        self._region.clear()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to others inside; what is shown meanwhile is written at once."""
        with self._region.hidden():
            yield

    def _note(self, event: Event) -> None:
        self._wait = self._retry = None
        self._moved_s = self._clock()
        match event:
            case RunStarted(model=model):
                self._status.model = model or self._status.model
                self._begin_run()
            case RunFinished():
                self._end_line()
                self._stop()
            case StepStarted(number=number):
                self._begin_step(number)
            case StepFinished(step=step):
                self._end_line()
                self._status.count(step)
            case ApprovalRequested() | ApprovalDecided():
                self._note_approval(event)
            case _:
                self._note_doing(event)

    def _note_doing(self, event: Event) -> None:
        match event:
            case WaitingForModel(waited_s=waited_s):
                self._wait = self._clock() - waited_s, event
            case Retrying(wait_s=wait_s):  # the answer begins again
                self._end_line()
                self._written.clear()
                self._writing.clear()
                self._retry = self._clock() + wait_s, event
            case ReasoningArrived(text=text):
                self._thought = (self._thought + text)[-_MAX_THOUGHT_CHARACTERS:]
            case ArgumentsArrived(call_id=call_id, name=name, text=text):
                self._thought = ""
                self._writing[call_id] = (name, self._writing.get(call_id, ("", 0))[1] + len(text))
            case CallStarted(call=call):
                self._end_line()
                self._writing.pop(call.id, None)
                self._running[call.id] = RunningCall(call=call, since_s=self._clock())
            case CallFinished(call=call):
                self._end_line()
                self._running.pop(call.id, None)
                self._commit(format_finished(event, self._region.size[0], is_verbose=self._session.verbose))
            case Progress():
                self._note_progress(event)
            case StateChanged(name=name, value=value):
                self._note_state(name, value)
            case _:
                super().on_event(event)

    def _begin_run(self) -> None:
        self._stop()
        self._is_running = True
        self._tick()

    def _begin_step(self, number: int) -> None:
        self._status.number = number
        self._begin_text()
        self._writing.clear()
        self._running.clear()
        self._other = None
        self._release()

    def _note_approval(self, event: ApprovalRequested | ApprovalDecided) -> None:
        """From the question on until every one is answered the terminal belongs to who asks."""
        self._end_line()
        if isinstance(event, ApprovalDecided):
            self._asked.discard(event.request.call_id)
            if not self._asked:
                self._release()
            return
        if not self._asked and not self._is_asking:
            self._is_asking = True
            self._region.hide()
            if self._queue is not None:
                self._queue.set_aside()  # it may have been meant as an answer to this
        self._asked.add(event.request.call_id)

    def _release(self) -> None:
        self._asked.clear()
        if self._is_asking:
            self._is_asking = False
            self._region.unhide()

    def _note_progress(self, progress: Progress) -> None:
        running = self._running.get(progress.call_id)
        if running is None:
            self._other = progress
        else:
            running.progress = progress

    def _note_state(self, name: str, value: object) -> None:
        lines = format_todos(value) if name == _TODOS else []
        if lines and lines != self._todos:
            self._todos = lines
            self._end_line()
            self._commit(*lines)

    def _write(self, text: str) -> None:
        self._thought = ""
        self._written.append(text)
        self._put_text(self._blocks.feed(text))

    def _put_text(self, blocks: list[Block]) -> None:
        lines = self._flow.lines(blocks, self._region.size[0])
        if lines:
            self._region.write(lines)
            self._above = "text"

    def _end_line(self) -> None:
        """The text is over: all of it goes where it stays, and the next one begins anew."""
        self._thought = ""
        self._put_text(self._blocks.close())
        self._flow = Flow(self._region.console, is_first=self._above == "nothing")

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._end_line()
        self._commit(Text(terminal_safe(text), style="red" if is_error else "dim"))
        if not self._is_running:
            self._region.draw()

    def _commit(self, *lines: Text) -> None:
        wrapped = [part for line in lines for part in line.wrap(self._region.console, self._region.size[0])]
        for part in wrapped:
            part.rstrip()
        self._region.write([Text(), *wrapped] if self._above == "text" else wrapped)
        self._above = "lines"
        self._flow = Flow(self._region.console, is_first=False)

    def _stop(self) -> None:
        self._is_running = False
        self._region.show([])
        if self._is_asking:  # the cursor stands behind a question that nobody has answered
            self._above = "text"
        self._release()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._region.clear()

    def _tick(self) -> None:
        """Draw what has changed without an event: the time, the size of the screen."""
        with self._region.lock:
            self._refresh()
        with suppress(RuntimeError):  # no event loop in this thread: what has changed is drawn with the next event
            self._timer = get_running_loop().call_later(TICK_S, self._tick)

    def _refresh(self) -> None:
        now = self._clock()
        if self._is_running and now < self._next_s:
            return
        if self._is_running:
            self._region.show(self._lines(now))
        self._region.draw()
        self._next_s = self._clock() + max(DRAW_EVERY_S, (self._clock() - now) * REST)

    def _lines(self, now_s: float) -> list[Text]:
        columns, rows = self._region.size
        below: list[Text] = []
        if self._thought:
            below.append(Text(f"thinking: {_last_line(self._thought, columns)}", style="dim italic"))
        below += [format_written(name, count) for name, count in self._writing.values()]
        below += format_running(list(self._running.values()), now_s)
        below += [format_progress(self._other)] if self._other else []
        if self._wait is not None:
            began_s, wait = self._wait
            told = describe_wait(replace(wait, waited_s=now_s - began_s))
            below.append(Text(f"{_spinner(now_s)} {told} · {STOP_HINT}", style="dim"))
        elif self._retry is not None:
            below.append(
                Text(f"{_spinner(now_s)} {_describe_retry(*self._retry, now_s)} · {STOP_HINT}", style="yellow")
            )
        elif not below and now_s - self._moved_s >= SPIN_AFTER_S:
            below.append(Text(f"{_spinner(now_s)} {now_s - self._moved_s:.0f} s · {STOP_HINT}", style="dim"))
        below.append(self._status.line())
        below += [] if self._queue is None else format_queued(self._queue)
        room = max(rows - len(below) - 2, _MIN_PREVIEW_LINES)
        return [*self._preview_lines(columns - 1)[-room:], *below]  # a line as wide as the screen would be cut

    def _preview_lines(self, columns: int) -> list[Text]:
        growing = self._blocks.growing
        known, lines = self._preview
        if known != (growing.text, columns):
            lines = self._flow.peek(growing, columns) if growing.text.strip() else []
            self._preview = (growing.text, columns), lines
        return lines


def _describe_retry(until_s: float, event: Retrying, now_s: float) -> str:
    """A countdown; when it is over, the model is asked."""
    left_s = until_s - now_s
    reason, attempt = one_line(event.reason, _MAX_REASON_CHARACTERS), event.attempt + 1
    return f"{reason} Trying again {f'in {left_s:.0f} s' if left_s > 0 else 'now'} (attempt {attempt})"


def _spinner(now_s: float) -> str:
    return _FRAMES[int(now_s / TICK_S) % len(_FRAMES)]


def _last_line(thought: str, columns: int) -> str:
    """The end of a thought, as much of it as fits; the newest words are those that tell something."""
    shown = one_line(" ".join(thought.split()), _MAX_THOUGHT_CHARACTERS)
    room = max(columns - len("thinking: ") - 2, 1)
    return shown if len(shown) <= room else "…" + shown[-room:]
