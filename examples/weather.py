"""A weather agent: a client that is opened and closed by the run, and tools that share it."""

from collections.abc import AsyncIterator
from typing import Annotated

import httpx2
from choose_model import choose_model

from toolroll import Agent, Depends, ScriptedModel, tool
from toolroll.models import Call


def reply(request: httpx2.Request) -> httpx2.Response:
    """Answer in the place of a weather service."""
    places = {"Lviv": [49.8, 24.0]}
    if request.url.path == "/places":
        return httpx2.Response(200, json=places[request.url.params["name"]])
    return httpx2.Response(200, json={"celsius": 21})


async def weather_service() -> AsyncIterator[httpx2.AsyncClient]:
    """Open the client for a run, and close it after that."""
    async with httpx2.AsyncClient(base_url="http://weather", transport=httpx2.MockTransport(reply)) as client:
        yield client
    print("closed")


Weather = Annotated[httpx2.AsyncClient, Depends(weather_service, scope="run")]


@tool
async def find_place(name: str, service: Weather) -> list[float]:
    """Return the latitude and longitude of a place."""
    return list((await service.get("/places", params={"name": name})).json())


@tool(brings="untrusted")
async def forecast(latitude: float, longitude: float, service: Weather) -> str:
    """Return the weather at a place."""
    return (await service.get("/forecast", params={"at": f"{latitude},{longitude}"})).text


model = ScriptedModel(
    [Call("find_place", {"name": "Lviv"}), Call("forecast", {"latitude": 49.8, "longitude": 24}), "It is 21 degrees."]
)

if __name__ == "__main__":
    print(Agent(model=choose_model(model), tools=[find_place, forecast]).run_sync("How warm is it in Lviv?").text)
