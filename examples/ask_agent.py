"""An agent that asks another agent, with a typed question."""

from choose_model import choose_model
from pydantic import BaseModel

from toolroll import Agent, ScriptedModel
from toolroll.models import Call


class Joke(BaseModel):
    """What the joke is about."""

    about: str


teller = Agent(model=choose_model(ScriptedModel(["Why is tea calm? It is steeped in peace."])))
joke = teller.as_tool(name="joke", description="Ask for a joke.", input=Joke)
model = choose_model(ScriptedModel([Call("joke", {"about": "tea"}), "Here: steeped in peace."]))

if __name__ == "__main__":
    print(Agent(model=model, tools=[joke]).run_sync("Tell me a joke about tea.").text)
