"""What a chat is made of, without a terminal: exporting, conversations, and who may chat."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from toolroll import MemoryJournal
from toolroll.agent.agent import Agent
from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.result import Out, RunResult
from toolroll.apps.run_log import recorded_settings
from toolroll.cli.chat.conversation import ChatInfo, Conversation
from toolroll.cli.chat.export import export_chat, render_chat
from toolroll.cli.chat.input import check_terminal
from toolroll.cli.chat.mentions import Attachment, OutgoingMessage
from toolroll.cli.driver import RunDriver
from toolroll.cli.session import Session
from toolroll.errors import FileExists, FileMissing, ModelError, RequestRefused, UsageError
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    ImagePart,
    Origin,
    TextBlock,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.models.scripted import ScriptedModel

ORIGIN = Origin(wire="chat", model="scripted")
KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6
MESSAGES = (
    UserMessage.of((TextPart(text="Look\x1b[2J"), ImagePart(data=b"x", media_type="image/png"))),
    AssistantMessage(
        blocks=(
            TextBlock(text="I look."),
            CallBlock(call=ToolCall(id="1", name="read_file", arguments='{"path":"a"}')),
        ),
        origin=ORIGIN,
    ),
    ToolResults(results=(ToolMessage(call_id="1", name="read_file", content="no", is_error=True),)),
    AssistantMessage(blocks=(TextBlock(text=f"The key is {KEY}."),), origin=ORIGIN),
)
MARKDOWN = """\
# Chat

## You

Look‹U+001B›[2J[image]

## Answer

I look.

- `read_file` {"path":"a"}

- result of `read_file`: failed

## Answer

The key is KEY.
"""


class Watcher(RunDriver):
    """A driver that shows nothing, and keeps the runs it follows."""

    def __init__(self) -> None:
        super().__init__(Session(json=True))
        self.runs: list[LiveRun[Any]] = []

    @property
    def listener(self) -> Listener:
        return lambda _event: None

    async def follow(self, run: LiveRun[Out]) -> RunResult[Out]:
        self.runs.append(run)
        return await super().follow(run)


def about(conversation: Conversation) -> ChatInfo:
    """A chat that stands at this."""
    return ChatInfo(name="code", model="scripted", list_tools=lambda: (), conversation=conversation)


def test_S1_a_chat_is_written_with_nothing_that_a_terminal_obeys() -> None:
    assert render_chat(MESSAGES, title="Chat").replace(KEY, "KEY") == MARKDOWN


async def test_S1_a_chat_is_written_once_and_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conversation = Conversation()
    with closing(SqliteJournal(tmp_path / "runs.db")) as journal:
        with pytest.raises(UsageError, match="Nothing was said yet"):
            await export_chat(about(conversation), "", journal)
        conversation.begin(MESSAGES, [], frozenset())
        assert (await export_chat(about(conversation), "talk.html", journal)).read_text().startswith("# toolroll code")
        conversation.begin(MESSAGES, ["0123456789abcdef"], frozenset())
        path = await export_chat(about(conversation), "", journal)
        assert (path.name, KEY in path.read_text(), path.stat().st_mode & 0o777) == ("chat-01234567.md", False, 0o600)
        with pytest.raises(FileExists):
            await export_chat(about(conversation), "chat-01234567.md", journal)


async def test_S1_the_words_behind_export_are_those_of_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conversation = Conversation()
    conversation.begin(MESSAGES, ["0123456789abcdef"], frozenset())
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "my talk.md").write_text("mine")
    here = replace(about(conversation), workspace=cast("Any", SimpleNamespace(root=project)))
    with closing(SqliteJournal(tmp_path / "runs.db")) as journal:
        for given, told in (
            ("talk.txt", r"'talk.txt' has an unknown ending. Name a file that ends in .md, .html or .jsonl."),
            ("talk", "unknown ending"),
            ("my talk.md", 'Name one file, in quotation marks if there are blanks in it: /export "my talk.md"'),
            ("'my talk.md", "A quotation mark is not closed"),
        ):
            with pytest.raises(UsageError, match=told):
                await export_chat(here, given, journal)
        with pytest.raises(FileExists, match="add --force"):
            await export_chat(here, "'my talk.md'", journal)
        with pytest.raises(FileMissing, match=r"^There is no folder '.*nowhere'. Make it first, or name another one.$"):
            await export_chat(here, "nowhere/a.md", journal)
        assert (await export_chat(here, r"--force my\ talk.md", journal)).read_text().startswith("# toolroll code")
        assert await export_chat(here, "", journal) == project / "chat-01234567.md"
        assert await export_chat(here, "project/../above.md", journal) == tmp_path.resolve() / "above.md"


async def test_S1_a_chat_is_written_as_a_page_with_all_that_was_said(tmp_path: Path) -> None:
    conversation = Conversation()
    with closing(SqliteJournal(tmp_path / "runs.db")) as journal:
        agent = Agent(model=ScriptedModel(["Перша.", "Друга."]), journal=journal)
        for text in ("Раз", "Два"):
            await conversation.say(agent, OutgoingMessage(text=text), Watcher())
        page = (await export_chat(about(conversation), str(tmp_path / "chat.html"), journal)).read_text()
        lines = (await export_chat(about(conversation), str(tmp_path / "chat.jsonl"), journal)).read_text().splitlines()
    assert page.startswith("<!doctype html>")
    assert all(word in page for word in ("Раз", "Перша.", "Два", "Друга."))
    assert len([line for line in lines if '"said"' in line]) == 3


async def test_S1_the_conversation_goes_on_from_what_is_complete() -> None:
    conversation = Conversation()
    watcher = Watcher()
    refused = RequestRefused("no")
    model = ScriptedModel([refused, "One.", "Two."])
    journal = MemoryJournal()
    agent = Agent[None](model=model, journal=journal)
    with pytest.raises(ModelError):
        await conversation.say(agent, OutgoingMessage(text="first"), watcher)
    assert (conversation.messages, len(conversation.run_ids)) == ((), 1)
    folder = Attachment(path="src", text="src/")
    file = Attachment(path="a.py", text="1\tx", hash="h", lines=1, seen=((0, 1),))
    await conversation.say(agent, OutgoingMessage(text="second", files=(folder, file)), watcher)
    await conversation.say(agent, OutgoingMessage(text="third"), watcher)
    assert [len(messages) for messages in model.requests] == [1, 1, 3]
    kept = watcher.runs[-1].run
    assert kept is not None
    seen = cast("dict[str, object]", kept.state["code.seen:a.py"])
    assert (seen["hash"], kept.labels) == ("h", frozenset({"private", "untrusted"}))
    assert {recorded_settings(await journal.read(run_id))["chat"] for run_id in conversation.run_ids} == {
        conversation.run_ids[0]
    }


@pytest.mark.parametrize(("session", "told"), [(Session(), "no terminal to chat at"), (Session(json=True), "--json")])
def test_S1_XA8_nobody_chats_without_a_terminal(session: Session, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    with pytest.raises(UsageError, match=told):
        check_terminal(session, what="PROMPT")
