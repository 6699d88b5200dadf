"""The bodies of `stats` and `feedback`: how many drafts were accepted, and what was said about them (W35, W19)."""

from typing import cast, get_args

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.session import DONE, FAILED
from toolroll.errors import ToolrollError
from toolroll.packs.writing.posts.stats import DraftLog, DraftStats, compute_stats
from toolroll.packs.writing.profiles.feedback import Category, FeedbackStore, category_name
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key

CATEGORIES = cast("tuple[Category, ...]", get_args(Category))


def show_stats(context: CommandContext) -> int:
    """Show how many drafts were accepted the first time, the mean rounds, and the most frequent feedback.

    If the feedback cannot be read, the other figures are shown first, and then the error.
    """
    feedback, problem = _count_feedback(context)
    stats = compute_stats(DraftLog(context.data).read(), feedback)
    if context.session.json:
        return _write_json(context, stats, problem)
    share, rounds = f"{stats.first_time_share * 100:.0f}", f"{stats.mean_rounds:.1f}"
    numbers = {"drafts": stats.drafts, "accepted": stats.accepted, "first": stats.accepted_first_time}
    lines = [context.text("stats", share=share, rounds=rounds, **numbers) if stats.drafts else context.text("no_stats")]
    if stats.top_feedback:
        top = ", ".join(f"{_category(context, name)} ({count})" for name, count in stats.top_feedback)
        lines.append(context.text("top_feedback", list=top))
    context.write("\n".join(lines))
    if problem is not None:
        raise problem
    return DONE


def _write_json(context: CommandContext, stats: DraftStats, problem: ToolrollError | None) -> int:
    """Write the same as one object; `top_feedback` is null where the feedback cannot be read, and `error` says why."""
    top = [{"category": name, "count": count} for name, count in stats.top_feedback]
    fields: dict[str, object] = {
        "drafts": stats.drafts,
        "accepted": stats.accepted,
        "accepted_first_time": stats.accepted_first_time,
        "first_time_share": round(stats.first_time_share, 3),
        "mean_rounds": round(stats.mean_rounds, 2),
        "top_feedback": top if problem is None else None,
    }
    if problem is not None:
        fields["error"] = {"code": problem.code, "message": describe_error(problem, context.lang)}
    context.session.write_json(fields)
    return DONE if problem is None else FAILED


def _count_feedback(context: CommandContext) -> tuple[dict[str, int], ToolrollError | None]:
    """Return how often each category was said, and the error where that cannot be read."""
    try:
        return {name: entry.count for name, entry in FeedbackStore(context.data).entries().items()}, None
    except ToolrollError as error:
        return {}, error


def list_feedback(context: CommandContext) -> int:
    """List what was said by category, the most frequent first."""
    entries = sorted(FeedbackStore(context.data).entries().items(), key=lambda one: (-one[1].count, one[0]))
    if not entries and not context.session.json:
        context.say("no_feedback")
        return DONE
    lines = []
    for name, entry in entries:
        fields = {"what": _category(context, name), "category": name, "count": entry.count}
        lines.append(context.text("feedback_line", **fields, date=entry.last_seen[:10]))
        lines += [f"  {said.date}  {' '.join(said.raw.split())}" for said in entry.history]
    context.write("\n".join(lines), feedback={name: entry.model_dump() for name, entry in entries})
    return DONE


def reset_feedback(context: CommandContext, category: str | None) -> int:
    """Delete one category or all of them, after a yes."""
    store = FeedbackStore(context.data)
    known = [name for name in store.entries() if category in (None, name)]
    if not known:
        context.write(context.text("no_feedback"), reset=[])
        return DONE
    question: Key = "ask_reset_all" if category is None else "ask_reset"
    if (code := context.confirm(question, what=_category(context, known[0]))) is not None:
        return code
    store.reset(cast("Category | None", category))
    context.write(context.text("feedback_reset", list=", ".join(_category(context, one) for one in known)), reset=known)
    return DONE


def _category(context: CommandContext, name: str) -> str:
    return category_name(name, context.lang)
