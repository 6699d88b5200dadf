"""Words that a terminal cuts in two."""

HANG = 9
"""How far the words of a finding stand from the edge; a word that fits on no such line may be cut."""


def cut_words(line: str, columns: int) -> list[str]:
    """The words of a line that a terminal of this width would cut in two, though a line could hold them."""
    found = []
    for at in range(columns, len(line), columns):
        head, tail = line[:at].rpartition(" ")[2], line[at:].partition(" ")[0]
        if head and tail and len(head + tail) <= columns - HANG:
            found.append(head + tail)
    return found
