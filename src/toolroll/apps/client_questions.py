"""Questions about calls of MCP clients that are too long for a form: they are answered through the run log.

The server puts a question on record and lets go of the run; whoever answers holds it for that moment. The answer is
bound to what was shown: if a file changed meanwhile, the server asks again or refuses.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import time
from typing import Final

from toolroll.apps.jobs import open_questions
from toolroll.apps.run_log import recorded_settings
from toolroll.errors import DecisionRefused, UsageError
from toolroll.journal.journal import Journal
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, RunBegan

CLIENT_KIND: Final = "mcp"
"""The kind of a run whose calls are those of an MCP client."""
MAX_AGE_SECONDS: Final = 86_400
"""Of a run that has a question: a server that was killed leaves questions that nobody waits for."""
HOLD_ATTEMPTS: Final = 40
HOLD_SECONDS: Final = 0.05
"""Between attempts to hold the run: the server holds it while it records other calls of the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientQuestion:
    """A call that a client wants to make, and a person has to see first."""

    run_id: str
    client: str
    asked: ApprovalQuestion


async def list_questions(journal: Journal) -> Sequence[ClientQuestion]:
    """Return the questions that wait for an answer, the latest client first."""
    found: list[ClientQuestion] = []
    now = time()
    for row in await journal.runs():
        if row.last_kind == "finished" or now - row.updated > MAX_AGE_SECONDS:
            continue
        recording = await journal.read(row.run_id)
        if recorded_settings(recording).get("kind") == CLIENT_KIND:
            client = next(record.model for _, record in recording if isinstance(record, RunBegan))
            asked = open_questions(recording).values()
            found += (ClientQuestion(run_id=row.run_id, client=client, asked=one) for one in asked)
    return found


async def find_question(journal: Journal, given: str) -> ClientQuestion:
    """Return the question about a call, by its id or the beginning of it."""
    found = [one for one in await list_questions(journal) if one.asked.call_id.startswith(given)]
    if len(found) > 1:
        raise UsageError(f"{len(found)} calls begin with {given[:64]!r}. Write more of the id.")
    if not found:
        raise DecisionRefused(f"No client asks about the call {given[:64]!r} now. See 'toolroll mcp questions'.")
    return found[0]


async def answer_question(
    journal: Journal, question: ClientQuestion, *, is_yes: bool, reason: str | None = None
) -> None:
    """Record a person's answer, bound to what was shown; of several answers the first counts."""
    for _ in range(HOLD_ATTEMPTS):
        if await journal.acquire(question.run_id):
            break
        await asyncio.sleep(HOLD_SECONDS)
    else:
        raise DecisionRefused("The client shows this question itself. Answer it there.")
    call_id = question.asked.call_id
    try:
        asked = open_questions(await journal.read(question.run_id)).get(call_id)
        if asked is None or asked.digest != question.asked.digest:
            raise DecisionRefused("What this is about has changed, or was answered. See 'toolroll mcp questions'.")
        decision = ApprovalAnswer(
            call_id=call_id, digest=asked.digest, decision="approve" if is_yes else "reject", reason=reason
        )
        await journal.append(question.run_id, decision)
    finally:
        await journal.release(question.run_id)
