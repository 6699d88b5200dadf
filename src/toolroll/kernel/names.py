"""Tool names: what providers take, checked when a tool is made."""

import re
from typing import Final

from toolroll.errors import DefinitionError
from toolroll.safe.limits import MAX_TOOL_NAME_CHARACTERS

_NAME: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_TOOL_NAME_CHARACTERS}}}")


def check_name(name: str) -> None:
    """Refuse a name that a provider would refuse later."""
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            f"A tool cannot be named {name!r}: providers take 1 to {MAX_TOOL_NAME_CHARACTERS} of a-z, A-Z, 0-9, "
            "'_' and '-'. Pass name=... to give it another one.",
            tool=name,
        )
