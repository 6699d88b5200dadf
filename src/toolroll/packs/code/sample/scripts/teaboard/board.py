"""The debts of a board."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Debt:
    """Somebody owes somebody cups of tea."""

    debtor: str
    creditor: str
    cups: int


def load_debts(path: Path) -> list[Debt]:
    """All debts in the file of the board."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Debt(debtor=row["from"], creditor=row["to"], cups=row["cups"]) for row in rows]
