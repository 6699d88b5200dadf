"""Tools of a user's own, one of which never ends by itself."""

import asyncio
from pathlib import Path

from toolroll import tool


@tool
def look(path: str = "gate") -> str:
    """Look at a part of the garden."""
    return f"{path} is here"


@tool(effect="writes")
async def dig(bed: int) -> str:
    """Dig a bed over, for a long time."""
    Path("digging").touch()
    await asyncio.sleep(600)
    return f"bed {bed} is dug over"


@tool(effect="writes")
def plant(seed: str) -> str:
    """Plant a seed."""
    return f"planted {seed}"
