"""The coding agent: the tools, a prompt that says how to use them, and the project's own instructions (C40, C43)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from typing_extensions import TypedDict, Unpack

from toolroll.agent.agent import Agent
from toolroll.agent.options import AgentOptions
from toolroll.kernel.define.tool import Tool
from toolroll.packs.code.prompt import read_instructions, system_prompt
from toolroll.packs.code.short_tools import SHORT_READING, SHORT_TOOLS
from toolroll.packs.code.tools import READING, TOOLS
from toolroll.packs.standard import TOOLS as STANDARD
from toolroll.workspace.workspace import Workspace

LOGGER_NAME: Final = "toolroll.code"


class CodeOptions(TypedDict):
    """The options of `Agent` that make it a coding agent."""

    tools: list[Tool]
    system: str
    private_texts: tuple[str, ...]
    deps: dict[str, object]


def code_tools(*, read_only: bool = False, is_short: bool = False) -> dict[str, tuple[Tool, ...]]:
    """Return the tools of the coding agent by the pack they are from; fewer and shorter ones for small models."""
    if is_short:
        return {"code": SHORT_READING if read_only else SHORT_TOOLS}
    return {"code": tuple(READING if read_only else TOOLS), "standard": tuple(STANDARD)}


def code_prompt(tools: Sequence[Tool], *, instructions: str | None, system: str = "", is_short: bool = False) -> str:
    """Return the prompt for these tools and the project's own instructions; `system` is added at its end."""
    prompt = system_prompt(instructions=instructions, tools=[tool.name for tool in tools], is_short=is_short)
    return f"{prompt}\n\n{system}" if system else prompt


def code_options(
    workspace: Workspace, *, read_only: bool = False, more_tools: Sequence[Tool] = (), system: str = ""
) -> CodeOptions:
    """Return what makes an agent a coding agent: pass it on to `Agent`, with a model and what else it needs."""
    tools = [tool for pack in code_tools(read_only=read_only).values() for tool in pack] + list(more_tools)
    instructions = project_instructions(workspace)
    return {
        "tools": tools,
        "system": code_prompt(tools, instructions=instructions, system=system),
        "private_texts": (instructions or "",),
        "deps": {"root": workspace.root, "deny": workspace.denials.patterns, "limits": workspace.limits},
    }


def code_agent(root: Path | str, *, read_only: bool = False, **options: Unpack[AgentOptions]) -> Agent[None]:
    """Return an agent at work in a folder; `options` are those of `Agent`, the model among them."""
    with Workspace(root) as workspace:
        made = code_options(workspace, read_only=read_only)
    merged: AgentOptions = {**made, **options}
    return Agent(**merged)


def project_instructions(workspace: Workspace) -> str | None:
    """Return the project's AGENTS.md; None where there is none that can be read, and what is left out is logged."""
    found = read_instructions(workspace)
    if found.note:
        import logging  # noqa: PLC0415 - an interpreter start of its own

        logging.getLogger(LOGGER_NAME).warning("%s", found.note)
    return found.text
