"""The platforms that posts are for: their names, their limits, and how each counts the length of a post.

X weighs characters (twitter-text, configuration 3): letters of most alphabets count 1, Chinese, Japanese, Korean and
emoji 2, an emoji of many code points 2 all the same, and every link 23. LinkedIn and Instagram do not publish their
way: they are counted in UTF-16 units, as programs in a browser count. That is never less than the number of characters.
"""

import re
import unicodedata
from typing import Final, Literal, TypeAlias, get_args

Platform: TypeAlias = Literal["linkedin", "instagram", "x"]

PLATFORMS: Final[tuple[Platform, ...]] = get_args(Platform)

LINK_WEIGHT: Final = 23
"""What X makes of every link, whatever its length (transformedURLLength)."""
EMOJI_WEIGHT: Final = 2
LIMITS: Final[dict[Platform, int]] = {"linkedin": 3_000, "instagram": 2_200, "x": 280}
"""The maximum of each platform, for profiles that do not say."""

# The ranges that twitter-text gives the weight 100 of its scale of 100; all others have 200.
_LIGHT: Final = ((0, 4351), (8192, 8205), (8208, 8223), (8242, 8247))
_DOMAINS: Final = (
    "com|org|net|edu|gov|info|io|ai|app|dev|me|co|ua|uk|de|pl|eu|us|tv|gg|ly|blog|news|online|site|tech|укр"
)
_PATH: Final = r"(?:[/?#][^\s<>\"«»“”]*[^\s<>\"«»“”.,:;!?)\]'’…])?/?"
_LINK: Final = re.compile(
    rf"https?://[^\s<>\"«»“”]*[^\s<>\"«»“”.,:;!?)\]'’…]|(?<![\w@.-])(?:[\w-]+\.)+(?:{_DOMAINS})(?![\w-]|\.\w){_PATH}",
    re.IGNORECASE,
)
_ONE_EMOJI: Final = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|"
    "[\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]\ufe0f?[\U0001f3fb-\U0001f3ff]?(?:[\U000e0020-\U000e007f]+)?)"
)
_EMOJI: Final = re.compile(f"{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*")


def post_length(text: str, platform: Platform) -> int:
    """Return the length that the platform compares with its limit."""
    if platform == "x":
        return _weighted_length(unicodedata.normalize("NFC", text))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def find_emoji(text: str) -> list[str]:
    """Return every emoji; those of several code points are whole."""
    return [found for found in _EMOJI.findall(text) if _is_emoji(found)]


def remove_links(text: str) -> str:
    """Return the text with a blank for each link."""
    return _LINK.sub(" ", text)


def _weighted_length(text: str) -> int:
    rest, links = _LINK.subn("", text)
    emoji = find_emoji(rest)
    plain = _EMOJI.sub(lambda found: "" if _is_emoji(found[0]) else found[0], rest)
    return links * LINK_WEIGHT + len(emoji) * EMOJI_WEIGHT + sum(map(_weight, plain))


def _weight(character: str) -> int:
    return 1 if any(first <= ord(character) <= last for first, last in _LIGHT) else 2


def _is_emoji(found: str) -> bool:
    """Return whether it is shown as an emoji: of older symbols, only those that ask for it."""
    asks = "\ufe0f" in found or "\u20e3" in found
    return asks or found[0] >= "\U0001f000" or unicodedata.east_asian_width(found[0]) == "W"
