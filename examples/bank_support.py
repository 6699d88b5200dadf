"""A bank's support agent: the customer comes with each request, and the answer is typed."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from choose_model import choose_model
from pydantic import BaseModel, Field

from toolroll import Agent, Depends, ScriptedModel, ToolContext, tool
from toolroll.models import Call


@dataclass
class Customer:
    """The customer who asks."""

    name: str
    cents: int


class Advice(BaseModel):
    """What the customer is told, and what is done."""

    text: str
    block_card: bool = False
    risk: Annotated[int, Field(ge=0, le=10)]
    topic: Literal["card", "money", "other"]


def customer(ctx: ToolContext) -> Customer:
    """Find the customer of this run."""
    found = ctx.deps["customer"]
    assert isinstance(found, Customer)
    return found


@tool(brings="private")
def balance(who: Annotated[Customer, Depends(customer)]) -> str:
    """Return the balance of the customer who asks."""
    return f"{who.name} has {who.cents / 100:.2f} euros."


script = ['{"text": "You have 123.45 euros.", "risk": 1, "topic": "money"}']
agent = Agent(
    model=choose_model(ScriptedModel([Call("balance"), *script])),
    tools=[balance],
    output=Advice,
    system="You support customers of a bank. Judge the risk of each question.",
)

if __name__ == "__main__":
    run = agent.run("How much do I have?", deps={"customer": Customer("Ada", 12345)})
    print(asyncio.run(run).output)
