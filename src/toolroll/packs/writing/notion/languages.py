"""The languages that Notion knows for code; it refuses a page with any other one."""

from collections.abc import Mapping
from typing import Final

from toolroll.packs.writing.notion.blocks import PLAIN_CODE

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


def notion_language(info: str) -> str:
    """What Notion calls the language that stands after a fence; plain text where it knows none such."""
    whole = " ".join(info.lower().split())
    if whole in LANGUAGES:
        return whole
    first = whole.partition(" ")[0]
    name = _ALIASES.get(first, first)
    return name if name in LANGUAGES else PLAIN_CODE
