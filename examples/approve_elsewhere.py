"""Approve, change or reject a call from another process: the run waits in its journal, not in memory."""

import asyncio
import sys

from choose_model import choose_model

from toolroll import Agent, Approve, Reject, ScriptedModel, SqliteJournal, tool
from toolroll.agent.approvals import AskLater
from toolroll.models import Call

ANSWERS: dict[str, Approve | Reject] = {"yes": Approve(), "half": Approve(arguments={"euros": 20}), "no": Reject("No.")}


@tool(effect="external")
def pay(euros: int) -> str:
    """Pay an amount."""
    print(f"Paid {euros} euros.")
    return "paid"


model = choose_model(ScriptedModel(["That is settled."] if sys.argv[1:] else [Call("pay", {"euros": 40})]))
agent = Agent(model=model, tools=[pay], approver=AskLater(), journal=SqliteJournal("runs.db"))

if __name__ == "__main__":
    if sys.argv[1:2] == ["answer"]:
        run_id, call_id, word = sys.argv[2:5]
        print(asyncio.run(agent.resume(run_id, decisions={call_id: ANSWERS[word]})).text)
    else:
        result = agent.run_sync("Pay the bill of 40 euros.")
        print(result.run_id, result.pending[0].call_id)
