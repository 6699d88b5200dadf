"""Approve or reject a call from another process: the run waits in its journal, not in memory."""

import asyncio
import sys

from choose_model import choose_model

from toolroll import Agent, Approve, Reject, ScriptedModel, SqliteJournal, tool
from toolroll.agent.approvals import AskLater
from toolroll.models import Call
from toolroll.models.model import ModelRequest


@tool(effect="external")
def pay(euros: int) -> str:
    """Pay an amount."""
    return f"Paid {euros} euros."


def script(request: ModelRequest) -> str | Call:
    """Call the tool once."""
    return Call("pay", {"euros": 40}) if len(request.messages) == 1 else "That is settled."


journal = SqliteJournal("runs.db")
agent = Agent(model=choose_model(ScriptedModel(script)), tools=[pay], approver=AskLater(), journal=journal)

if __name__ == "__main__":
    if sys.argv[1:2] == ["answer"]:
        answer = Approve() if sys.argv[4] == "yes" else Reject("Too much.")
        print(asyncio.run(agent.resume(sys.argv[2], decisions={sys.argv[3]: answer})).text)
    else:
        result = agent.run_sync("Pay the bill of 40 euros.")
        print(result.run_id, result.pending[0].call_id)
