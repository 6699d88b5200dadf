"""A chat in a web app: the answer is streamed, and the conversation is a row in the app's own database."""

# Post to it: curl -N localhost:8000/chats/1 -d "Hello"

import sqlite3
from collections.abc import AsyncIterator

import uvicorn
from choose_model import choose_model
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from toolroll import Agent, ScriptedModel
from toolroll.agent.conversation import dump_messages, load_messages
from toolroll.agent.ui_stream import HEADERS, ui_stream

database = sqlite3.connect("chats.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS chats (id TEXT PRIMARY KEY, messages TEXT)")
script = ScriptedModel(lambda request: f"This is message {len(request.messages)}.")
agent = Agent(model=choose_model(script), system="You are a friend who listens.")


def find_chat(chat: str) -> str:
    """Return the conversation as it is stored."""
    row: tuple[str] | None = database.execute("SELECT messages FROM chats WHERE id = ?", [chat]).fetchone()
    return row[0] if row else dump_messages([])


async def answer(chat: str, prompt: str) -> AsyncIterator[str]:
    """Yield the answer as server-sent events; what was said is stored, also if the reader leaves early."""
    async with agent.stream(prompt, messages=load_messages(find_chat(chat))) as run:
        try:
            async for line in ui_stream(run):
                yield line
        finally:
            database.execute("REPLACE INTO chats VALUES (?, ?)", [chat, dump_messages(run.messages)])


async def post(request: Request) -> Response:
    """Answer what is posted."""
    prompt = (await request.body()).decode()
    return StreamingResponse(answer(request.path_params["chat"], prompt), headers=HEADERS)


async def get(request: Request) -> Response:
    """Return the conversation."""
    return Response(find_chat(request.path_params["chat"]), media_type="application/json")


app = Starlette(routes=[Route("/chats/{chat}", post, methods=["POST"]), Route("/chats/{chat}", get)])

if __name__ == "__main__":
    uvicorn.run(app)
