"""The body of `analyze`: how posts differ from a profile, with a yes for each proposed change (W35)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.cli.ghostpen.create_profile import check_model, open_analyst
from toolroll.cli.ghostpen.source_posts import collect_posts, read_posts
from toolroll.cli.session import DONE
from toolroll.errors import ToolrollError
from toolroll.packs.writing.posts.stats import TextMeasures
from toolroll.packs.writing.profiles.analysis import ChangeProposal, Comparison
from toolroll.packs.writing.profiles.changes import history_language
from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.texts.messages import say, translate
from toolroll.packs.writing.tools.profile_tools import mark_lines
from toolroll.safe.text import one_line

_SHOWN_CHARACTERS = 200


def analyze_posts(context: CommandContext, name: str, files: Sequence[str], model: str | None) -> int:
    """Compare posts with a profile, and make the changes that the person agrees to, as one new version."""
    stored = context.profiles.read(name)
    texts = read_posts(context, files)
    named = check_model(model)
    posts = collect_posts(context, texts, files=files)
    context.say("comparing", posts=context.text("count_posts", count=len(posts.texts)), name=name, model=named)
    with open_analyst(context, named) as analyst:
        compared = analyst.compare(stored.fields, posts.texts)
    _show_measures(context, compared)
    taken = _choose_changes(context, compared)
    version = stored.profile.version
    if taken:
        reason = say("changes_reason", history_language(stored.fields), count=len(posts.texts))
        changes = {one.difference.path: one.difference.new for one in taken}
        version = _apply(context, name, changes, reason=reason, base=stored.hash)
    return _report(context, name, compared, taken, version)


def _show_measures(context: CommandContext, compared: Comparison) -> None:
    context.say("measured_posts", **_figures(compared.posts))
    context.say("measured_examples", **_figures(compared.examples))
    for one in compared.refused:
        problem = translate(one.problems[0], context.lang)
        context.say("change_left_out", field=one_line(one.path, _SHOWN_CHARACTERS), problem=problem)


def _figures(measures: TextMeasures) -> dict[str, object]:
    return {
        "texts": measures.texts,
        "characters": f"{measures.characters:.0f}",
        "words": f"{measures.words_a_sentence:.1f}",
        "sentences": f"{measures.sentences_a_paragraph:.1f}",
        "emoji": f"{measures.emoji:.1f}",
        "hashtags": f"{measures.hashtags:.1f}",
    }


def _choose_changes(context: CommandContext, compared: Comparison) -> list[ChangeProposal]:
    """Return the changes that the person wants; where nobody can say so they are only shown."""
    taken: list[ChangeProposal] = []
    is_all = context.yes
    for one in compared.proposals:
        change = one.difference
        context.show(f"{change.path}: {one.why}\n{mark_lines('-', change.old)}\n{mark_lines('+', change.new)}")
        if not is_all and context.terminal is None:
            continue
        answer = "all" if is_all else context.ask_each(context.text("ask_change"))
        if answer == "stop":
            break
        is_all = answer == "all"
        taken += [one] if answer != "no" else []
    return taken


def _apply(context: CommandContext, name: str, changes: Mapping[str, object], *, reason: str, base: str) -> int:
    updated = context.profiles.update(name, changes, reason=reason, now=datetime.now(UTC), base=base, by_person=True)
    try:
        FeedbackStore(context.data).resolve(updated.paths, reason)
    except ToolrollError as error:  # the profile is changed: a count that stays is no reason to say otherwise
        context.show(f"! {context.translate(error.message)}")
    return int(updated.entry["version"])


def _report(
    context: CommandContext, name: str, compared: Comparison, taken: Sequence[ChangeProposal], version: int
) -> int:
    if taken:
        text = context.text("profile_updated", name=name, version=version)
    elif not compared.proposals:
        text = context.text("no_differences")
    else:
        text = context.text("nothing_done" if context.terminal else "changes_proposed")
    proposed = [
        {"field": one.difference.path, "old": one.difference.old, "new": one.difference.new, "why": one.why}
        for one in compared.proposals
    ]
    applied = [one.difference.path for one in taken]
    refused = [{"field": one.path, "problems": list(one.problems)} for one in compared.refused]
    context.write(text, profile_name=name, version=version, proposed=proposed, applied=applied, left_out=refused)
    return DONE
