"""When the model and the tools were at work: bars along the time of the run, drawn without a script."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from toolroll.cli.export.room import inert
from toolroll.cli.export.timeline import Entry, turns

MAX_BARS: Final = 300
"""More are thinner than a hair, and nobody tells them apart."""
WIDTH: Final = 1_000
ROW: Final = 12
_THINNEST: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One thing that took time."""

    kind: Literal["m", "c", "e"]
    start: float
    end: float
    told: str


def chart(found: Sequence[Entry]) -> str:
    """The drawing; nothing where nothing took time."""
    bars = list(_bars(found))[:MAX_BARS]
    if not bars:
        return ""
    first = min(bar.start for bar in bars)
    scale = WIDTH / max(max(bar.end for bar in bars) - first, 0.001)
    drawn = "".join(_rect(bar, number, first, scale) for number, bar in enumerate(bars))
    size = f"0 0 {WIDTH} {ROW * len(bars)}"
    told = "When the model (blue) and the tools (violet; red where they failed) were at work"
    return f'<svg viewBox="{size}" role="img" aria-label="{told}">{drawn}</svg>'


def _bars(found: Sequence[Entry]) -> Iterator[Bar]:
    for turn in turns(found):
        if turn.at is not None and not turn.is_inherited:
            took = turn.answered.duration_s
            yield Bar(kind="m", start=turn.at - took, end=turn.at, told=f"Step {turn.number}: {took:.1f} s")
        for call in turn.calls.values():
            if call.ended is not None and call.at is not None and not turn.is_inherited:
                took = call.ended.duration_ms / 1000
                kind: Literal["c", "e"] = "e" if call.ended.result.is_error else "c"
                yield Bar(kind=kind, start=call.at - took, end=call.at, told=f"{call.name}: {took:.3f} s")


def _rect(bar: Bar, row: int, first: float, scale: float) -> str:
    x, width = (bar.start - first) * scale, max((bar.end - bar.start) * scale, _THINNEST)
    place = f'x="{min(x, WIDTH - _THINNEST):.1f}" y="{row * ROW + 1}" width="{width:.1f}" height="{ROW - 2}"'
    return f'<rect class="{bar.kind}" {place}><title>{inert(bar.told)}</title></rect>'
