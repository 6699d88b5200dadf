"""Text on a page: nothing hidden in it, nothing of it obeyed, and never more than there is room for."""

import base64
import hashlib
from html import escape
from typing import Final

from toolroll.safe.text import visible

PAGE_CHARACTERS: Final = 4_000_000
"""Of all texts together. A phone shows a page of this size in about a second; twice as much takes it four times."""
TEXT_CHARACTERS: Final = 12_000
"""Of one text: what a person reads before they search instead."""
FULL_CHARACTERS: Final = 80
"""Of one text on a page that is full."""
_TAIL: Final = 4
"""One part in so many of what is shown of a long text is its end: there errors stand."""


class PageBudget:
    """What is left of a page."""

    def __init__(self, characters: int = PAGE_CHARACTERS) -> None:
        self.left: int = characters

    @property
    def is_full(self) -> bool:
        """Return whether nothing more goes on the page."""
        return self.left <= 0

    def text(self, text: str, *, where: str, most: int = TEXT_CHARACTERS) -> str:
        """Return the text for HTML; of a long one the beginning, a note `where` the whole is, and the end."""
        most = self._most(most)
        if len(text) <= most:
            return self._spend(escape_text(text))
        tail = most // _TAIL
        head, end = escape_text(text[: most - tail]), escape_text(text[-tail:])
        return self._spend(head + _cut(len(text) - most, where) + end)

    def diff(self, text: str, *, where: str) -> str:
        """Return a difference, line by line, with what was added and removed marked."""
        shown = text[: self._most(TEXT_CHARACTERS)]
        lines = "\n".join(map(_diff_line, shown.split("\n")))
        rest = len(text) - len(shown)
        return self._spend(lines + (_cut(rest, where) if rest else ""))

    def _most(self, wanted: int) -> int:
        return min(wanted, max(self.left, FULL_CHARACTERS))

    def _spend(self, text: str) -> str:
        self.left -= len(text)
        return text


def escape_text(text: str) -> str:
    """Return the text for HTML with everything invisible spelled out: no tag, no escape sequence."""
    return escape(visible(text, show_crlf=False))


def _cut(characters: int, where: str) -> str:
    return f'<span class="cut">[{characters:,} characters are left out here. {escape_text(where)}]</span>'


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1])
    return escape_text(line) if kind is None else f'<span class="{kind}">{escape_text(line)}</span>'


STYLE: Final = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --dim: #59636e; --line: #d1d9e0; --soft: #f6f8fa;
  --model: #0969da; --call: #6639ba; --bad: #b3202a; --good: #116329; --ask: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #3d444d;
  --soft: #151b23; --model: #4493f8; --call: #b083f0; --bad: #ff7b72; --good: #56d364; --ask: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; } h3 { font-size: 1rem; margin: .5rem 0; }
header, footer, article, section { margin: 0 0 1rem; }
article { border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .8rem .6rem; }
article article { margin-top: .6rem; }
article.said { border-left: .3rem solid var(--good); } article.turn { border-left: .3rem solid var(--model); }
article.note { border-style: dashed; }
pre, .text { white-space: pre-wrap; margin: .4rem 0; } pre { font: .85rem/1.4 ui-monospace, monospace;
  background: var(--soft); border-radius: .3rem; padding: .5rem; tab-size: 4;
  max-height: 30rem; overflow: auto; }
details { border-top: 1px solid var(--line); padding: .3rem 0; }
summary { cursor: pointer; } summary:focus-visible, a:focus-visible { outline: 2px solid var(--model); }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .1rem .8rem; margin: .5rem 0; }
dt, .dim { color: var(--dim); } dd { margin: 0; }
.bad { color: var(--bad); } .good { color: var(--good); } .ask { color: var(--ask); }
.added { color: var(--good); } .removed { color: var(--bad); } .hunk { color: var(--call); }
.cut { color: var(--ask); font-style: italic; display: block; }
svg { width: 100%; height: auto; background: var(--soft); border-radius: .3rem; }
svg .m { fill: var(--model); } svg .c { fill: var(--call); } svg .e { fill: var(--bad); }
a { color: var(--model); } nav ol { display: flex; flex-wrap: wrap; gap: .2rem .8rem; padding: 0; list-style: none; }
@media print { details { display: block; } }
"""


def content_policy() -> str:
    """Return a policy by which nothing is loaded or run, and only this style, known by its hash, is used."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
