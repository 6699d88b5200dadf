"""Read the answer of a model: a whole post, edits of the current one, or only words for the person.

An edit names a passage and its replacement, and the program makes it: nothing else of the draft can change (W30).
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolroll.packs.writing.posts.checks import DraftRules
from toolroll.packs.writing.posts.platforms import LIMITS, Platform
from toolroll.packs.writing.profiles.schema import ProfileFields

Marks: TypeAlias = Literal["none", "open", "whole"]
"""The marks around a draft: none, one without its end, or complete (as a post, or as edits)."""

MAX_TOPIC_WORDS: Final = 6
"""Words of a topic that the model did not name: enough for the name of a file."""

_POST: Final = re.compile(r"<post(?P<about>[^<>]*)>(?P<text>.*?)(?P<end></post>|\Z)", re.DOTALL)
_TOPIC: Final = re.compile(r"""topic\s*=\s*["“«'](?P<topic>[^"”»'<>]*)""")
_EDIT: Final = re.compile(r"<edit>\s*<old>(?P<old>.*?)</old>\s*<new>(?P<new>.*?)</new>\s*(?:</edit>|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"\A```\w*\n(?P<text>.*?)\n?```\Z", re.DOTALL)
_EDGES: Final = re.compile(r"\A[ \t]*\n|\n[ \t]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAnswer:
    """What a model said: a post or None, its topic if it was named, and the words around it.

    `is_edit` means that it is the draft before with some passages replaced. `missed` are the passages of edits that do
    not occur exactly once in the draft, each with how often it does.
    """

    draft: str | None
    topic: str = ""
    words: str = ""
    marks: Marks = "whole"
    is_edit: bool = False
    missed: tuple[tuple[str, int], ...] = ()


def read_answer(text: str, *, before: str | None = None) -> DraftAnswer:
    """Return the post in an answer; `before` is the draft that edits are made to.

    If a model forgets the marks of its first draft, the whole answer is the post, unless it is one paragraph that ends
    with a question. Once there is a draft, an answer without marks is only words.
    """
    posts = list(_POST.finditer(text))
    if posts:
        found = posts[-1]
        topic = _TOPIC.search(found["about"])
        return DraftAnswer(
            draft=_trim(found["text"]) or None,
            topic=" ".join(topic["topic"].split()) if topic else "",
            words=_POST.sub("", text).strip(),
            marks="whole" if found["end"] else "open",
        )
    edits = list(_EDIT.finditer(text))
    if edits and before is not None:
        return _apply_edits(before, edits, _EDIT.sub("", text).strip())
    plain = text.strip()
    if not plain or edits or before is not None or ("\n\n" not in plain and plain.endswith("?")):
        return DraftAnswer(draft=None, words=plain)
    fenced = _FENCE.match(plain)
    return DraftAnswer(draft=fenced["text"] if fenced else plain, marks="none")


def topic_from_request(request: str) -> str:
    """Return a topic made of the request, where the model has named none."""
    return " ".join(request.split()[:MAX_TOPIC_WORDS])


def rules_for(fields: ProfileFields, platform: Platform) -> DraftRules:
    """Return the rules for a draft (W33); a platform that the profile lacks has its own limit."""
    style = fields["platforms"].get(platform)
    return DraftRules(
        platform=platform,
        max_length=style["max_length"] if style else LIMITS[platform],
        avoid=fields["voice"]["avoid"],
        language=fields["language"],
    )


def _apply_edits(before: str, edits: list[re.Match[str]], words: str) -> DraftAnswer:
    text, missed = before, []
    for edit in edits:
        old, new = _trim(edit["old"]), _trim(edit["new"])
        times = text.count(old) if old else 0
        if times == 1:
            text = text.replace(old, new)
        else:
            missed.append((old, times))
    # All or nothing: half of what was asked for is harder to see than nothing.
    return DraftAnswer(draft=None if missed else text, words=words, is_edit=True, missed=tuple(missed))


def _trim(text: str) -> str:
    """Remove the line ends that belong to the marks."""
    return _EDGES.sub("", text)
