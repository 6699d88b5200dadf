"""Hold back what may become a call while a model writes: nobody should watch a call being spelled out as text."""

import re
from typing import Final

MAX_KEY_CHARACTERS: Final = 40
"""Of the first key of an object: no key of a call is that long."""

_BEGINNING: Final = re.compile(r"```|\{|<(?:tool|func|name)")
"""Where a call may begin, in a text of which nothing is held."""
_MAY_GROW: Final = re.compile(r"`{1,2}\Z|<[a-z]{0,3}\Z")
"""The end of a piece that the next one may continue to a beginning."""
_UNDECIDED: Final = re.compile(r"(?:```\w{0,12}\s*)?(?:\{\s*(?:\"[^\"]*)?|)\Z", re.DOTALL)
"""A fence, a bracket and half of a key: what it is shows with the next pieces."""
_CALL: Final = re.compile(
    r"(?:```\w{0,12}\s*)?\{\s*\"(?:tool|name|function|tool_name|tool_calls|arguments|parameters|type|id)\""
    r"|(?:```\w{0,12}\s*)?<(?:tool|function|name)"
)


class HeldText:
    """Sorts the text of one turn into what can be shown at once, and what is held until its end."""

    def __init__(self) -> None:
        self._held = ""
        self._is_call = False

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown now."""
        self._held += piece
        if self._is_call:
            return ""
        shown = ""
        while self._held:
            found = _BEGINNING.search(self._held)
            if found is None:
                growing = _MAY_GROW.search(self._held)
                end = growing.start() if growing else len(self._held)
                return shown + self._release(end)
            shown += self._release(found.start())
            if _CALL.match(self._held):
                self._is_call = True
                return shown
            if _UNDECIDED.match(self._held) and len(self._held) <= MAX_KEY_CHARACTERS:
                return shown
            shown += self._release(found.end() - found.start())
        return shown

    def flush(self) -> str:
        """Return what is held, and hold nothing any more."""
        return self._release(len(self._held))

    def _release(self, characters: int) -> str:
        shown, self._held = self._held[:characters], self._held[characters:]
        return shown
