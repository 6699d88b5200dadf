"""Small models get ten tools, short texts and no parameters to make up values for (A52)."""

from typing import Any

import pytest

from toolroll.agent.loop.budget import CHARACTERS_PER_TOKEN
from toolroll.apps.diet import needs_diet, takes_first_call
from toolroll.home.settings import Settings
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.catalog import SMALL_WINDOW_TOKENS, ModelLimits
from toolroll.models.chat.request import ChatOptions
from toolroll.models.connect import connect
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import ScriptedModel
from toolroll.models.small import small_head
from toolroll.packs.code.agent import code_prompt, code_tools
from toolroll.packs.code.short_tools import SHORT_TOOLS
from toolroll.packs.code.tools import TOOLS

LEFT_OUT = {"expected_hash", "expected_replacements", "dry_run", "column"}


def test_A52_a_small_model_reads_500_tokens_before_the_first_question() -> None:
    [tools] = code_tools(is_short=True).values()
    system = code_prompt(tools, instructions=None, is_short=True)
    request = ModelRequest(messages=(), tools=tuple(tool.definition for tool in tools), system=system)
    head = small_head(request, model="m", stream=False, max_tokens=None, options=ChatOptions())
    messages: Any = head["messages"]
    [said] = messages
    assert len(tools) == 10
    assert len(said["content"]) / CHARACTERS_PER_TOKEN <= 500
    assert all(f"- {tool.name}(" in said["content"] for tool in tools)
    assert not any(name in dump_json(head) for name in LEFT_OUT)


def test_A52_short_tools_are_the_same_tools() -> None:
    whole = {tool.name: tool for tool in TOOLS}
    for tool in SHORT_TOOLS:
        same = whole[tool.name]
        assert tool.core is same.core
        assert (tool.effect, tool.labels, tool.asks, tool.loop_guard) == (
            same.effect,
            same.labels,
            same.asks,
            same.loop_guard,
        )
        short: Any = tool.parameters
        long: Any = same.parameters
        assert {*short["properties"]} <= {*long["properties"]}
        assert {*short["required"]} == {*long.get("required", ())} - {"description"}


class Window(ScriptedModel):
    """A scripted model with a window."""

    def __init__(self, tokens: int | None) -> None:
        super().__init__([])
        self.limits = None if tokens is None else ModelLimits(window_tokens=tokens)


@pytest.mark.parametrize(
    ("tokens", "wish", "short"),
    [
        (SMALL_WINDOW_TOKENS, "auto", True),
        (SMALL_WINDOW_TOKENS + 1, "auto", False),
        (None, "auto", False),
        (None, "short", True),
        (4_096, "full", False),
    ],
)
def test_A52_the_window_or_a_setting_decides(tokens: int | None, wish: str, short: bool) -> None:
    assert needs_diet(Window(tokens), Settings.model_validate({"prompts": wish})) is short


@pytest.mark.parametrize(
    ("name", "forced"),
    [
        ("ollama:q?window=8192", True),
        ("ollama:q", False),
        ("ollama:q?calls=json", True),
        ("openai-compatible:q@http://models.example/v1?window=8192", True),
    ],
)
def test_A52_a_small_model_is_made_to_look_before_it_answers_where_that_can_be_asked(name: str, forced: bool) -> None:
    assert takes_first_call(connect(name, environment={})) is forced
