"""A weekly report of the board."""

import sys
from pathlib import Path

from teaboard.board import Debt, load_debts


def weekly_report(debts: list[Debt]) -> str:
    """One line for each debt, largest first."""
    # TODO: leave out what was settled
    ordered = sorted(debts, key=lambda debt: -debt.cups)
    return "\n".join(f"{debt.debtor} -> {debt.creditor}: {debt.cups}" for debt in ordered)


if __name__ == "__main__":
    print(weekly_report(load_debts(Path(sys.argv[1]))))
