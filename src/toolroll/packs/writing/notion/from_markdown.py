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
    """Return blocks of at most 100 texts, each of at most 2,000 characters. `limits.fit` does the rest."""
    text = replace_surrogates(markdown)
    import markdown_it.tree  # noqa: PLC0415 - only who writes to Notion pays for it

    parser = markdown_it.MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable("strikethrough").disable(["code", "lheading", "reference", "entity", "html_block"])
    tokens = parser.parse(text)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return _as_text(text)
    return _convert_nodes(markdown_it.tree.SyntaxTreeNode(tokens).children)


def _as_text(text: str) -> list[Block]:
    parts = (part.strip() for part in _BLANK.split(text))
    return [one for part in parts if part for one in _split_block("paragraph", _make_texts([_Run(content=part)]))]


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


def _convert_nodes(nodes: "Sequence[SyntaxTreeNode]") -> list[Block]:
    return [block for node in nodes for block in _convert_node(node)]


def _convert_node(node: "SyntaxTreeNode") -> list[Block]:
    match node.type:
        case "paragraph":
            return _split_block("paragraph", _make_rich(node))
        case "heading":
            level = min(int(node.tag.removeprefix("h")), _HEADING_LEVELS)
            return _split_block(f"heading_{level}", _make_rich(node))
        case "fence":
            rich = _make_texts([_Run(content=node.content.removesuffix("\n"))])
            return _split_block("code", rich, language=notion_language(node.info))
        case "hr":
            return [{"type": "divider", "divider": {}}]
        case "blockquote":
            rich, rest = _split_lead(node.children)
            return _split_block("quote", rich, _convert_nodes(rest))
        case "bullet_list":
            return [block for item in node.children for block in _make_bullet(item)]
        case _:  # an ordered list: there is no other block left that the parser knows
            start = int(node.attrs.get("start", 1))
            return [block for place, item in enumerate(node.children) for block in _make_numbered(item, start, place)]


def _make_bullet(item: "SyntaxTreeNode") -> list[Block]:
    runs, rest = _split_lead_runs(item.children)
    box = _BOX.match(runs[0].content) if runs else None
    if box is None:
        return _split_block("bulleted_list_item", _make_texts(runs), _convert_nodes(rest))
    runs = [replace(runs[0], content=runs[0].content[box.end() :]), *runs[1:]]
    return _split_block("to_do", _make_texts(runs), _convert_nodes(rest), checked=box[1] != " ")


def _make_numbered(item: "SyntaxTreeNode", start: int, place: int) -> list[Block]:
    """Return an item of a list that Notion numbers from 1; of one that begins elsewhere ("2026. The year"), a text."""
    runs, rest = _split_lead_runs(item.children)
    if start == 1:
        return _split_block("numbered_list_item", _make_texts(runs), _convert_nodes(rest))
    number = _Run(content=f"{start + place}{item.markup} ")
    return _split_block("paragraph", _make_texts(_merge_runs(iter([number, *runs]))), _convert_nodes(rest))


def _split_block(kind: str, rich: Sequence[Block], children: Sequence[Block] = (), **more: object) -> list[Block]:
    """Return a block, and as many after it as its text needs; its children are in the last that is of its own kind."""
    first, *others = split_rich(rich)
    if kind not in _LIKE_ITSELF:
        return [make_block(kind, first, [*(make_block("paragraph", one) for one in others), *children], **more)]
    *before, last = (first, *others)
    return [*(make_block(kind, one, (), **more) for one in before), make_block(kind, last, children, **more)]


def _split_lead(nodes: "Sequence[SyntaxTreeNode]") -> "tuple[list[Block], Sequence[SyntaxTreeNode]]":
    runs, rest = _split_lead_runs(nodes)
    return _make_texts(runs), rest


def _split_lead_runs(nodes: "Sequence[SyntaxTreeNode]") -> "tuple[list[_Run], Sequence[SyntaxTreeNode]]":
    """Return the text that an item or quote begins with, and what comes after."""
    if nodes and nodes[0].type == "paragraph":
        return _merge_runs(_collect_runs(nodes[0].children, _Run())), nodes[1:]
    return [], nodes


def _make_rich(node: "SyntaxTreeNode") -> list[Block]:
    return _make_texts(_merge_runs(_collect_runs(node.children, _Run())))


def _collect_runs(nodes: "Sequence[SyntaxTreeNode]", style: _Run) -> Iterator[_Run]:
    for node in nodes:
        match node.type:
            case "softbreak" | "hardbreak":
                yield replace(style, content="\n")
            case "code_inline":
                yield replace(style, content=node.content, marks=style.marks | {"code"})
            case "strong" | "em" | "s":
                yield from _collect_runs(node.children, replace(style, marks=style.marks | {_MARKS[node.type]}))
            case "link":
                yield from _link_runs(node, str(node.attrs["href"]), style)
            case "image":
                yield from _link_runs(node, str(node.attrs["src"]), style)
            case "inline":
                yield from _collect_runs(node.children, style)
            case _:
                yield replace(style, content=node.content)


def _link_runs(node: "SyntaxTreeNode", url: str, style: _Run) -> Iterator[_Run]:
    """Return a link; where Notion would refuse the page for its address, the address as text."""
    if url.lower().startswith(_LINKS) and len(url) <= MAX_URL_CHARACTERS:
        runs = list(_collect_runs(node.children, replace(style, url=url)))
        yield from runs or [replace(style, url=url, content=url)]
        return
    yield from _collect_runs(node.children, style)
    if url:
        yield replace(style, content=f" ({url})")


def _merge_runs(runs: Iterator[_Run]) -> list[_Run]:
    merged: list[_Run] = []
    for run in runs:
        if merged and (merged[-1].marks, merged[-1].url) == (run.marks, run.url):
            merged[-1] = replace(run, content=merged[-1].content + run.content)
        else:
            merged.append(run)
    return merged


def _make_texts(runs: Sequence[_Run]) -> list[Block]:
    return [run.as_text(piece) for run in runs for piece in split_text(run.content)]


def notion_language(info: str) -> str:
    """Return what Notion calls the language that stands after a fence; plain text where it knows none such."""
    whole = " ".join(info.lower().split())
    if whole in LANGUAGES:
        return whole
    first = whole.partition(" ")[0]
    name = _ALIASES.get(first, first)
    return name if name in LANGUAGES else PLAIN_CODE
