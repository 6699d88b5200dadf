"""The one hard rule: no draft is written in a turn in which the profile was not read (W11).

It is kept by the program, in two places. `drafting_turn` begins each turn with the read itself, as a call and its
result that everybody can see. `ProfileFirst` stands before the model: a request of a turn that lacks a profile (a turn
that was begun otherwise, a result that was trimmed, a conversation that was compacted) gets it from the file, and
where that cannot be read, the model is not asked at all.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolroll.errors import JsonRefused, RequestRefused, ToolrollError, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    Origin,
    Part,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.profile_format import MAX_PROFILE_BYTES
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.tools.profile_tools import profile_answer, read_style_profile

READ: Final = read_style_profile.name


def begin_turn(
    store: ProfileStore,
    prompt: "str | Sequence[Part]",
    *,
    profiles: Sequence[str] = (DEFAULT,),
    messages: Iterable[Message] = (),
    make_id: Callable[[], str] = random_id,
) -> tuple[Message, ...]:
    """The conversation with the prompt and the read of each profile behind it, to run an agent on without a prompt.

    Raises what the store raises where a profile cannot be read: then there is nothing to draft by.
    """
    answers = [(name, dump_json(profile_answer(store.read(name).fields))) for name in _require_profiles(profiles)]
    calls = [
        ToolCall(id=f"read_{make_id()}", name=READ, arguments=dump_json({"profile_name": name})) for name, _ in answers
    ]
    results = tuple(
        ToolMessage(call_id=call.id, name=READ, content=answer)
        for call, (_, answer) in zip(calls, answers, strict=True)
    )
    return (
        *messages,
        UserMessage.of(prompt if isinstance(prompt, str) else tuple(prompt)),
        AssistantMessage(blocks=tuple(CallBlock(call=call) for call in calls)),
        ToolResults(results=results),
    )


class ProfileFirst:
    """A model that is asked only with these profiles before its eyes, whoever makes the request."""

    def __init__(self, model: Model, store: ProfileStore, *, profiles: Sequence[str] = (DEFAULT,)) -> None:
        self._model = model
        self._store = store
        self._profiles = _require_profiles(profiles)

    @property
    def origin(self) -> Origin:
        """The model behind it."""
        return self._model.origin

    def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The model's turn; `RequestRefused` where a profile is neither in the turn nor to be read."""
        seen = set(find_read_profiles(request.messages))
        unseen = [name for name in self._profiles if name not in seen]
        return self._model.respond(self._with(request, unseen) if unseen else request, stream=stream)

    async def aclose(self) -> None:
        """Close the connections of the model behind it, if it has any."""
        close = getattr(self._model, "aclose", None)
        if close is not None:
            await close()

    def _with(self, request: ModelRequest, names: Sequence[str]) -> ModelRequest:
        try:
            read = [f"Style profile '{name}':\n{dump_json(self._store.read(name).fields)}" for name in names]
        except ToolrollError as error:
            raise RequestRefused(f"Nothing is drafted without the style profile. {error.message}") from error
        return replace(request, system="\n\n".join([request.system, *read]).strip())


def find_read_profiles(messages: Sequence[Message]) -> Iterator[str]:
    """The profiles whose whole text stands in the turn: what was read since somebody last spoke."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return
        if isinstance(message, ToolResults):
            yield from (name for result in message.results if (name := _profile_in(result)))


def _profile_in(result: ToolMessage) -> str | None:
    """The profile that a result brings; None for a failed one, and for one that was cut."""
    if result.name != READ or result.is_error or not isinstance(result.content, str):
        return None
    try:
        answer = parse_json(result.content, limit_bytes=2 * MAX_PROFILE_BYTES)
    except JsonRefused:
        return None
    profile = answer.get("profile") if isinstance(answer, dict) else None
    return str(profile.get("profile_name")) if isinstance(profile, dict) else None


def _require_profiles(profiles: Sequence[str]) -> tuple[str, ...]:
    if not profiles:
        raise UsageError("A draft needs at least one style profile to be written by.")
    return tuple(dict.fromkeys(profiles))
