"""Markdown as blocks of Notion, within its limits (W18). No word is lost: what is no Markdown is text.

Posts are written line by line, so a line end stays one. What CommonMark does to plain text by accident is off: indented
code, headings by underlining, entities, HTML, and definitions of links, which it does not show.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.packs.writing.notion.blocks import PLAIN_CODE, Block, Mark, make_block
from toolroll.packs.writing.notion.limits import split_rich, split_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode


LANGUAGES: Final = frozenset(
    {
        "abap",
        "arduino",
        "bash",
        "basic",
        "c",
        "clojure",
        "coffeescript",
        "c++",
        "c#",
        "css",
        "dart",
        "diff",
        "docker",
        "elixir",
        "elm",
        "erlang",
        "flow",
        "fortran",
        "f#",
        "gherkin",
        "glsl",
        "go",
        "graphql",
        "groovy",
        "haskell",
        "html",
        "java",
        "javascript",
        "json",
        "julia",
        "kotlin",
        "latex",
        "less",
        "lisp",
        "livescript",
        "lua",
        "makefile",
        "markdown",
        "markup",
        "matlab",
        "mermaid",
        "nix",
        "objective-c",
        "ocaml",
        "pascal",
        "perl",
        "php",
        "plain text",
        "powershell",
        "prolog",
        "protobuf",
        "python",
        "r",
        "reason",
        "ruby",
        "rust",
        "sass",
        "scala",
        "scheme",
        "scss",
        "shell",
        "sql",
        "swift",
        "typescript",
        "vb.net",
        "verilog",
        "vhdl",
        "visual basic",
        "webassembly",
        "xml",
        "yaml",
    }
)
_ALIASES: Final[Mapping[str, str]] = {
    "cpp": "c++",
    "cs": "c#",
    "dockerfile": "docker",
    "js": "javascript",
    "jsx": "javascript",
    "md": "markdown",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "shell",
    "ts": "typescript",
    "tsx": "typescript",
    "yml": "yaml",
}


MAX_NESTING: Final = 40
"""Of lists and quotes in each other, two for each level; the parser leaves out what is deeper, so then all is text."""

MAX_URL_CHARACTERS: Final = 2_000
_LINKS: Final = ("http://", "https://", "mailto:")
_LIKE_ITSELF: Final = frozenset({"paragraph", "quote", "code"})
_HEADING_LEVELS: Final = 3
_MARKS: Final[dict[str, Mark]] = {"strong": "bold", "em": "italic", "s": "strikethrough"}
_BOX: Final = re.compile(r"\[([ xX])\] ")
_BLANK: Final = re.compile(r"\n\s*\n")


def from_markdown(markdown: str) -> list[Block]:
    """The blocks; each text has at most 2,000 characters, each block at most 100 texts. `limits.fit` does the rest."""
    text = replace_surrogates(markdown)
    tokens = _parser().parse(text)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return _as_text(text)
    from markdown_it.tree import SyntaxTreeNode  # noqa: PLC0415 - as below

    return _blocks(SyntaxTreeNode(tokens).children)


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only who writes to Notion pays for it

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    return parser.enable("strikethrough").disable(["code", "lheading", "reference", "entity", "html_block"])


def _as_text(text: str) -> list[Block]:
    parts = (part.strip() for part in _BLANK.split(text))
    return [one for part in parts if part for one in _spread("paragraph", _texts([_Run(content=part)]))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Text in one style."""

    content: str = ""
    marks: frozenset[Mark] = frozenset()
    url: str = ""

    def as_text(self, content: str) -> Block:
        held: Block = {"content": content}
        if self.url:
            held["link"] = {"url": self.url}
        text: Block = {"type": "text", "text": held}
        return text | {"annotations": dict.fromkeys(sorted(self.marks), True)} if self.marks else text


def _blocks(nodes: "Sequence[SyntaxTreeNode]") -> list[Block]:
    return [block for node in nodes for block in _of(node)]


def _of(node: "SyntaxTreeNode") -> list[Block]:
    match node.type:
        case "paragraph":
            return _spread("paragraph", _rich(node))
        case "heading":
            level = min(int(node.tag.removeprefix("h")), _HEADING_LEVELS)
            return _spread(f"heading_{level}", _rich(node))
        case "fence":
            rich = _texts([_Run(content=node.content.removesuffix("\n"))])
            return _spread("code", rich, language=notion_language(node.info))
        case "hr":
            return [{"type": "divider", "divider": {}}]
        case "blockquote":
            rich, rest = _led(node.children)
            return _spread("quote", rich, _blocks(rest))
        case "bullet_list":
            return [block for item in node.children for block in _bullet(item)]
        case _:  # an ordered list: there is no other block left that the parser knows
            start = int(node.attrs.get("start", 1))
            return [block for place, item in enumerate(node.children) for block in _numbered(item, start, place)]


def _bullet(item: "SyntaxTreeNode") -> list[Block]:
    runs, rest = _led_runs(item.children)
    box = _BOX.match(runs[0].content) if runs else None
    if box is None:
        return _spread("bulleted_list_item", _texts(runs), _blocks(rest))
    runs = [replace(runs[0], content=runs[0].content[box.end() :]), *runs[1:]]
    return _spread("to_do", _texts(runs), _blocks(rest), checked=box[1] != " ")


def _numbered(item: "SyntaxTreeNode", start: int, place: int) -> list[Block]:
    """An item of a list that Notion numbers from 1; of a list that begins elsewhere ("2026. The year"), a text."""
    runs, rest = _led_runs(item.children)
    if start == 1:
        return _spread("numbered_list_item", _texts(runs), _blocks(rest))
    number = _Run(content=f"{start + place}{item.markup} ")
    return _spread("paragraph", _texts(_merged(iter([number, *runs]))), _blocks(rest))


def _spread(kind: str, rich: Sequence[Block], children: Sequence[Block] = (), **more: object) -> list[Block]:
    """A block, and as many after it as its text needs; its children are in the last that is of its own kind."""
    first, *others = split_rich(rich)
    if kind not in _LIKE_ITSELF:
        return [make_block(kind, first, [*(make_block("paragraph", one) for one in others), *children], **more)]
    *before, last = (first, *others)
    return [*(make_block(kind, one, (), **more) for one in before), make_block(kind, last, children, **more)]


def _led(nodes: "Sequence[SyntaxTreeNode]") -> "tuple[list[Block], Sequence[SyntaxTreeNode]]":
    runs, rest = _led_runs(nodes)
    return _texts(runs), rest


def _led_runs(nodes: "Sequence[SyntaxTreeNode]") -> "tuple[list[_Run], Sequence[SyntaxTreeNode]]":
    """The text that an item or quote begins with, and what comes after."""
    if nodes and nodes[0].type == "paragraph":
        return _merged(_runs(nodes[0].children, _Run())), nodes[1:]
    return [], nodes


def _rich(node: "SyntaxTreeNode") -> list[Block]:
    return _texts(_merged(_runs(node.children, _Run())))


def _runs(nodes: "Sequence[SyntaxTreeNode]", style: _Run) -> Iterator[_Run]:
    for node in nodes:
        match node.type:
            case "softbreak" | "hardbreak":
                yield replace(style, content="\n")
            case "code_inline":
                yield replace(style, content=node.content, marks=style.marks | {"code"})
            case "strong" | "em" | "s":
                yield from _runs(node.children, replace(style, marks=style.marks | {_MARKS[node.type]}))
            case "link":
                yield from _linked(node, str(node.attrs["href"]), style)
            case "image":
                yield from _linked(node, str(node.attrs["src"]), style)
            case "inline":
                yield from _runs(node.children, style)
            case _:
                yield replace(style, content=node.content)


def _linked(node: "SyntaxTreeNode", url: str, style: _Run) -> Iterator[_Run]:
    """A link; where Notion would refuse the page for its address, the address as text."""
    if url.lower().startswith(_LINKS) and len(url) <= MAX_URL_CHARACTERS:
        runs = list(_runs(node.children, replace(style, url=url)))
        yield from runs or [replace(style, url=url, content=url)]
        return
    yield from _runs(node.children, style)
    if url:
        yield replace(style, content=f" ({url})")


def _merged(runs: Iterator[_Run]) -> list[_Run]:
    merged: list[_Run] = []
    for run in runs:
        if merged and (merged[-1].marks, merged[-1].url) == (run.marks, run.url):
            merged[-1] = replace(run, content=merged[-1].content + run.content)
        else:
            merged.append(run)
    return merged


def _texts(runs: Sequence[_Run]) -> list[Block]:
    return [run.as_text(piece) for run in runs for piece in split_text(run.content)]


def notion_language(info: str) -> str:
    """What Notion calls the language that stands after a fence; plain text where it knows none such."""
    whole = " ".join(info.lower().split())
    if whole in LANGUAGES:
        return whole
    first = whole.partition(" ")[0]
    name = _ALIASES.get(first, first)
    return name if name in LANGUAGES else PLAIN_CODE
