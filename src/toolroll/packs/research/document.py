"""The document: what the model wrote, with footnotes that lead to what a search found (R12, R22, R23).

A document is shown by pages that load pictures. A picture whose address holds what was read would carry it out as soon
as somebody looks (XL14): so pictures become links, and tags that load, redirect or run something become text, as do
links to anything but pages and mail (XW13). Also in code, since what is code to us may be none to the page that shows
it; a blank is all that it costs there. What a terminal would obey is spelled out.
"""

import html
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Final

from toolroll.kernel.data.messages import AssistantBlock, AssistantMessage, ServerBlock
from toolroll.packs.research.prompts import idea_title
from toolroll.packs.search.sources import Source, cited_text, footnotes
from toolroll.safe.text import controls_safe

MAX_TALK_CHARACTERS: Final = 1_000
"""Before the title: "I will first look at the market."; what is longer belongs to the document."""

_UPDATE_LEVEL: Final = 2
_MAX_LEVEL: Final = 6
"""Of a heading in Markdown."""
_HEADING: Final = re.compile(r"^(#{1,6})([ \t])", re.MULTILINE)
_TITLE: Final = re.compile(r"^# .", re.MULTILINE)
_MARK: Final = re.compile(r"\[\^([0-9]{1,9})\](?!:)")
_MARK_AFTER_BLANK: Final = re.compile(r" ?\[\^([0-9]{1,9})\](?!:)")
_NOTE: Final = re.compile(r"^\[\^([0-9]{1,9})\]:.*\n?", re.MULTILINE)
_MAX_FOLLOWED: Final = 99_999
"""The highest number of a footnote that others follow: no document has so many, and a larger one is a whim."""
_CODE: Final = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_FENCED: Final = re.compile(r"(^(?:```|~~~).*?(?:^(?:```|~~~)|\Z))", re.DOTALL | re.MULTILINE)
_PICTURE: Final = re.compile(r"!(?=\[)")
_LOADED: Final = re.compile(
    r"<(?=(?:applet|audio|base|body|button|embed|form|frame|frameset|iframe|image|img|input|link|math|meta|noscript|object"
    r"|picture|portal|script|source|style|svg|template|textarea|title|track|video|xmp)\b)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<([A-Za-z][^<>]{0,499})(>?)")
_DESTINATION: Final = re.compile(r"\](\(|:)(\s*<?[^)\n]{0,499})")
_RUNS: Final = re.compile(r"[\s/\"']on[a-z]+\s*=|style\s*=", re.IGNORECASE)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):")
_IGNORED: Final = re.compile("[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\\\]")
_LOCAL_PORT: Final = re.compile(r"localhost:[0-9]{1,5}(?![0-9])")
_HARMLESS: Final = frozenset({"http", "https", "mailto"})


def answer_text(message: AssistantMessage, sources: Sequence[Source]) -> str:
    """Return what a model wrote, with the marks of its sources, without what it said before the title."""
    parts = (cited_text(replace(message, blocks=blocks), sources).strip() for blocks in _split_at_searches(message))
    text = "\n\n".join(part for part in parts if part)
    title = _TITLE.search(text)
    return text[title.start() :] if title and title.start() <= MAX_TALK_CHARACTERS else text


def new_document(idea: str, text: str, sources: Sequence[Source], *, note: str = "") -> str:
    """Return a whole document. `note` says what is wrong with it, if anything."""
    body = _clean_links(text.strip(), sources, known=())
    titled = body if body.startswith("# ") else f"# {_make_inert(idea_title(idea))}\n\n{body}"
    return _join_parts(titled, note, _source_list(body, sources))


def append_update(before: str, text: str, sources: Sequence[Source], *, today: date, note: str = "") -> str:
    """Return the document with one more part, `## Update - <date>`, below which its own headings stand."""
    body = _clean_links(_nest_headings(_own_part(text)), sources, known=_footnote_numbers(before))
    return _join_parts(
        before.rstrip(), f"## Update - {today.isoformat()}", body, note, _source_list(body, sources, level=3)
    )


def contains_text(document: str, text: str) -> bool:
    """Return whether a text is in a document already, under whatever numbers its footnotes have there."""
    own, whole = _own_part(text), _without_footnotes(document)
    # Updates that were written before headings were nested have them as the model wrote them.
    return any(_without_footnotes(_make_inert(one)) in whole for one in (_nest_headings(own), own))


def _own_part(text: str) -> str:
    """Return a text without the title of a document."""
    return re.sub(r"\A# .*\n*", "", text.strip()) or text.strip()


def _nest_headings(text: str) -> str:
    """Return a text whose highest heading is one below that of an update."""
    parts = _FENCED.split(text)
    levels = [len(found[1]) for prose in parts[::2] for found in _HEADING.finditer(prose)]
    more = _UPDATE_LEVEL + 1 - min(levels, default=_UPDATE_LEVEL + 1)
    if more <= 0:
        return text

    def nest(found: re.Match[str]) -> str:
        return "#" * min(len(found[1]) + more, _MAX_LEVEL) + found[2]

    return "".join(part if index % 2 else _HEADING.sub(nest, part) for index, part in enumerate(parts))


def _without_footnotes(text: str) -> str:
    return _MARK_AFTER_BLANK.sub("", _NOTE.sub("", text)).strip()


def renumber_sources(sources: Iterable[Source], *, after: str | None) -> tuple[Source, ...]:
    """Return the sources with numbers that the footnotes of an earlier text do not use."""
    used = set(map(int, _footnote_numbers(after or "")))
    # A text may have a note with any number: after one with nine digits there would be no mark for the next.
    first = 1 + max((number for number in used if number <= _MAX_FOLLOWED), default=0)
    free = (number for number in count(first) if number not in used)
    return tuple(source.model_copy(update={"number": number}) for source, number in zip(sources, free, strict=False))


def _split_at_searches(message: AssistantMessage) -> list[tuple[AssistantBlock, ...]]:
    """Split the blocks at searches: a model does not search in the middle of a sentence."""
    parts: list[list[AssistantBlock]] = [[]]
    for block in message.blocks:
        if isinstance(block, ServerBlock):
            parts.append([])
        else:
            parts[-1].append(block)
    return [tuple(part) for part in parts]


def _clean_links(text: str, sources: Sequence[Source], *, known: Collection[str]) -> str:
    """Remove marks that lead nowhere, second notes for one mark, and everything that loads by itself."""
    ours = {str(source.number) for source in sources}
    text = _NOTE.sub(lambda note: "" if note[1] in ours or note[1] in known else note[0], text).rstrip()
    leads = ours | set(known) | _footnote_numbers(text)

    def remove_dead_marks(prose: str) -> str:
        return _MARK_AFTER_BLANK.sub(lambda mark: mark[0] if mark[1] in leads else "", prose)

    return _make_inert(_change_prose(text, remove_dead_marks))


def _make_inert(text: str) -> str:
    """Return a text that loads, runs and redirects nothing wherever it is shown; a blank breaks what would."""
    text = _LOADED.sub("< ", _PICTURE.sub("! ", controls_safe(text)))
    text = _TAG.sub(lambda tag: f"< {tag[1]}{tag[2]}" if _is_active_tag(tag[1], tag[2]) else tag[0], text)
    return _DESTINATION.sub(lambda link: f"] {link[1]}{link[2]}" if _is_active(link[2]) else link[0], text)


def _is_active_tag(tag: str, end: str) -> bool:
    """Return whether a tag, or a link in angle brackets, could run something; one without an end could say more."""
    plain = html.unescape(tag)
    return not end or bool(_RUNS.search(plain)) or _is_active(plain) or any(map(_is_active, plain.split("=")[1:]))


def _is_active(destination: str) -> bool:
    """Return whether a link leads to something else than a page, as a browser reads it: past blanks and escapes."""
    plain = _IGNORED.sub("", html.unescape(destination)).lstrip("<\"'").casefold()
    scheme = _SCHEME.match(plain)
    return scheme is not None and scheme[1] not in _HARMLESS and not _LOCAL_PORT.match(plain)


def _change_prose(text: str, change: Callable[[str], str]) -> str:
    return "".join(part if index % 2 else change(part) for index, part in enumerate(_CODE.split(text)))


def _footnote_numbers(text: str) -> set[str]:
    return set(_NOTE.findall(text))


def _source_list(body: str, sources: Sequence[Source], *, level: int = 2) -> str:
    """List all sources by their numbers, and where the text refers to one, the footnote that its mark leads to."""
    if not sources:
        return ""
    marks = set(_MARK.findall(body))
    cited = [source for source in sources if str(source.number) in marks]
    listed = "\n".join(f"{source.number}. {_link(source)}" for source in sources)
    return _make_inert(_join_parts(f"{'#' * level} Sources", listed, footnotes(cited)).rstrip())


def _link(source: Source) -> str:
    return footnotes([source]).partition(": ")[2]


def _join_parts(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
