"""The report of `check_tool`: what was checked, what is worth knowing, and what is broken."""

from dataclasses import dataclass
from importlib import import_module
from typing import Final, Literal, TypeAlias

from toolroll.errors import UsageError

CheckName: TypeAlias = Literal["schema", "bytes", "strict", "arguments"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing about a tool; `example` is the arguments, as JSON, that show it."""

    check: CheckName
    """The check that found it."""
    text: str
    """What was found."""
    example: str | None = None
    """Arguments that show it."""

    def __str__(self) -> str:
        shown = f"\n  example: {self.example}" if self.example is not None else ""
        return f"{self.check}: {self.text}{shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one check came to: a line on what holds, what is worth knowing, what is broken."""

    held: str
    findings: tuple[Finding, ...] = ()
    problems: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCheck:
    """A tool that passed: what was checked, and what is worth knowing although nothing is broken."""

    tool: str
    """The name of the tool."""
    held: tuple[str, ...]
    """What the tool keeps, a line per check."""
    findings: tuple[Finding, ...]
    """What is worth knowing, although nothing is broken."""

    def __str__(self) -> str:
        lines = [f"{self.tool} passed:", *(f"- {line}" for line in self.held)]
        if self.findings:
            lines += ["Worth knowing:", *(f"- {finding}" for finding in self.findings)]
        return "\n".join(lines)


def failure_text(tool: str, problems: tuple[Finding, ...], findings: tuple[Finding, ...]) -> str:
    """Return the report on a tool that did not pass, every problem on a line."""
    lines = [f"{tool} did not pass:", *(f"- {problem}" for problem in problems)]
    if findings:
        lines += ["Also worth knowing:", *(f"- {finding}" for finding in findings)]
    return "\n".join(lines)


PACKAGES: Final = ("hypothesis", "hypothesis_jsonschema", "jsonschema")


def require_extra() -> None:
    """Refuse to go on without the packages of the extra, and say how to get them."""
    for name in PACKAGES:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # it is there, but something it needs itself is not
                raise
            told = "install the extra: pip install 'toolroll[testing]', or '.[testing]' in a checkout"
            raise UsageError(f"check_tool needs {name}: {told}.") from None
