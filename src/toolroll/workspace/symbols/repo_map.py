"""Map what matters most in a workspace, in few tokens: files that others import, with what they are used for."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, cast

from toolroll.workspace.symbols.definitions import is_test_or_example
from toolroll.workspace.symbols.symbol import GROUPS, Symbol

if TYPE_CHECKING:
    from toolroll.workspace.symbols.store import Store

CHARACTERS_A_TOKEN: Final = 3.5  # of source code; prose has four
MAX_SYMBOLS_A_FILE: Final = 12
_MAX_FILES: Final = 2_000  # that are looked at: no budget has room for more
_DEPTH: Final = GROUPS["class"] | GROUPS["function"]
_IMPORTED: Final = (
    "select path, count(distinct file) from edges where path is not null and certainty = 'resolved' "
    "group by path order by 2 desc limit ?"
)
_NAMES: Final = (
    "select name, count(distinct edges.file) from edges join names using (import) where edges.path = ? group by name "
    "order by 2 desc limit 1000"
)
_FILES: Final = (
    "select path from files join symbols on file = id where exported group by id order by count(*) desc limit ?"
)


def repo_map(store: "Store", budget_tokens: int) -> str:
    """Return the map as text, at most so long: a line for each file, its definitions indented below."""
    left, parts = int(budget_tokens * CHARACTERS_A_TOKEN), []
    for path, importers in _rank_files(store):
        block = _block(store, path, importers, left)
        if block is None:
            break
        parts.append(block)
        left -= len(block)
    return "".join(parts)


def _rank_files(store: "Store") -> Iterator[tuple[str, int]]:
    """Yield files by how many others import them, then the rest by how much they define."""
    imported = [(cast("str", path), cast("int", n)) for path, n in store.all(_IMPORTED, (_MAX_FILES,))]
    imported.sort(key=lambda one: (is_test_or_example(one[0]), -one[1], one[0]))
    yield from imported
    seen = {path for path, _ in imported}
    others = [cast("str", path) for (path,) in store.all(_FILES, (_MAX_FILES,))]
    for path in sorted(set(others) - seen, key=lambda path: (is_test_or_example(path), others.index(path))):
        yield path, 0


def _block(store: "Store", path: str, importers: int, left: int) -> str | None:
    """Format one file with as many of its definitions as there is room for; None where there is no room."""
    used = f" (imported by {importers})" if importers else ""
    block = f"{path}{used}\n"
    if len(block) > left:
        return None
    for symbol in _most_used(store, path):
        line = f"  {symbol.line}: {symbol.signature}\n"
        if len(block) + len(line) > left:
            break
        block += line
    return block


def _most_used(store: "Store", path: str) -> list[Symbol]:
    uses = Counter({cast("str", name): cast("int", n) for name, n in store.all(_NAMES, (path,))})
    own = [symbol for symbol in store.outline(path) if symbol.parent is None and symbol.kind in _DEPTH]
    best = sorted(_first_of_each(own), key=lambda symbol: (-uses[symbol.name], not symbol.exported, symbol.line))
    return sorted(best[:MAX_SYMBOLS_A_FILE], key=lambda symbol: symbol.line)


def _first_of_each(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Drop overloads and prototypes, which repeat the same thing."""
    return list({symbol.name: symbol for symbol in reversed(list(symbols))}.values())
