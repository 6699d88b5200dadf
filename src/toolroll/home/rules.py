"""Remembered approvals: what a person said "always" to, kept outside of every workspace (K43).

Only narrow leave can be remembered: one tool as it is defined and where it is from, on paths that a glob with a name in
it fits, in the one workspace where it was given. Another tool of that name, or the same one with another definition,
is asked about. A tool of an MCP server and a command of the settings name no paths: leave for one is for all its calls.
Such a rule spares a question; it never beats a deny rule, because the policy asks those first.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import DefinitionError, FileMissing, JsonRefused, ToolrollError, UsageError
from toolroll.home.folders import find_folders
from toolroll.kernel.approval.policy import Rule
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.define.tool import check_name
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.text import suspicious

VERSION: Final = 4
"""1 had rules for whatever tool bears a name; they are read, and count for nothing. 2 had none without a path, and 3
none for commands."""
_VERSION_WITH_SERVERS: Final = 3
_VERSION_WITH_PATHS: Final = 2

SERVER_PLACE: Final = "mcp:"
"""Begins the place of a tool of an MCP server: its name and a hash of what the server is follow."""
COMMAND_PLACE: Final = "settings:"
"""Begins the place of a command of the settings: its name follows. What it runs is part of its definition."""

MAX_RULES_BYTES: Final = 1_048_576
"""Some five thousand rules: nobody says "always" that often, and a file that large is read in 10 ms."""

_FILE: Final = RelativePath(parts=("rules.json",))
_LOCK: Final = "rules.lock"
_OTHERS_CAN_WRITE: Final = 0o022
_WILD: Final = "*?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolIdentity:
    """Which tool is meant: its name, the hash of its definition, and its place (a pack, or the absolute path)."""

    tool: str
    fingerprint: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedRule:
    """Leave for one tool on the paths that `path` (a glob) fits, in one workspace; refused where it is not narrow."""

    tool: str
    fingerprint: str
    place: str
    path: str | None
    """None for a tool of an MCP server or a command, which names no paths."""
    workspace: str
    added: datetime
    action: Literal["allow"] = "allow"

    @classmethod
    def for_tool(cls, tool: ToolIdentity, *, path: str | None, workspace: str, added: datetime) -> "RememberedRule":
        """Leave for this tool."""
        return cls(
            tool=tool.tool,
            fingerprint=tool.fingerprint,
            place=tool.place,
            path=path,
            workspace=workspace,
            added=added,
        )

    def __post_init__(self) -> None:
        check_name(self.tool)
        if not (self.fingerprint and self.place and _is_plain(self.fingerprint) and _is_plain(self.place)):
            raise UsageError(f"'{quote_path(self.place)}' is no place in plain characters, to bind a rule to.")
        if self.path is None and not self.place.startswith((SERVER_PLACE, COMMAND_PLACE)):
            raise UsageError(f"All calls of {self.tool} cannot be remembered: name a path that they may use.")
        if self.path is not None and (problem := path_problem(self.path)):
            raise UsageError(f"'{quote_path(self.path)}' cannot be remembered: {problem}")
        if not os.path.isabs(self.workspace) or not _is_plain(self.workspace):  # noqa: PTH117 -- kept as text
            raise UsageError(f"'{quote_path(self.workspace)}' is no whole path in plain characters, to bind a rule to.")

    @property
    def rule(self) -> Rule:
        """Return the rule as a policy takes it."""
        return Rule(action=self.action, tool=self.tool, path=self.path)

    @property
    def identity(self) -> ToolIdentity:
        """Return the tool that the rule is for."""
        return ToolIdentity(tool=self.tool, fingerprint=self.fingerprint, place=self.place)

    def grants_same(self, other: "RememberedRule") -> bool:
        """Return whether both give the same leave, whenever they were added."""
        return replace(self, added=other.added) == other


def path_problem(path: str) -> str | None:
    """Describe why a path glob is too wide, or too odd, to be remembered; None for one that can be."""
    parts = path.split("/")
    if not _is_plain(path):
        return "it has characters that cannot be seen, or blanks around it."
    if not all(parts) or "." in parts or ".." in parts:
        return "name a path below the workspace, such as src/*.py, without '.' or '..'."
    if not any(part.strip(_WILD + ".") for part in parts):
        return "it fits everything. Name at least a folder or a file."
    return None


def workspace_key(folder: Path) -> str:
    """Return the name of a workspace that rules are bound to: absolute, and without links."""
    return str(folder.resolve())


class RuleBook:
    """The file with the remembered rules. A file that cannot be read is reported and left alone, never replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "RuleBook":
        """Open the rule book in the user's configuration."""
        return cls(find_folders(environment).config)

    @property
    def path(self) -> Path:
        """Return the path of the file, for messages; it exists once something was remembered."""
        return self._folder / _FILE.name

    def rules(self) -> tuple[RememberedRule, ...]:
        """Return all rules in effect, oldest first."""
        return tuple(rule for one in self._all() if (rule := one.to_rule()))

    def count_outdated(self) -> int:
        """Count the rules of version 1, for any tool of a name: they have no effect, and the next change drops them."""
        return sum(one.to_rule() is None for one in self._all())

    def rules_for(self, workspace: str, tools: Collection[ToolIdentity]) -> tuple[Rule, ...]:
        """Return the rules for this workspace and these tools, and for no others, for a policy."""
        return tuple(one.rule for one in self.rules() if one.workspace == workspace and one.identity in tools)

    def _all(self) -> "list[_StoredRule]":
        if not self._folder.exists():
            return []
        with closing(Root(private_folder(self._folder))) as root:
            return self._read(root)

    def add(self, rule: RememberedRule) -> bool:
        """Remember a rule; whether it was new."""
        return self._change(lambda rules: rules if any(rule.grants_same(one) for one in rules) else (*rules, rule))

    def remove(self, rule: RememberedRule) -> bool:
        """Forget a rule, whenever it was added; whether there was one."""
        return self._change(lambda rules: tuple(one for one in rules if not rule.grants_same(one)))

    def _change(self, change: Callable[[tuple[RememberedRule, ...]], tuple[RememberedRule, ...]]) -> bool:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            before = tuple(rule for one in self._read(root) if (rule := one.to_rule()))
            after = change(before)
            if after != before:
                root.write_file(_FILE, _dump_rules(after).encode(), mode=0o600)
            return after != before

    def _read(self, root: Root) -> "list[_StoredRule]":
        try:
            mode = root.stat(_FILE).mode
        except FileMissing:
            return []
        if mode & _OTHERS_CAN_WRITE:
            raise self._refusal("other users can write to it. Look through it, then make it yours (chmod 600)")
        try:
            return _parse_rules(root.read_bytes(_FILE, limit_bytes=MAX_RULES_BYTES).decode())
        except ValidationError as error:
            raise self._refusal(_describe_fault(error)) from None
        except (DefinitionError, JsonRefused, UsageError, UnicodeDecodeError) as error:
            raise self._refusal(str(error).rstrip(".")) from None

    def _refusal(self, why: str) -> ToolrollError:
        text = f"The remembered approvals in '{quote_path(str(self.path))}' cannot be used: {why}."
        return JsonRefused(f"{text} Repair the file or move it away; until then every change is asked about.")


class _StoredRule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: Literal["allow"]
    tool: str
    path: str | None
    workspace: str
    added: AwareDatetime
    fingerprint: str | None = None
    place: str | None = None

    def to_rule(self) -> RememberedRule | None:
        """Return the rule; None for one of version 1, which does not say which code the tool is."""
        if self.fingerprint is None or self.place is None:
            return None
        return RememberedRule(**self.model_dump())


class _StoredRules(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, Field(ge=1, le=VERSION)]  # not Literal: that takes true for 1
    rules: list[_StoredRule]


def _parse_rules(text: str) -> list[_StoredRule]:
    value = parse_json(text, limit_bytes=MAX_RULES_BYTES)
    version = value.get("version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise UsageError(f"it is of version {version}, and this toolroll knows version {VERSION}")
    stored = _StoredRules.model_validate_json(text, strict=True)
    for one in stored.rules:
        one.to_rule()  # one rule that is too wide, and none of the file is believed
    return stored.rules


def _dump_rules(rules: tuple[RememberedRule, ...]) -> str:
    stored = [_StoredRule(**asdict(one)) for one in rules]
    # As low as it can be: a toolroll that is older can read what it knows.
    whole = [one.place for one in rules if one.path is None]
    version = _VERSION_WITH_SERVERS if whole else _VERSION_WITH_PATHS
    version = VERSION if any(place.startswith(COMMAND_PLACE) for place in whole) else version
    return _StoredRules(version=version, rules=stored).model_dump_json(indent=2) + "\n"


def _describe_fault(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(step) for step in detail["loc"]) or "the file"
    return f"{quote_path(place)}: {detail['msg']}"


def _is_plain(text: str) -> bool:
    return text == text.strip() and "\n" not in text and "\t" not in text and not suspicious(text, limit=1)
