"""Figures for the eye: numbers that people read, bars and lines of blocks, in letters that every terminal has."""

from collections.abc import Mapping, Sequence
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_STEPS: Final = "·▁▂▃▄▅▆▇█"
_PLAIN_STEPS: Final = ".:-=+*#%@"
_SIZES: Final = ("B", "kB", "MB", "GB", "TB")
_THOUSAND: Final = 1_000
_MINUTE_MS: Final = 60_000


def has_blocks(encoding: str | None, environment: Mapping[str, str]) -> bool:
    """Whether blocks can be shown: by the encoding of the output, and by the locale, which Python may overrule."""
    locale = next((environment[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(name)), "")
    charset = locale.partition(".")[2].partition("@")[0]
    is_plain = locale in ("C", "POSIX") or (charset != "" and not _is_utf8(charset))
    return _is_utf8(encoding or "") and not is_plain


def _is_utf8(name: str) -> bool:
    return name.casefold().replace("-", "") == "utf8"


def bar(value: float, most: float, width: int, *, blocks: bool) -> str:
    """A bar of at most that width; something is seen of whatever is more than nothing."""
    if most <= 0 or value <= 0:
        return ""
    eighths = max(1, round(width * 8 * min(value / most, 1.0)))
    if not blocks:
        return "#" * max(1, round(eighths / 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def sparkline(values: Sequence[float], *, blocks: bool) -> str:
    """One letter for each value, the highest for the largest."""
    steps = _STEPS if blocks else _PLAIN_STEPS
    most = max(values, default=0)
    return "".join(steps[0] if value <= 0 else steps[max(1, round(8 * value / most))] for value in values)


def duration(milliseconds: float | None) -> str:
    """A time in at most seven letters."""
    if milliseconds is None:
        return "-"
    if milliseconds >= _MINUTE_MS:
        return f"{milliseconds / _MINUTE_MS:.1f} m"
    if milliseconds >= _THOUSAND:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 1 else "<1 ms"


def size(count: float) -> str:
    """A number of bytes in at most six letters."""
    for unit in _SIZES[:-1]:
        if round(count) < _THOUSAND:
            return f"{count:.0f} {unit}"
        count /= _THOUSAND
    return f"{count:.0f} {_SIZES[-1]}"


def dollars(cost: float, unpriced: int, steps: int) -> str:
    """What it cost, as far as that is known."""
    if unpriced and unpriced == steps:
        return "cost unknown"
    return f"${cost:,.2f}" if cost >= 0.01 or cost == 0 else f"${cost:.4f}"  # noqa: PLR2004 - a cent
