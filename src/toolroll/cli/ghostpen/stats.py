"""`stats` and `feedback`: how drafts fared, and what was said about them (W35, W19)."""

from typing import cast, get_args

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.session import DONE, FAILED
from toolroll.errors import ToolrollError
from toolroll.packs.writing.posts.stats import DraftLog, DraftStats, compute_stats
from toolroll.packs.writing.profiles.feedback import Category, FeedbackStore
from toolroll.packs.writing.texts.call_texts import category_name
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Key

CATEGORIES = cast("tuple[Category, ...]", get_args(Category))


def show_stats(desk: CommandContext) -> int:
    """Drafts accepted the first time, mean rounds, the most frequent feedback.

    Where the feedback cannot be read, the numbers that do not need it come first, and that is told after them.
    """
    feedback, problem = _count_feedback(desk)
    stats = compute_stats(DraftLog(desk.data).read(), feedback)
    if desk.session.json:
        return _write_json(desk, stats, problem)
    share, rounds = f"{stats.first_time_share * 100:.0f}", f"{stats.mean_rounds:.1f}"
    numbers = {"drafts": stats.drafts, "accepted": stats.accepted, "first": stats.accepted_first_time}
    lines = [desk.words("stats", share=share, rounds=rounds, **numbers) if stats.drafts else desk.words("no_stats")]
    if stats.top_feedback:
        top = ", ".join(f"{_category(desk, name)} ({count})" for name, count in stats.top_feedback)
        lines.append(desk.words("top_feedback", list=top))
    desk.write("\n".join(lines))
    if problem is not None:
        raise problem
    return DONE


def _write_json(desk: CommandContext, stats: DraftStats, problem: ToolrollError | None) -> int:
    """The same as one object; `top_feedback` is null where nobody knows it, and `error` says why."""
    top = [{"category": name, "count": count} for name, count in stats.top_feedback]
    told: dict[str, object] = {
        "drafts": stats.drafts,
        "accepted": stats.accepted,
        "accepted_first_time": stats.accepted_first_time,
        "first_time_share": round(stats.first_time_share, 3),
        "mean_rounds": round(stats.mean_rounds, 2),
        "top_feedback": top if problem is None else None,
    }
    if problem is not None:
        told["error"] = {"code": problem.code, "message": describe_error(problem, desk.lang)}
    desk.session.write_json(told)
    return DONE if problem is None else FAILED


def _count_feedback(desk: CommandContext) -> tuple[dict[str, int], ToolrollError | None]:
    """How often each category was said; and why not, where that cannot be read: drafts are counted apart from it."""
    try:
        return {name: entry.count for name, entry in FeedbackStore(desk.data).entries().items()}, None
    except ToolrollError as error:
        return {}, error


def list_feedback(desk: CommandContext) -> int:
    """What was said, by category, the most frequent first."""
    entries = sorted(FeedbackStore(desk.data).entries().items(), key=lambda one: (-one[1].count, one[0]))
    if not entries and not desk.session.json:
        desk.say("no_feedback")
        return DONE
    lines = []
    for name, entry in entries:
        told = {"what": _category(desk, name), "category": name, "count": entry.count}
        lines.append(desk.words("feedback_line", **told, date=entry.last_seen[:10]))
        lines += [f"  {said.date}  {' '.join(said.raw.split())}" for said in entry.history]
    desk.write("\n".join(lines), feedback={name: entry.model_dump() for name, entry in entries})
    return DONE


def reset_feedback(desk: CommandContext, category: str | None) -> int:
    """Forget one category or all of them, after a yes."""
    store = FeedbackStore(desk.data)
    known = [name for name in store.entries() if category in (None, name)]
    if not known:
        desk.write(desk.words("no_feedback"), reset=[])
        return DONE
    question: Key = "ask_reset_all" if category is None else "ask_reset"
    if (code := desk.not_agreed(question, what=_category(desk, known[0]))) is not None:
        return code
    store.reset(cast("Category | None", category))
    desk.write(desk.words("feedback_reset", list=", ".join(_category(desk, one) for one in known)), reset=known)
    return DONE


def _category(desk: CommandContext, name: str) -> str:
    return category_name(name, desk.lang)
