"""The nine tools as a model is told of them: names, order, parameters, defaults, enums and what is required."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolroll.kernel.define.tool import Tool
from toolroll.packs.registry import pack_named
from toolroll.packs.search import backend
from toolroll.packs.writing.notion import client
from toolroll.packs.writing.tools.toolset import writing_tools

ROOT = Path(__file__).parents[4]
CATEGORIES = [
    *("too_formal", "too_casual", "too_long", "too_short", "hook_weak", "hook_strong", "tone_off"),
    *("structure_wrong", "vocabulary_wrong", "cta_missing", "cta_too_pushy", "other"),
]
PLATFORMS = ["linkedin", "instagram", "x"]

# Of each parameter what decides how a call is read: its type, default, enum, and the type of what a list holds.
TOLD: dict[str, tuple[dict[str, dict[str, Any]], list[str]]] = {
    "read_style_profile": ({"profile_name": {"type": "string", "default": "default"}}, []),
    "update_style_profile": (
        {
            "profile_name": {"type": "string", "default": "default"},
            "changes": {"type": "object"},
            "reason": {"type": "string"},
        },
        ["changes", "reason"],
    ),
    "list_profiles": ({}, []),
    "read_past_posts": (
        {
            "keywords": {"type": "array", "items": "string"},
            "platform": {"type": "string", "enum": [*PLATFORMS, "all"], "default": "all"},
            "limit": {"type": "number", "default": 5},
        },
        ["keywords"],
    ),
    "save_to_file": (
        {
            "content": {"type": "string"},
            "platform": {"type": "string", "enum": PLATFORMS},
            "topic": {"type": "string"},
            "profile_used": {"type": "string", "default": "default"},
        },
        ["content", "platform", "topic"],
    ),
    "search_web": ({"query": {"type": "string"}}, ["query"]),
    "read_notion_page": ({"page_id": {"type": "string"}}, ["page_id"]),
    "write_to_notion": (
        {
            "content": {"type": "string"},
            "title": {"type": "string"},
            "platform": {"type": "string", "enum": PLATFORMS},
            "topic": {"type": "string"},
            "profile_used": {"type": "string", "default": "default"},
        },
        ["content", "title", "platform", "topic"],
    ),
    "track_feedback": (
        {"category": {"type": "string", "enum": CATEGORIES}, "raw_feedback": {"type": "string"}},
        ["category", "raw_feedback"],
    ),
}


def test_W10_W19_nine_tools_in_their_order() -> None:
    assert [tool.name for tool in writing_tools({})] == list(TOLD)
    assert [tool.name for tool in pack_named("writing").load()] == list(TOLD)


@pytest.mark.parametrize("tool", writing_tools({}), ids=list(TOLD))
def test_W10_W19_a_model_is_told_exactly_these_parameters(tool: Tool) -> None:
    expected, required = TOLD[tool.name]
    schema: dict[str, Any] = dict(tool.parameters)
    assert {name: _deciding(one) for name, one in schema.get("properties", {}).items()} == expected
    assert schema.get("required", []) == required
    assert len(tool.description) > 80, "it says when to use it"


# The table of targets, in ms; what goes over the net is held to its time limit instead, in seconds.
TARGETS = {
    "read_style_profile": 50,
    "update_style_profile": 100,
    "list_profiles": 200,
    "read_past_posts": 200,
    "save_to_file": 50,
    "track_feedback": 50,
}
LIMITS_S = {"search_web": 10, "read_notion_page": 15, "write_to_notion": 15}


def test_W40_every_row_of_the_table_of_targets_is_measured_or_has_a_time_limit() -> None:
    command = [sys.executable, "benchmarks/writing.py", "--rounds", "2", "--posts", "30", "--profiles", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    cells = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if line.startswith("| ")]
    measured = {row[1].split(",")[0]: int(row[5]) for row in cells[2:]}
    assert measured == TARGETS
    assert {**TARGETS, **LIMITS_S}.keys() == TOLD.keys()
    assert (LIMITS_S["search_web"], LIMITS_S["read_notion_page"]) == (backend.TIMEOUT_S, client.TIMEOUT_S)


def _deciding(parameter: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {key: parameter[key] for key in ("type", "enum", "default") if key in parameter}
    return told | {"items": parameter["items"]["type"]} if "items" in parameter else told
