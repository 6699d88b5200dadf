"""`analyze`: how posts differ from a profile, each proposed change with a yes of its own (W35)."""

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
from toolroll.packs.writing.texts.fault_texts import describe_fault
from toolroll.packs.writing.texts.messages import say
from toolroll.packs.writing.tools.profile_tools import mark_lines
from toolroll.safe.text import one_line

_SHOWN_CHARACTERS = 200


def analyze_posts(desk: CommandContext, name: str, files: Sequence[str], model: str | None) -> int:
    """Compare, show, and make the changes that the person agrees to, as one new version."""
    stored = desk.profiles.read(name)
    texts = read_posts(desk, files)
    named = check_model(model)
    posts = collect_posts(desk, texts, files=files)
    desk.say("comparing", count=len(posts.texts), name=name, model=named)
    with open_analyst(desk, named) as looking:
        compared = looking.compare(stored.fields, posts.texts)
    _show_measures(desk, compared)
    taken = _choose_changes(desk, compared)
    version = stored.profile.version
    if taken:
        reason = say("changes_reason", history_language(stored.fields), count=len(posts.texts))
        changes = {one.difference.path: one.difference.new for one in taken}
        version = _apply(desk, name, changes, reason=reason, base=stored.hash)
    return _report(desk, name, compared, taken, version)


def _show_measures(desk: CommandContext, compared: Comparison) -> None:
    desk.say("measured_posts", **_figures(compared.posts))
    desk.say("measured_examples", **_figures(compared.examples))
    for one in compared.refused:
        problem = describe_fault(one.problems[0], desk.lang)
        desk.say("change_left_out", field=one_line(one.path, _SHOWN_CHARACTERS), problem=problem)


def _figures(measures: TextMeasures) -> dict[str, object]:
    return {
        "texts": measures.texts,
        "characters": f"{measures.characters:.0f}",
        "words": f"{measures.words_a_sentence:.1f}",
        "sentences": f"{measures.sentences_a_paragraph:.1f}",
        "emoji": f"{measures.emoji:.1f}",
        "hashtags": f"{measures.hashtags:.1f}",
    }


def _choose_changes(desk: CommandContext, compared: Comparison) -> list[ChangeProposal]:
    """The changes that the person wants; shown only, where nobody can say so."""
    taken: list[ChangeProposal] = []
    is_all = desk.yes
    for one in compared.proposals:
        change = one.difference
        desk.tell(f"{change.path}: {one.why}\n{mark_lines('-', change.old)}\n{mark_lines('+', change.new)}")
        if not is_all and desk.terminal is None:
            continue
        answer = "all" if is_all else desk.choose("yes_no_all", desk.words("ask_change"))
        if answer == "stop":
            break
        is_all = answer == "all"
        taken += [one] if answer != "no" else []
    return taken


def _apply(desk: CommandContext, name: str, changes: Mapping[str, object], *, reason: str, base: str) -> int:
    updated = desk.profiles.update(name, changes, reason=reason, now=datetime.now(UTC), base=base, by_person=True)
    try:
        FeedbackStore(desk.data).resolve(updated.paths, reason)
    except ToolrollError as error:  # the profile is changed: a count that stays is no reason to say otherwise
        desk.tell(f"! {error.message}")
    return int(updated.entry["version"])


def _report(
    desk: CommandContext, name: str, compared: Comparison, taken: Sequence[ChangeProposal], version: int
) -> int:
    if taken:
        text = desk.words("profile_updated", name=name, version=version)
    elif not compared.proposals:
        text = desk.words("no_differences")
    else:
        text = desk.words("nothing_done" if desk.terminal else "changes_proposed")
    proposed = [
        {"field": one.difference.path, "old": one.difference.old, "new": one.difference.new, "why": one.why}
        for one in compared.proposals
    ]
    applied = [one.difference.path for one in taken]
    refused = [{"field": one.path, "problems": list(one.problems)} for one in compared.refused]
    desk.write(text, profile_name=name, version=version, proposed=proposed, applied=applied, left_out=refused)
    return DONE
