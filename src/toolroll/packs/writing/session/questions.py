"""What a person is asked about calls of a writing session: the same words on every surface."""

from collections.abc import Mapping
from typing import Final

from toolroll.packs.writing.texts.messages import Key

NO_SEARCHES: Final = "the person wants no web searches for this post"
QUESTIONS: Final[Mapping[str, Key]] = {
    "save_to_file": "ask_save",
    "write_to_notion": "ask_notion",
    "update_style_profile": "ask_profile_change",
}
"""The question about a call of each tool; all others are asked about with `ask_allow`."""
