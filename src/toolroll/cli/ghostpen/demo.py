"""`ghostpen --demo`: a post from the request to the file, with a recorded model and a recorded person.

Everything else is real, in a folder that is deleted afterwards: the profile, the checks of drafts, the feedback, the
change of the profile, the file.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from toolroll.agent.events import CallFinished, Event, StepStarted
from toolroll.cli.ghostpen.person import draft_title
from toolroll.cli.ghostpen.render import JsonRenderer, outcome_fields
from toolroll.cli.render.prose import fit
from toolroll.cli.session import DONE, Session
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.kernel.call.context import utc_now
from toolroll.models.scripted import ScriptedModel
from toolroll.packs.writing.profiles.feedback import FeedbackStore, category_name
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import load_recording, sample_profile
from toolroll.packs.writing.session.agent import WritingContext
from toolroll.packs.writing.session.gate import TRACK
from toolroll.packs.writing.session.interface import Assignment, DraftView, Outcome, Question
from toolroll.packs.writing.session.session import WritingSession
from toolroll.packs.writing.session.tool_calls import describe_feedback_count
from toolroll.packs.writing.texts.messages import Key, Lang, choose_language, say
from toolroll.safe.text import terminal_safe

_NEXT = """\
  ghostpen init --sample
  ghostpen init --from my-posts.txt --model sonnet
  ghostpen 'post about our first year for LinkedIn' --model sonnet
  ghostpen profile show
  ghostpen --help"""


def play_demo(session: Session, *, lang: str | None) -> int:
    """Run the demo and return the exit code."""
    language = choose_language(lang, os.environ)
    lines = JsonRenderer(session) if session.json else None
    with tempfile.TemporaryDirectory(prefix="ghostpen-demo-") as folder:
        outcome = asyncio.run(_Demo(lines, Path(folder), language).run())
    if lines is not None:
        lines.write("run_finished", outcome_fields(outcome))
    return DONE


class _Demo:
    """The recorded person, who sees everything and gives the recorded answers.

    With `json` nothing is shown, and every event is written as for a real post.
    """

    def __init__(self, json: JsonRenderer | None, data: Path, lang: Lang) -> None:
        self._json = json
        self._data = data
        self._lang = lang
        self._script = load_recording(lang)
        self._answers: Iterator[str] = iter(self._script.answers)

    async def run(self) -> Outcome:
        """Write the post, from the profile to the file on the disk."""
        store = ProfileStore(self._data)
        store.create(sample_profile(self._lang), now=utc_now())
        self._title("ghostpen --demo")
        self.say(say("demo_intro", self._lang))
        self._show_profile(store)
        self._you(self._script.request)
        assignment = Assignment(request=self._script.request, platform="linkedin", style=load_style(store, "default"))
        place = WritingContext(data=self._data, lang=self._lang, approver=self)
        outcome = await WritingSession(
            assignment, ScriptedModel(self._script.turns), place, self, listener=self._on_event
        ).run()
        self._show_end(store, outcome)
        return outcome

    async def ask(self, question: Question) -> str | None:
        """Return the recorded answer to this question."""
        self._line("")
        is_yes_no = question.kind == "yes_no"
        self.say(say("yes_no", self._lang, question=question.text) if is_yes_no else question.text)
        answer = next(self._answers)
        self._you(answer)
        return answer

    def say(self, text: str) -> None:
        """Show a message of the program."""
        self._line(text)

    def show_draft(self, draft: DraftView) -> None:
        """Show a draft."""
        if self._json is not None:
            self._json.draft(draft)
        self._title(draft_title(draft, self._lang))
        self._line(draft.text, fg="cyan")

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Show each question with its preview, and give the recorded yes."""
        for request in requests:
            self._line("")
            self._line(request.preview.text, fg="yellow")
            key: Key = "ask_save" if request.tool == "save_to_file" else "ask_profile_change"
            self.say(say("yes_no", self._lang, question=say(key, self._lang)))
            self._you(say("answer_yes", self._lang))
        return [Approve() for _ in requests]

    def _on_event(self, event: Event) -> None:
        if self._json is not None:
            self._json.on_event(event)
        match event:
            case StepStarted(number=1):
                self._line(f"· {say('writing', self._lang, profile='default')}", dim=True)
            case CallFinished(call=call, result=result) if call.name == TRACK and (
                text := describe_feedback_count(result, self._lang)
            ):
                self._line(f"· {text}", dim=True)
            case _:
                return

    def _show_end(self, store: ProfileStore, outcome: Outcome) -> None:
        self._title(say("demo_gone", self._lang))
        self._line((self._data / "output" / "generated" / Path(str(outcome.file)).name).read_text(encoding="utf-8"))
        self._show_profile(store)
        entries = FeedbackStore(self._data).entries().items()
        counted = ", ".join(f"{category_name(name, self._lang)} ({entry.count})" for name, entry in entries)
        self._line(f"feedback-tracker.json: {counted}", dim=True)
        self._title(say("demo_next", self._lang))
        self._line(_NEXT, bold=True)

    def _show_profile(self, store: ProfileStore) -> None:
        profile = store.read("default").profile
        voice = profile.voice
        self.say(
            say(
                "demo_profile",
                self._lang,
                name=profile.profile_name,
                version=profile.version,
                tone=voice.tone,
                formality=voice.formality,
            )
        )

    def _you(self, text: str) -> None:
        played = say("demo_played", self._lang)
        said = fit(f"> {text}  {played}", sys.stdout).removesuffix(played)
        self._put(f"{click.style(said, bold=True)}{click.style(played, dim=True)}")

    def _title(self, text: str) -> None:
        self._put("")
        self._line(f"── {text}", fg="green", bold=True)

    def _line(self, text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> None:
        self._put(click.style(fit(terminal_safe(text), sys.stdout), fg=fg, bold=bold or None, dim=dim or None))

    def _put(self, text: str) -> None:
        if self._json is None:
            click.echo(text)
