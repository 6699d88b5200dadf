"""A list of typed records that is shown while the model still writes it."""

import asyncio

from choose_model import choose_model
from pydantic import BaseModel

from toolroll import Agent, ScriptedModel
from toolroll.agent.events import OutputArrived, RunFinished


class Whale(BaseModel):
    """A species of whales."""

    name: str
    meters: float


script = '[{"name": "blue whale", "meters": 29.9}, {"name": "orca", "meters": 8}, {"name": "minke", "meters": 9}]'
agent = Agent(model=choose_model(ScriptedModel([script])), output=list[Whale])


async def main() -> None:
    """Print the list each time it has grown."""
    async for event in agent.stream("Name three whales with their lengths."):
        if isinstance(event, OutputArrived):
            print("so far:", *(whale.name for whale in event.output))
        if isinstance(event, RunFinished):
            print(event.result.output)


if __name__ == "__main__":
    asyncio.run(main())
