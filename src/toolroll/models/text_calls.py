"""Find the calls that a model has written into its text: as JSON, in fences, in tags, slightly broken.

Small models write `{"name": ..., "arguments": {...}}` where they should make a call, and large ones do now and then.
Nothing is guessed: a call has a name and its arguments, and what is cut off in the middle of a text is none.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from toolroll.kernel.data.serialize import dump_json, replace_surrogates

MAX_CALL_DEPTH: Final = 5
"""How deep models wrap a call: a list of calls, a call, its function."""
MAX_OBJECTS: Final = 20
"""As many calls as the largest models make in one turn; each place that could begin one costs a look at the rest."""
MAX_MENDED_CHARACTERS: Final = 100_000
"""Of an object that is not quite JSON: as long as a file that a model would write."""
MAX_MISSING_BRACKETS: Final = 3
"""At the end of an object: models lose count of them."""

_DECODER: Final = json.JSONDecoder(strict=False)
"""Takes line breaks inside of texts, which models do not always escape."""
_NAMES: Final = ("tool", "name", "function", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_FENCE: Final = "```"
_CLOSERS: Final = {"{": "}", "[": "]"}
_ESCAPES: Final = frozenset('"\\/bfnrtu')

_TAG_WITH_ATTRIBUTES: Final = re.compile(
    r"""<function\s+name=["']([\w.-]{1,64})["']\s+arguments=(['"])(\{.*?\})\2\s*/?>""", re.DOTALL
)
_TAG_WITH_NAME: Final = re.compile(r"<function=([\w.-]{1,64})>(.*?)</function>", re.DOTALL)
_TAG_WITH_PARTS: Final = re.compile(r"<name>\s*([\w.-]{1,64})\s*</name>\s*<arguments>(.*?)</arguments>", re.DOTALL)
_PARAMETER: Final = re.compile(r"<(?:parameter=)?([\w.-]{1,64})>\n?(.*?)\n?</(?:parameter|\1)>", re.DOTALL)
_AROUND: Final = re.compile(r"```\w*|</?(?:tools?|tool_calls?|function_calls?|function|response)>|[\s\[\],;]")
"""What may stand around a call that is the whole of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCall:
    """A call in a text: its name, its arguments as JSON, and where it is."""

    name: str
    arguments: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """What a text comes to: words, and calls by name and arguments."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()


def parse_text(text: str, *, as_json: bool = False) -> ParsedText:
    """Find the calls in a text, else the answer in it, else return the text itself.

    `as_json` where the answer was asked for by a schema: then a text in it is JSON too.
    """
    calls = find_calls(text)
    if calls:
        return ParsedText(text=words_before(text, calls), calls=tuple((one.name, one.arguments) for one in calls))
    answers = [value["answer"] for _, _, value in _objects(text) if "answer" in value]
    if answers:
        return ParsedText(text="\n\n".join(_format_answer(one, as_json=as_json) for one in answers))
    return ParsedText(text=text)


def find_calls(text: str) -> tuple[FoundCall, ...]:
    """Return all calls in a text, in their order, whatever they name."""
    found = [
        FoundCall(name=name, arguments=arguments, start=start, end=end)
        for start, end, value in _objects(text)
        for name, arguments in _calls(value)
    ]
    return tuple(found or _tagged_calls(text))


def choose_calls(text: str, tools: Collection[str], *, only_whole: bool = False) -> tuple[FoundCall, ...]:
    """Return the calls of a text that was not asked for any: those that are meant to be run now.

    A text that is nothing but calls means all of them, also of tools that do not exist, which the model is then told.
    Among words, only the first one that names one of the `tools` counts: what follows is mostly a plan, made before
    anything is known. With `only_whole`, calls among words are just words.
    """
    calls = find_calls(text)
    if not calls:
        return ()
    if _is_nothing_else(text, calls):
        return calls
    named = tuple(one for one in calls if one.name in tools)
    return () if only_whole else named[:1]


def words_before(text: str, calls: tuple[FoundCall, ...]) -> str:
    """Return what a text says before its first call."""
    return _AROUND_END.sub("", text[: calls[0].start].partition(_FENCE)[0]).strip(" \n\t[")


_AROUND_END: Final = re.compile(r"(?:<(?:tools?|tool_calls?|function_calls?|function)>\s*)+\Z")


def is_raw_call(text: str) -> bool:
    """Return whether a text is nothing but calls: no answer that a person could read."""
    calls = find_calls(text)
    return bool(calls) and _is_nothing_else(text, calls)


def _is_nothing_else(text: str, calls: tuple[FoundCall, ...]) -> bool:
    rest, at = [], 0
    for one in calls:
        rest.append(text[at : max(at, one.start)])
        at = max(at, one.end)
    return not _AROUND.sub("", "".join([*rest, text[at:]]))


def _format_answer(answer: object, *, as_json: bool) -> str:
    return replace_surrogates(answer) if isinstance(answer, str) and not as_json else dump_json(answer)


def _objects(text: str) -> Iterator[tuple[int, int, Mapping[str, object]]]:
    """Find the objects in a text, each with its place, and skip broken ones."""
    at = text.find("{")
    for _ in range(MAX_OBJECTS):
        if at < 0:
            return
        value, end = _decode(text, at)
        if isinstance(value, Mapping):
            yield at, end, value
        at = text.find("{", end)


def _decode(text: str, at: int) -> tuple[object, int]:
    """Return the object that begins here and where it ends; None where there is none."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    mended, end = _mend(text, at)
    try:
        return _DECODER.decode(mended), end
    except (ValueError, RecursionError):
        return None, at + 1


def _mend(text: str, at: int) -> tuple[str, int]:
    """Return an object as JSON where only small things are wrong with it: commas, escapes, its last brackets."""
    out: list[str] = []
    open_: list[str] = []
    last = len(text.rstrip().removesuffix(_FENCE).rstrip())
    in_text, end, place = False, min(last, at + MAX_MENDED_CHARACTERS), at
    while place < end:
        char = text[place]
        if in_text and char == "\\" and place + 1 < end:
            following = text[place + 1]
            out.append(char + following if following in _ESCAPES else "\\\\" + following if following != "'" else "'")
            place += 2
            continue
        if char == '"':
            in_text = not in_text
        elif not in_text and char in _CLOSERS:
            open_.append(_CLOSERS[char])
        elif not in_text and char in "}]":
            _drop_comma(out)
            if not open_ or open_.pop() != char:
                return "", at + 1
        out.append(char)
        place += 1
        if not open_:
            return "".join(out), place
    if in_text or place < last or len(open_) > MAX_MISSING_BRACKETS:
        return "", at + 1  # cut off in the middle of a text: what it would have been nobody knows
    _drop_comma(out)
    return "".join([*out, *reversed(open_)]), place


def _drop_comma(out: list[str]) -> None:
    while out and out[-1].isspace():
        out.pop()
    if out and out[-1] == ",":
        out.pop()


def _calls(value: object, depth: int = MAX_CALL_DEPTH) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or not depth:
        return
    listed = value.get("tool_calls")
    if isinstance(listed, list):
        for one in listed:
            yield from _calls(one, depth - 1)
        return
    inner = value.get("function")
    if isinstance(inner, Mapping):
        yield from _calls(inner, depth - 1)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in _ARGUMENTS if isinstance(value.get(key), Mapping | str)), None)
    if isinstance(name, str) and given is not None:
        yield replace_surrogates(name), replace_surrogates(given) if isinstance(given, str) else dump_json(given)
    elif isinstance(name, str) and value.keys() == {"tool"}:
        yield replace_surrogates(name), "{}"


def _tagged_calls(text: str) -> Iterator[FoundCall]:
    """Find calls in tags, as models of the Qwen family write them."""
    if "<function" not in text and "<name>" not in text:
        return
    for found in _limited(_TAG_WITH_ATTRIBUTES, text):
        yield _tagged(found, found[3])
    for found in (*_limited(_TAG_WITH_NAME, text), *_limited(_TAG_WITH_PARTS, text)):
        inside = found[2].strip()
        is_object = isinstance(_decode(inside, 0)[0], Mapping) if inside.startswith("{") else False
        yield _tagged(found, inside if is_object else dump_json(_parameters(inside)))


def _limited(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return [found for found, _ in zip(pattern.finditer(text), range(MAX_OBJECTS), strict=False)]


def _tagged(found: re.Match[str], arguments: str) -> FoundCall:
    value, _ = _decode(arguments, 0)
    sent = dump_json(value) if isinstance(value, Mapping) else arguments
    return FoundCall(name=found[1], arguments=replace_surrogates(sent), start=found.start(), end=found.end())


def _parameters(text: str) -> dict[str, object]:
    return {found[1]: _plain_value(found[2]) for found in _limited(_PARAMETER, text)}


def _plain_value(text: str) -> object:
    """Return a number or a truth value as such: tags hold nothing but text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text
