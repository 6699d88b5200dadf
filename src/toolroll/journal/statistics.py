"""Figures over all recorded runs (D5). Each record is read once.

Records that a fork inherited count only in the run they come from, and the steps of a sub-agent only in its own run, so
nothing counts twice. Checksums are not verified; records that cannot be read are counted as unreadable.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from math import ceil, log
from typing import Any, Final, TypeAlias

from pydantic_core import from_json

from toolroll.journal.places import RunLogPlace, open_tables
from toolroll.journal.tables import Tables

MAX_NAMES: Final = 1_000
"""Of tools and of models. A model can make up names without end; what comes later is counted together."""
OTHERS: Final = "(others)"
ROWS: Final = """
select run_id, number, kind, at, body from records
where kind in ('run_began', 'answered', 'ended', 'asked', 'decided', 'spent') and (at >= ? or kind = 'run_began')
order by run_id, number
"""
_QUARTER_S: Final = 15 * 60
"""No zone begins its day within a quarter of an hour; looking up the date takes as long as reading a record."""
_NEVER_RAN: Final = frozenset({"interrupted", "not_run", "secret_lost", "unknown_outcome"})
_REFUSED: Final = frozenset({"blocked_by_policy", "denied", "needs_approval", "rejected"})
"""Results that say no to the model. The tool did not fail."""
Fields: TypeAlias = Mapping[str, Any]
GROWTH: Final = 1.02
"""From one size to the next. What is told is the middle of a size: at most 1 % beside the truth, in 1,400 counts from a
microsecond to a week."""
_LEAST_MS: Final = 0.001
_LOG: Final = log(GROWTH)


class Latency:
    """Durations in milliseconds that were counted and forgotten."""

    __slots__ = ("_counts", "count")

    def __init__(self) -> None:
        self.count: int = 0
        self._counts: Counter[int] = Counter()

    def add(self, milliseconds: float) -> None:
        """Count one."""
        self.count += 1
        self._counts[ceil(log(max(milliseconds, _LEAST_MS)) / _LOG)] += 1

    def percentile(self, share: float) -> float | None:
        """Return the duration that this share of all did not exceed, by the nearest rank; None where there are none."""
        rank = max(1, ceil(share * self.count))
        for size in sorted(self._counts):
            rank -= self._counts[size]
            if rank <= 0:
                return float(GROWTH ** (size - 0.5))
        return None


@dataclass(slots=True, kw_only=True)
class ToolFigures:
    """One tool. `calls` are all that had a result; `failures` those that did not do what they should."""

    name: str
    calls: int = 0
    failures: int = 0
    byte_size: int = 0
    approvals: int = 0
    rejections: int = 0
    latency: Latency = field(default_factory=Latency)


@dataclass(slots=True, kw_only=True)
class ModelFigures:
    """One model. `cost` is of the steps whose price is known; `unpriced` counts the others."""

    name: str
    runs: int = 0
    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    latency: Latency = field(default_factory=Latency)


@dataclass(slots=True, kw_only=True)
class DayFigures:
    """One day: steps, tokens and dollars."""

    steps: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(slots=True, kw_only=True)
class Statistics:
    """All of it. `runs` are those that a person started; `unreadable` are records that were left out."""

    runs: int = 0
    tools: dict[str, ToolFigures] = field(default_factory=dict)
    models: dict[str, ModelFigures] = field(default_factory=dict)
    days: dict[date, DayFigures] = field(default_factory=dict)
    unreadable: int = 0

    def tool(self, name: str) -> ToolFigures:
        """Return the figures of a tool, new if need be."""
        found = self.tools.get(name)
        if found is None:
            name = name if len(self.tools) < MAX_NAMES else OTHERS
            found = self.tools.setdefault(name, ToolFigures(name=name))
        return found

    def model(self, name: str) -> ModelFigures:
        """Return the figures of a model, new if need be."""
        found = self.models.get(name)
        if found is None:
            name = name if len(self.models) < MAX_NAMES else OTHERS
            found = self.models.setdefault(name, ModelFigures(name=name))
        return found


def favourites(statistics: Statistics) -> list[str]:
    """Return the tools that a person approves and uses most: an approval counts as two calls that worked."""
    weights = {
        tool.name: tool.calls - tool.failures + 2 * (tool.approvals - tool.rejections)
        for tool in statistics.tools.values()
    }
    return sorted((name for name, weight in weights.items() if weight > 0), key=lambda name: (-weights[name], name))


def read_statistics(place: RunLogPlace, *, since: float = 0.0, model: str | None = None) -> Statistics:
    """Return the figures of that run log; see `gather`. Opens no journal, so no record is decoded."""
    with open_tables(place) as db:
        return Statistics() if db is None else gather(db, since=since, model=model)


def gather(db: Tables, *, since: float = 0.0, model: str | None = None, zone: tzinfo | None = None) -> Statistics:
    """Return the figures of all that was recorded since then (seconds since 1970), of one model if one is named.

    Days begin at midnight of `zone`, of this machine's if none is named.
    """
    count = _Count(db, since=since, model=model, zone=zone)
    for run_id, number, kind, at, body in db.execute(ROWS, (since,)):
        count.take(run_id, number, kind, at, body)
    return count.found


class _Count:
    """Goes from run to run; of the one it is at it knows the model, and the tools that a person was asked about."""

    def __init__(self, db: Tables, *, since: float, model: str | None, zone: tzinfo | None) -> None:
        self.found = Statistics()
        self._db = db
        self._since = since
        self._only = model
        self._zone = zone
        self._run = ""
        self._model = ""
        self._until = 0
        self._is_part = False
        self._is_counted = False
        self._models: set[str] = set()
        self._asked: dict[str, str] = {}
        self._days: dict[int, DayFigures] = {}

    def take(self, run_id: str, number: int, kind: str, at: float, body: bytes) -> None:
        if run_id != self._run:
            self._run, self._until, self._model = run_id, 0, ""
            self._is_part = self._is_counted = False
            self._models, self._asked = set(), {}
        if kind != "run_began" and number <= self._until:
            return
        try:
            self._count(kind, at, from_json(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.found.unreadable += 1

    def _count(self, kind: str, at: float, record: Fields) -> None:
        match kind:
            case "run_began":
                self._count_run(record, at)
            case "answered":
                self._count_turn(record, at)
            case "spent":
                if not record["call_id"]:  # a summary, which has no run of its own
                    self._count_usage(record, at)
            case "asked":
                self._asked[record["call_id"]] = record["tool"]
            case "decided":
                self._count_decision(record)
            case _:
                self._count_call(record)

    def _count_run(self, record: Fields, at: float) -> None:
        self._model = record["model"]
        self._is_part = record.get("parent") is not None
        inherited = record.get("inherited", 0)
        self._until = 1 + inherited if inherited else 0
        if at >= self._since and self._is_wanted:
            self._see_run()

    @property
    def _is_wanted(self) -> bool:
        return self._only is None or self._only == self._model

    def _see_run(self) -> None:
        if not self._is_counted and not self._is_part:
            self._is_counted = True
            self.found.runs += 1

    def _count_turn(self, record: Fields, at: float) -> None:
        origin = record["message"].get("origin")
        self._model = origin["model"] if origin else self._model
        if not self._is_wanted:
            return
        self._see_run()
        model = self._count_usage(record, at)
        model.steps += 1
        model.latency.add(record["duration_s"] * 1000)
        if self._model not in self._models:
            self._models.add(self._model)
            model.runs += 1
        self._day(at).steps += 1

    def _count_usage(self, record: Fields, at: float) -> ModelFigures:
        """Count tokens and dollars."""
        model, day, usage = self.found.model(self._model), self._day(at), record["usage"]
        cached, written = usage["cache_read_tokens"], usage["cache_write_5m_tokens"] + usage["cache_write_1h_tokens"]
        read = usage["input_tokens"] + cached + written
        model.input_tokens += read
        model.output_tokens += usage["output_tokens"]
        model.cached_tokens += cached
        day.tokens += read + usage["output_tokens"]
        if record["cost"] is None:
            model.unpriced += 1
        else:
            model.cost += record["cost"]
            day.cost += record["cost"]
        return model

    def _count_decision(self, record: Fields) -> None:
        name = self._asked.pop(record["call_id"], None)
        if name is None or not self._is_wanted:
            return
        tool = self.found.tool(name)
        if record["decision"] == "approve":
            tool.approvals += 1
        else:
            tool.rejections += 1

    def _count_call(self, record: Fields) -> None:
        if not self._is_wanted or record["code"] in _NEVER_RAN:
            return
        result = record["result"]
        byte_size = sum(self._sizes(result))
        tool = self.found.tool(result["name"])
        tool.calls += 1
        tool.failures += bool(result["is_error"]) and record["code"] not in _REFUSED
        tool.byte_size += byte_size
        if record["duration_ms"] > 0:  # what never began took no time
            tool.latency.add(record["duration_ms"])

    def _sizes(self, result: Fields) -> Iterator[int]:
        """Of the whole output, where it was kept; else of what stands in the record."""
        ref, content = result.get("output_ref"), result["content"]
        if ref is not None:
            yield ref["byte_size"]
        elif isinstance(content, str):
            yield self._size(content)
        else:
            for part in content:
                yield self._size(part["text"] if part["type"] == "text" else part["data"])

    def _size(self, text: str) -> int:
        """A long text stands in another table, under its hash: see `codec`."""
        if not text.startswith("\0"):
            return len(text.encode())
        row = self._db.execute("select length(body) from contents where hash = ?", (text[1:],)).fetchone()
        return row[0] if row else len(text.encode()) - 1

    def _day(self, at: float) -> DayFigures:
        quarter = int(at) // _QUARTER_S
        day = self._days.get(quarter)
        if day is None:
            when = datetime.fromtimestamp(at, self._zone or UTC)
            date_ = (when if self._zone else when.astimezone()).date()
            day = self._days[quarter] = self.found.days.setdefault(date_, DayFigures())
        return day
