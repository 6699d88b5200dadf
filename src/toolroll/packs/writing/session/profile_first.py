"""The one hard rule: no draft is written in a turn in which the profile was not read (W11).

The program enforces it in two places. `begin_turn` starts each turn with the read itself, as a visible call and its
result. `ProfileFirst` is a hook: if a profile is missing from a request (the turn was begun in another way, a result
was trimmed, the conversation was compacted), it is read from the file, and if that fails the model is not asked.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolroll.agent.context_function import RunContext
from toolroll.agent.hooks import Hook
from toolroll.errors import JsonRefused, RequestRefused, ToolrollError, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.call.context import random_id
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Message,
    Part,
    ToolCall,
    ToolMessage,
    ToolResults,
    UserMessage,
)
from toolroll.kernel.data.serialize import dump_json
from toolroll.messages import Template
from toolroll.models.model import ModelRequest
from toolroll.packs.writing.profiles.names import DEFAULT
from toolroll.packs.writing.profiles.profile_format import MAX_PROFILE_BYTES
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.tools.profile_tools import profile_answer, read_style_profile

NO_PROFILE_GIVEN: Final = Template("no_profile_given", "A draft needs at least one style profile.")()
READ: Final = read_style_profile.name


def begin_turn(
    store: ProfileStore,
    prompt: "str | Sequence[Part]",
    *,
    profiles: Sequence[str] = (DEFAULT,),
    messages: Iterable[Message] = (),
    make_id: Callable[[], str] = random_id,
) -> tuple[Message, ...]:
    """Return the conversation with the prompt and then the read of each profile, to start an agent with.

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


class ProfileFirst(Hook):
    """A hook that puts these profiles into every request of a run, whoever began its turn."""

    def __init__(self, store: ProfileStore, *, profiles: Sequence[str] = (DEFAULT,)) -> None:
        self._store = store
        self._profiles = _require_profiles(profiles)

    def before_model(self, _ctx: RunContext, request: ModelRequest, /) -> ModelRequest | None:
        """Add what is missing; raise `RequestRefused` where a profile is neither in the turn nor can be read."""
        seen = set(find_read_profiles(request.messages))
        unseen = [name for name in self._profiles if name not in seen]
        return self._add(request, unseen) if unseen else None

    def _add(self, request: ModelRequest, names: Sequence[str]) -> ModelRequest:
        try:
            read = [f"Style profile '{name}':\n{dump_json(self._store.read(name).fields)}" for name in names]
        except ToolrollError as error:
            raise RequestRefused(f"Nothing is drafted without the style profile. {error.message}") from error
        return replace(request, system="\n\n".join([request.system, *read]).strip())


def find_read_profiles(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the profiles that were read whole since the last message of the user."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return
        if isinstance(message, ToolResults):
            yield from (name for result in message.results if (name := _profile_in(result)))


def _profile_in(result: ToolMessage) -> str | None:
    """Return the profile in a result; None if the read failed or the result was cut."""
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
        raise UsageError(NO_PROFILE_GIVEN)
    return tuple(dict.fromkeys(profiles))
