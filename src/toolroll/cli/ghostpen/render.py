"""What a session shows while it runs: a line for what takes time, or every event as a line of JSON."""

from typing import Final

import click
from pydantic_core import to_jsonable_python

from toolroll.agent.cost import total_cost
from toolroll.agent.event_json import event_fields
from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    Event,
    Retrying,
    RunFinished,
    StepStarted,
    WaitingForModel,
    Warned,
)
from toolroll.agent.result import RunResult
from toolroll.cli.render.plain import shows_wait
from toolroll.cli.session import Session
from toolroll.kernel.data.usage import Usage
from toolroll.packs.writing.session.gate import TRACK
from toolroll.packs.writing.session.interface import DraftView, Outcome
from toolroll.packs.writing.session.tool_calls import describe_feedback_count, parse_object
from toolroll.packs.writing.texts.messages import DEFAULT, Lang, say, translate
from toolroll.packs.writing.tools.toolset import SEARCH
from toolroll.safe.text import one_line

MAX_LINE_CHARACTERS: Final = 160


class ProgressRenderer:
    """Writes a line to stderr for everything that a person waits for."""

    def __init__(self, profile_used: str, lang: Lang) -> None:
        self._profile_used = profile_used
        self._lang = lang

    def on_event(self, event: Event, /) -> None:
        """Show one event."""
        match event:
            case StepStarted(number=1):
                self._say(say("writing", self._lang, profile=self._profile_used))
            case CallStarted(call=call) if call.name == SEARCH:
                self._say(say("searching", self._lang, query=parse_object(call.arguments).get("query", "")))
            case CallFinished(call=call, result=result) if call.name == TRACK and (
                text := describe_feedback_count(result, self._lang)
            ):
                self._say(text)
            case WaitingForModel(characters=characters) if characters:
                if shows_wait(event):
                    self._say(say("model_writes", self._lang, characters=f"{characters:,}"))
            case WaitingForModel(waited_s=waited_s, limit_s=limit_s) if shows_wait(event):
                times = {"waited": f"{waited_s:.0f}", "limit": f"{limit_s:.0f}"}
                self._say(say("waiting_for_server" if event.is_starting else "waiting_for_model", self._lang, **times))
            case Warned(text=text):
                self._say(translate(text, self._lang), sign="!")
            case Retrying(reason=reason):
                is_english = self._lang == DEFAULT  # as the reason is
                self._say(reason if is_english else say("asked_again", self._lang, reason=reason), sign="!")
            case _:
                return

    def _say(self, text: str, *, sign: str = "·") -> None:
        click.echo(click.style(f"{sign} {one_line(text, MAX_LINE_CHARACTERS)}", dim=True), err=True)


class JsonRenderer:
    """Writes every event as one line of JSON with its index, and drafts among them; the last is `run_finished`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def on_event(self, event: Event, /) -> None:
        """Write one event; the ends of single runs are left out, because the post has one end."""
        if not isinstance(event, RunFinished):
            self.write(event.event, event_fields(event))

    def draft(self, draft: DraftView) -> None:
        """Write a draft that was checked."""
        fields = {"number": draft.number, "platform": draft.platform, "text": draft.text}
        self.write("draft", {**fields, "length": draft.length, "limit": draft.limit, "warnings": list(draft.notes)})

    def write(self, event: str, fields: dict[str, object]) -> None:
        """Write one line."""
        self._index += 1
        self._session.write_json({"index": self._index, "event": event, **fields})


def outcome_fields(outcome: Outcome) -> dict[str, object]:
    """Return the end of a post as JSON: how it ended, and what all its runs have used."""
    results = outcome.results
    last: RunResult[object] | None = results[-1] if results else None
    usage = sum((one.usage for one in results), Usage())
    return {
        "run_id": last.run_id if last else None,
        "text": outcome.draft,
        "stop_reason": last.stop_reason if last else None,
        "stop_detail": last.stop_detail if last else "",
        "steps": sum(len(one.steps) for one in results),
        "usage": usage_fields(usage),
        "cost": total_cost(one.cost for one in results),
        "pending": [],
        "outcome": outcome.end,
        "topic": outcome.topic,
        "rounds": outcome.rounds,
        "warnings": list(outcome.notes),
        "file": outcome.file,
        "notion_url": outcome.notion_url,
    }


def usage_fields(usage: Usage) -> object:
    """Return what was used as JSON."""
    return to_jsonable_python(usage)
