"""Syntax colours for code, line by line (S11): what a line costs does not depend on how much came before it.

Pygments reads each line by itself. Only where a line ends inside of something that can go on, such as a docstring or a
comment, the lines of it are read again with the next one.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from pygments.lexer import Lexer  # type: ignore[import-untyped]  # pygments has no types
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # as above
from pygments.token import (  # type: ignore[import-untyped]  # as above
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
    _TokenType,
)
from rich.style import Style
from rich.text import Text

MAX_LINE_CHARACTERS: Final = 400
"""A longer line is data rather than code, and costs more than its colours are worth."""

MAX_CONTEXT_LINES: Final = 60
"""Of a docstring or a comment that goes on; what is longer begins anew."""

_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("py", "pyi", "python", "python3"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "javascript"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "typescript"), "typescript"),
    **dict.fromkeys(("sh", "bash", "zsh", "shell"), "bash"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "c++"), "cpp"),
    **dict.fromkeys(("cs", "csharp"), "csharp"),
    **dict.fromkeys(("rs", "rust"), "rust"),
    **dict.fromkeys(("rb", "ruby"), "ruby"),
    **dict.fromkeys(("kt", "kotlin"), "kotlin"),
    **dict.fromkeys(("html", "htm"), "html"),
    **{name: name for name in ("css", "diff", "go", "java", "json", "lua", "php", "scala", "sql", "swift", "toml")},
}
"""Languages by the word behind a fence and by the ending of a file: those whose rules are known to be quick."""

_STYLES: Final[tuple[tuple[_TokenType, Style], ...]] = (
    (Comment, Style(dim=True, italic=True)),
    (String, Style(color="green")),
    (Number, Style(color="cyan")),
    (Keyword, Style(color="magenta")),
    (Operator.Word, Style(color="magenta")),
    (Name.Function, Style(color="blue", bold=True)),
    (Name.Class, Style(color="blue", bold=True)),
    (Name.Decorator, Style(color="yellow")),
    (Name.Tag, Style(color="blue")),
    (Name.Builtin, Style(color="cyan")),
    (Token.Generic.Inserted, Style(color="green")),
    (Token.Generic.Deleted, Style(color="red")),
)
"""The terminal's own colours, so that they fit a light background and a dark one."""

_OPEN_ENDED: Final = (Comment, String)


class Highlighter:
    """Colours the lines of one text, in their order."""

    def __init__(self, language: str) -> None:
        self._lexer = _find_lexer(language)
        self._context: list[str] = []

    @property
    def is_known(self) -> bool:
        """Return whether there are colours for this language."""
        return self._lexer is not None

    def colour(self, line: str, *, is_growing: bool = False) -> Text:
        """Return a line that was made safe, with its colours; one that `is_growing` will come again."""
        if self._lexer is None or len(line) > MAX_LINE_CHARACTERS:
            return Text(line)
        before = "".join(f"{one}\n" for one in self._context)
        tokens = list(self._lexer.get_tokens_unprocessed(f"{before}{line}\n"))
        text = Text(line)
        for at, kind, value in tokens:
            start, end = at - len(before), at - len(before) + len(value)
            if end > 0 and (style := _find_style(kind)) is not None:
                text.stylize(style, max(start, 0), min(end, len(line)))
        if not is_growing:
            self._keep([*self._context, line], tokens)
        return text

    def _keep(self, lines: list[str], tokens: Iterable[tuple[int, _TokenType, str]]) -> None:
        """Keep the lines from the one on which the last string or comment begins, where nothing else follows it."""
        begins: int | None = None
        for at, kind, value in tokens:
            if any(kind in one for one in _OPEN_ENDED):
                begins = at if begins is None else begins
            elif value.strip():
                begins = None
        if begins is None or len(lines) > MAX_CONTEXT_LINES:
            self._context = []
            return
        at = 0
        for number, line in enumerate(lines):
            at += len(line) + 1
            if begins < at:
                self._context = lines[number:]
                return


@cache
def _find_lexer(language: str) -> Lexer | None:
    name = _NAMES.get(language.casefold())
    return None if name is None else get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _find_style(kind: _TokenType) -> Style | None:
    return next((style for one, style in _STYLES if kind in one), None)
