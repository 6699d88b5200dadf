"""What `toolroll mcp questions`, `approve` and `reject` do: answer what a client cannot show in a form."""

import asyncio
import os
from contextlib import closing

from toolroll.apps.client_questions import ClientQuestion, answer_question, find_question, list_questions
from toolroll.apps.run_log import open_journal
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session

_SHORT = 8


def show_questions(session: Session) -> int:
    """Show all questions with what would happen; return the exit code."""
    with closing(open_journal(os.environ)) as journal:
        found = asyncio.run(list_questions(journal))
    if session.json:
        session.write_json({"questions": [_fields(one) for one in found]})
    elif not found:
        notify("No client waits for an answer here.")
    for one in () if session.json else found:
        short = one.asked.call_id[:_SHORT]
        session.show(f"{one.asked.tool}, for {one.client}. {one.asked.why}".rstrip())
        session.write(one.asked.preview)
        session.show(f"Answer with: toolroll mcp approve {short}, or: toolroll mcp reject {short}\n")
    return DONE


def approve_call(session: Session, call_id: str) -> int:
    """Approve a call; return the exit code."""
    return _answer(session, call_id, is_yes=True, why=None)


def reject_call(session: Session, call_id: str, *, why: str | None) -> int:
    """Reject a call; return the exit code."""
    return _answer(session, call_id, is_yes=False, why=why)


def _answer(session: Session, call_id: str, *, is_yes: bool, why: str | None) -> int:
    async def work() -> ClientQuestion:
        question = await find_question(journal, call_id)
        await answer_question(journal, question, is_yes=is_yes, reason=why)
        return question

    with closing(open_journal(os.environ)) as journal:
        question = asyncio.run(work())
    if session.json:
        session.write_json({"call": question.asked.call_id, "run": question.run_id, "approved": is_yes})
    else:
        said = "Approved" if is_yes else "Rejected"
        session.show(f"{said}: {question.asked.call_id[:_SHORT]}. Go on in the client ({question.client}).")
    return DONE


def _fields(one: ClientQuestion) -> dict[str, object]:
    asked = one.asked
    return {
        "call": asked.call_id,
        "run": one.run_id,
        "client": one.client,
        "tool": asked.tool,
        "why": asked.why,
        "preview": asked.preview,
    }
