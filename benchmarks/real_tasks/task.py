"""What a task is: a request to one of the programs, and a judge that looks at what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["code", "explore", "write"]
Half: TypeAlias = Literal["first", "second"]
"""Prompts and readers are tuned on the first half; the second is only reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to: its last words, and the files before and after it, by path."""

    text: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    stop_reason: str = ""
    exit_code: int = 0
    seconds: float = 0.0
    calls: int = 0
    error: str = ""

    def changed(self) -> set[str]:
        """Return the paths of files that were changed, added or removed."""
        paths = {*self.before, *self.after}
        return {path for path in paths if self.before.get(path) != self.after.get(path)}

    def new_files(self) -> dict[str, str]:
        """Return the files that were not there before."""
        return {path: text for path, text in self.after.items() if path not in self.before}


Judge: TypeAlias = Callable[[Outcome], str]
"""Says what is wrong with an outcome; an empty text if nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One request, for the tools of a kind, in a folder with these files."""

    name: str
    kind: Kind
    half: Half
    prompt: str
    judge: Judge
    files: Mapping[str, str] = field(default_factory=dict)


def says(*words: str) -> Judge:
    """Judge that the answer has all these words, and that no file was changed."""

    def judge(outcome: Outcome) -> str:
        missing = [word for word in words if word not in outcome.text]
        if missing:
            return f"the answer does not say {', '.join(missing)}"
        return f"changed {', '.join(sorted(outcome.changed()))}" if outcome.changed() else ""

    return judge


def only(path: str, check: Callable[[str, str], bool]) -> Judge:
    """Judge that one file was changed as the check wants it, which gets it before and after, and no other."""

    def judge(outcome: Outcome) -> str:
        others = outcome.changed() - {path}
        if others:
            return f"changed {', '.join(sorted(others))}"
        after = outcome.after.get(path)
        if after is None:
            return f"{path} is not there"
        return "" if check(outcome.before.get(path, ""), after) else f"{path} is not as asked for"

    return judge
