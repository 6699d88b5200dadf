"""A run as far as it can be compared with another: what was asked of it, what its calls came to, how it ended."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from toolroll.journal.records import ApprovalQuestion, CallEnded, MessageAdded, ModelTurn, Record, RunBegan, RunEnded
from toolroll.kernel.data.messages import TextPart, UserMessage

NOTHING: Final = "(nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where a run is not what was recorded; `call` is the id of the call that it is about, if any."""

    step: int
    what: str
    recorded: object
    now: object
    call: str | None = None

    def __str__(self) -> str:
        where = f"step {self.step}" + (f", call {self.call}" if self.call else "")
        return f"{where}, {self.what}: recorded {self.recorded!r}, now {self.now!r}"


@dataclass(slots=True, kw_only=True)
class Outline:
    """One step: its calls with what came of them, what was asked, what the agent said, and the end, if it was one."""

    answered: ModelTurn | None = None
    ended: dict[str, CallEnded] = field(default_factory=dict)
    asked: dict[str, ApprovalQuestion] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    finished: list[RunEnded] = field(default_factory=list)


def outline(records: Iterable[Record]) -> list[Outline]:
    """Return the steps of a run; the first one stands for all that was before the model was first asked."""
    steps = [Outline()]
    for record in records:
        step = steps[-1]
        match record:
            case ModelTurn():
                steps.append(Outline(answered=record))
            case CallEnded():
                step.ended[record.result.call_id] = record
            case ApprovalQuestion():
                step.asked.setdefault(record.call_id, record)  # what is asked again after a crash is another question
            case MessageAdded() if record.about is not None:
                step.said.append(_text(record))
            case RunEnded():
                step.finished.append(record)
            case _:
                continue
    return steps


def compare_steps(
    recorded: list[Outline], now: list[Outline], *, is_cut: bool = False, not_run: Container[str] = ()
) -> Iterator[Difference]:
    """Yield where the second differs; the calls in `not_run` were answered from the record, and are the same by that.

    What follows the last step of a run that was cut off was never written, so there is nothing to compare it with.
    """
    for number, (before, after) in enumerate(zip_longest(recorded, now)):
        if before is None or after is None:
            yield Difference(
                step=number,
                what="model call",
                recorded=NOTHING if before is None else "made",
                now=NOTHING if after is None else "made",
            )
            return
        yield from _compare_calls(number, before, after, not_run)
        if before.said != after.said and not (is_cut and number == len(recorded) - 1):
            yield Difference(step=number, what="said to the model", recorded=before.said, now=after.said)


def compare_tools(began: RunBegan, system: str, tools: dict[str, str]) -> Iterator[Difference]:
    """Yield what the model was told then, and would be told now."""
    if began.system != system:
        yield Difference(step=0, what="system prompt", recorded=began.system, now=system)
    for name in [*began.tools, *(name for name in tools if name not in began.tools)]:
        if began.tools.get(name) != tools.get(name):
            recorded = "there" if name in began.tools else NOTHING
            now = NOTHING if name not in tools else "defined differently" if name in began.tools else "there"
            yield Difference(step=0, what=f"tool {name}", recorded=recorded, now=now)


def _compare_calls(step: int, before: Outline, after: Outline, not_run: Container[str]) -> Iterator[Difference]:
    for call_id, ended in before.ended.items():
        if call_id in not_run:
            continue
        other = after.ended.get(call_id)
        if other is None:
            yield Difference(step=step, call=call_id, what="result", recorded=ended.result.content, now=NOTHING)
            continue
        pairs = {
            "result": (ended.result.content, other.result.content),
            "is_error": (ended.result.is_error, other.result.is_error),
            "code": (ended.code, other.code),
        }
        for what, (recorded, now) in pairs.items():
            if recorded != now:
                yield Difference(step=step, call=call_id, what=what, recorded=recorded, now=now)
    for call_id in [*before.asked, *(one for one in after.asked if one not in before.asked)]:
        if call_id not in not_run:
            yield from _compare_question(step, call_id, before.asked.get(call_id), after.asked.get(call_id))


def _compare_question(
    step: int, call_id: str, before: ApprovalQuestion | None, after: ApprovalQuestion | None
) -> Iterator[Difference]:
    if before is None or after is None or before.digest != after.digest:
        recorded, now = (NOTHING if one is None else one.preview for one in (before, after))
        if recorded == now:
            recorded, now = "this digest", "another one"  # the tool, its arguments or its reason changed
        yield Difference(step=step, call=call_id, what="question", recorded=recorded, now=now)


def _text(record: MessageAdded) -> str:
    message = record.message
    parts = message.content if isinstance(message, UserMessage) else ()
    return "".join(part.text for part in parts if isinstance(part, TextPart))
