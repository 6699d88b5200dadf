"""Who takes part in `loop.py`: each plays one conversation with the model on this machine, in its own environment.

A maker is given the address of the model, without `/v1`, and whether to stream. It imports and builds what it needs,
once; what it returns plays one whole conversation, also many at a time.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

MODEL = "claude-sonnet-5-5"
KEY = "none"
PROMPT = "Add the numbers until you are told to stop."

Play = Callable[[], Awaitable[str]]
"""One whole conversation; the answer."""

called: list[None] = []
"""An item for each time the tool ran; a contestant that leaves calls out is not fast."""


async def add(a: int, b: int) -> int:
    """Add two integers."""
    called.append(None)
    return a + b


# --- The floor -----------------------------------------------------------------------------------------------------

TOOLS = [
    {
        "name": "add",
        "description": "Add two integers.",
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
]


def by_hand(url: str, stream: bool) -> Play:
    """The loop that the documentation of the API shows: the history is encoded anew for each request."""
    import httpx

    headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    client = httpx.AsyncClient(headers=headers, timeout=60, limits=httpx.Limits(max_connections=1000))
    address = f"{url}/v1/messages"

    async def ask(messages: list[Any]) -> list[dict[str, Any]]:
        body = json.dumps({"model": MODEL, "max_tokens": 1024, "tools": TOOLS, "stream": stream, "messages": messages})
        if not stream:
            content: list[dict[str, Any]] = (await client.post(address, content=body)).json()["content"]
            return content
        async with client.stream("POST", address, content=body) as response:
            return await assembled(response.aiter_bytes())

    async def play() -> str:
        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        while True:
            content = await ask(messages)
            messages.append({"role": "assistant", "content": content})
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": str(await add(**block["input"]))}
                for block in content
                if block["type"] == "tool_use"
            ]
            if not results:
                return str(content[-1]["text"])
            messages.append({"role": "user", "content": results})

    return play


async def assembled(chunks: AsyncIterator[bytes]) -> list[dict[str, Any]]:
    """The content of a streamed message."""
    content: list[dict[str, Any]] = []
    pieces: list[str] = []
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n\n")
        for lines in whole:
            event = json.loads(lines.partition(b"data: ")[2])
            match event["type"]:
                case "content_block_start":
                    content.append(event["content_block"])
                    pieces = []
                case "content_block_delta":
                    delta = event["delta"]
                    pieces.append(delta["text"] if delta["type"] == "text_delta" else delta["partial_json"])
                case "content_block_stop" if content[-1]["type"] == "text":
                    content[-1]["text"] = "".join(pieces)
                case "content_block_stop":
                    content[-1]["input"] = json.loads("".join(pieces))
    return content


# --- The contestants -----------------------------------------------------------------------------------------------


def ours(url: str, stream: bool, journal: Any = None) -> Play:
    from toolroll import Agent, tool
    from toolroll.models.anthropic.model import AnthropicModel
    from toolroll.models.transport import HttpTransport

    model = AnthropicModel(MODEL, transport=HttpTransport(url), headers={"x-api-key": KEY})
    agent = Agent(model=model, tools=[tool(add)], stop_when=(), max_output_tokens=1024, journal=journal)

    async def play() -> str:
        if not stream:
            return (await agent.run(PROMPT)).text
        run = agent.stream(PROMPT)
        async for _ in run:
            pass
        assert run.result is not None
        return run.result.text

    return play


def ours_on_sqlite(url: str, stream: bool) -> Play:
    from toolroll.journal.sqlite import SqliteJournal

    folder = tempfile.mkdtemp(prefix="toolroll-loop-")
    return ours(url, stream, SqliteJournal(Path(folder) / "runs.sqlite"))


def pydantic_ai(url: str, stream: bool) -> Play:
    client = import_module("anthropic").AsyncAnthropic(base_url=url, api_key=KEY)
    library = import_module("pydantic_ai")
    provider = import_module("pydantic_ai.providers.anthropic").AnthropicProvider(anthropic_client=client)
    model = import_module("pydantic_ai.models.anthropic").AnthropicModel(MODEL, provider=provider)
    # Without max_tokens it streams either way.
    agent = library.Agent(model, tools=[add], model_settings={"max_tokens": 1024})

    async def listen(_context: Any, events: AsyncIterator[Any]) -> None:
        async for _ in events:
            pass

    async def play() -> str:
        handler: Any = {"event_stream_handler": listen} if stream else {}
        result = await agent.run(PROMPT, usage_limits=library.UsageLimits(request_limit=None), **handler)
        return str(result.output)

    return play


def langchain(url: str, stream: bool) -> Play:
    model = import_module("langchain_anthropic").ChatAnthropic(model=MODEL, base_url=url, api_key=KEY, max_tokens=1024)
    agent = import_module("langchain.agents").create_agent(model, [add])
    start, settings = {"messages": [("user", PROMPT)]}, {"recursion_limit": 10_000}

    async def play() -> str:
        if not stream:
            return str((await agent.ainvoke(start, settings))["messages"][-1].text)
        texts = [token.text async for token, _ in agent.astream(start, settings, stream_mode="messages")]
        return "".join(texts[-20:])

    return play


def openai_agents(url: str, stream: bool) -> Play:
    library = import_module("agents")
    client = import_module("openai").AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY)
    model = library.OpenAIChatCompletionsModel("gpt-4o", client)
    agent = library.Agent("adder", tools=[library.function_tool(add)], model=model)
    settings: Any = {"max_turns": 10_000, "run_config": library.RunConfig(tracing_disabled=True)}

    async def play() -> str:
        if not stream:
            return str((await library.Runner.run(agent, PROMPT, **settings)).final_output)
        result = library.Runner.run_streamed(agent, PROMPT, **settings)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return play


def smolagents(url: str, stream: bool) -> Play:
    """It has no event loop: each of many runs has a thread."""
    from concurrent.futures import ThreadPoolExecutor

    library = import_module("smolagents")

    def add(a: int, b: int) -> int:
        """Add two integers.

        Args:
            a: One.
            b: The other.
        """
        called.append(None)
        return a + b

    tools = [library.tool(add)]
    model = library.OpenAIModel("gpt-4o", api_base=f"{url}/v1", api_key=KEY)
    threads, idle = ThreadPoolExecutor(200), list[Any]()

    def play() -> str:
        agent = idle.pop() if idle else new()
        answer = str(agent.run(PROMPT))
        idle.append(agent)
        return answer

    def new() -> Any:
        quiet = library.LogLevel.OFF
        options = {"stream_outputs": stream, "max_steps": 10_000, "verbosity_level": quiet}
        agent = library.ToolCallingAgent(tools=tools, model=model, **options)
        agent.logger.console.quiet = True  # it would draw what it streams, whatever its level says
        return agent

    return lambda: asyncio.get_running_loop().run_in_executor(threads, play)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Who, in which environment with which packages, and which API it speaks. Slow ones are measured less often."""

    make: Callable[[str, bool], Play]
    environment: str
    pins: Sequence[str]
    api: Literal["anthropic", "chat"] = "anthropic"
    is_slow: bool = False


PYDANTIC = "pydantic==2.14.3"
OURS = ("httpx2==2.16.0", "genai-prices==0.2.1", PYDANTIC)
CONTESTANTS: dict[str, Contestant] = {
    "httpx (floor)": Contestant(make=by_hand, environment="httpx", pins=("httpx==0.28.1",)),
    "toolroll": Contestant(make=ours, environment="toolroll", pins=OURS),
    "toolroll, SQLite": Contestant(make=ours_on_sqlite, environment="toolroll", pins=OURS),
    "pydantic-ai": Contestant(
        make=pydantic_ai,
        environment="pydantic-ai-anthropic",
        pins=("pydantic-ai-slim[anthropic]==2.66.0", PYDANTIC),
        is_slow=True,
    ),
    "langchain create_agent": Contestant(
        make=langchain,
        environment="langchain-anthropic",
        pins=("langgraph==1.2.20", "langchain==1.4.7", "langchain-anthropic==1.7.7"),
        is_slow=True,
    ),
    "openai-agents": Contestant(
        make=openai_agents, environment="openai-agents", pins=("openai-agents==0.24.0",), api="chat", is_slow=True
    ),
    "smolagents": Contestant(
        make=smolagents, environment="smolagents", pins=("smolagents[openai]==1.26.0",), api="chat", is_slow=True
    ),
}
FLOOR = "httpx (floor)"
