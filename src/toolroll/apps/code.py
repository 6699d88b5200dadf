"""The coding agent: its tools and prompt, the project's check, and the project's own tools that are trusted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.agent.hooks import Hook
from toolroll.agent.result import Step
from toolroll.apps.diet import FIRST_CALL, needs_diet, takes_first_call
from toolroll.apps.models import connect_model
from toolroll.apps.project import Project
from toolroll.apps.project_tools import load_trusted_tools
from toolroll.apps.run import make_options
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import Surface
from toolroll.errors import ModelError, Overloaded, RateLimited
from toolroll.home.rules import COMMAND_PLACE
from toolroll.home.settings_schema import CodeSettings
from toolroll.journal.journal import Journal
from toolroll.kernel.define.tool import Tool
from toolroll.models.model import Model
from toolroll.models.retry import RetryRule
from toolroll.packs.catalog import CatalogEntry
from toolroll.packs.code.after_edit import CheckAfterEdit
from toolroll.packs.code.agent import code_prompt, code_tools
from toolroll.packs.code.check_tool import PREFIX, check_tool, command_tool
from toolroll.packs.code.program_tool import program_tool
from toolroll.safe.programs.sandbox import find_sandbox

PLAN: Final = (
    "You are planning. You have no tool that changes anything. Explore what matters for the request, then propose a "
    "plan: numbered steps with the files that each changes, what could go wrong, and how to check the result. Ask what "
    "only the user can decide. Change nothing; the user says when to go."
)
"""Added to the prompt in plan mode."""

MAX_OVERLOAD_S: Final = 300.0
"""How long a provider that has too much to do is asked again."""
OVERLOAD_RETRIES: Final = 20


class AtLimit(Enum):
    """What a run does at its limit of steps."""

    ANSWER = "answer"
    """It asks the model for a last answer, which costs a request."""
    ASK = "ask"
    """It stops there: a person says whether it goes on."""
    NOW = "now"
    """It asks for the last answer at once: the person has said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientRule(RetryRule):
    """Asks a provider that is overloaded again for minutes; after other failures, as often as usual."""

    def wait_s(self, attempt: int, error: ModelError, waited_s: float = 0.0) -> float | None:
        """Return the pause before the next attempt; None when there is to be none."""
        rule = RetryRule(jitter=self.jitter)
        if isinstance(error, Overloaded | RateLimited):
            rule = replace(rule, retries=OVERLOAD_RETRIES, max_total_wait_s=MAX_OVERLOAD_S)
        return rule.wait_s(attempt, error, waited_s)


def person_said_no(_steps: Sequence[Step]) -> bool:
    """Stop at once, for the last answer."""
    return True


def build_code_agent(
    spec: AgentSpec,
    *,
    project: Project,
    surface: Surface,
    journal: Journal,
    model: Model | None = None,
    at_limit: AtLimit = AtLimit.ANSWER,
) -> Agent[None]:
    """Return the coding agent for a project; `model` is one that is connected already."""
    model = model or connect_model(spec.model, surface.environment, settings=project.settings)
    is_short = needs_diet(model, project.settings)
    entries = [
        *list_code_tools(spec, project=project, surface=surface, is_short=is_short),
        *project.server_tools(surface, read_only=spec.read_only),
    ]
    options = make_options(spec, entries, project=project, surface=surface, journal=journal, model=model)
    tools = [entry.tool for entry in entries]
    options["system"] = code_prompt(
        tools, instructions=project.instructions.text, system=spec.system, is_short=is_short
    )
    if is_short and takes_first_call(model):
        options["settings"] = FIRST_CALL
    options["private_texts"] = (project.instructions.text or "",)
    options["close_with_answer"] = at_limit is not AtLimit.ASK
    options["retry"] = PatientRule()
    options["hooks"] = check_after_edit(project.settings.code, tools, surface)
    if at_limit is AtLimit.NOW:
        options["stop_when"] = person_said_no
    return Agent(**options)


def list_code_tools(
    spec: AgentSpec, *, project: Project, surface: Surface, is_short: bool = False
) -> list[CatalogEntry]:
    """Return the tools of the coding agent in a project, each with where it is from."""
    entries = [
        CatalogEntry(tool=tool, origin=pack, place=f"pack {pack}")
        for pack, tools in code_tools(read_only=spec.read_only, is_short=is_short).items()
        for tool in tools
    ]
    if spec.read_only:
        return entries
    commands = list_commands(project.settings.code, surface)
    return [*entries, *commands, *load_trusted_tools(project.root, [*entries, *commands], surface)]


def list_commands(code: CodeSettings, surface: Surface) -> list[CatalogEntry]:
    """Return the tools that run what the settings name: the check, the commands, and any program if that is on."""
    tools = [check_tool(code.check, seconds=code.check_seconds)] if code.check else []
    tools += [
        command_tool(name, one.command, seconds=one.seconds, pattern=one.arguments)
        for name, one in code.commands.items()
    ]
    if code.programs == "on":
        tools.append(program_tool(seconds=code.program_seconds, sandbox=find_sandbox(surface.environment)))
    return [CatalogEntry(tool=tool, origin="settings", place=f"{COMMAND_PLACE}{tool.name}") for tool in tools]


def check_after_edit(code: CodeSettings, tools: Sequence[Tool], surface: Surface) -> list[Hook]:
    """Return the hook that runs the check after changes, where the settings want one and the agent can change files."""
    name = f"{PREFIX}{code.after_edit}"
    if not code.after_edit or not any(tool.effect == "writes" for tool in tools):
        return []
    if not any(tool.name == name for tool in tools):
        surface.warn(f"code.after_edit is '{code.after_edit}', and there is no such command here. Nothing is checked.")
        return []
    return [CheckAfterEdit(name)]
