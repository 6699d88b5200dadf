"""What is shown of an exploration: a source that was found, and what it came to, as lines and as JSON."""

from typing import Final

from toolroll.packs.research.exploration import ExplorationResult
from toolroll.packs.search.sources import SOURCES_STATE
from toolroll.safe.text import one_line, terminal_safe

MAX_LINE_CHARACTERS: Final = 160


def format_source(name: str, value: object) -> str:
    """Return a source that was found as a line; nothing for any other state, or a source that is known."""
    match value:
        case {"title": title, "url": url, "cited": False} if name.startswith(SOURCES_STATE):
            return f"· found {one_line(f'{title} <{url}>', MAX_LINE_CHARACTERS)}"
        case _:
            return ""


def exploration_fields(done: ExplorationResult) -> dict[str, object]:
    """Return the end of an exploration as JSON."""
    entry = None if done.entry is None else done.entry.fields
    return {
        "event": "exploration_finished",
        "outcome": done.outcome,
        "path": done.path,
        "where": done.where,
        "content": done.content,
        "is_whole": done.is_whole,
        "log": entry,
    }


def summarize_exploration(done: ExplorationResult) -> list[str]:
    """Return the end of an exploration as lines: its outcome, what it took, and the sources it rests on."""
    entry = done.entry
    if entry is None:
        known = "· This idea was explored before; nothing was done."
        return [f"{known} Show it: toolroll explore show {done.path}. Add --update to bring it up to date."]
    cost = "cost unknown" if entry.cost_usd is None else f"${entry.cost_usd:.4f}"
    tokens = f"{entry.input_tokens:,} tokens in, {entry.output_tokens:,} out"
    steps = "1 step" if entry.steps == 1 else f"{entry.steps} steps"
    lines = [f"· {done.outcome}: {steps}, {entry.duration_ms / 1_000:.1f} s, {tokens}, {cost}"]
    if not done.is_whole:
        lines.append(f"! The document is incomplete ({entry.stop_reason}). Add --update to continue it.")
    lines += [f"! {one['reason']}" for one in entry.failed_searches]
    lines.append(f"· {len(entry.sources)} sources")
    lines += [f"  {one['number']}. {one['title']} <{one['url']}>" for one in entry.sources]
    return [terminal_safe(line) for line in lines]
