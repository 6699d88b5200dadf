"""The model at work on one post: turn after turn of one conversation, each with the profiles before its eyes."""

from collections.abc import Callable, Sequence

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event
from toolroll.agent.result import RunResult
from toolroll.agent.run import new_run, play
from toolroll.agent.state import RunState
from toolroll.kernel.conversation import Message
from toolroll.packs.writing.profiles import ProfileStore
from toolroll.packs.writing.rule import drafting_turn


class Writer:
    """Asks the model, and keeps what was said; `results` are all runs that it took, in their order."""

    def __init__(
        self,
        agent: Agent[None],
        store: ProfileStore,
        profiles: Sequence[str],
        *,
        hear: Callable[[Event], None],
        note: Callable[[RunState], None],
    ) -> None:
        self._agent = agent
        self._store = store
        self._profiles = profiles
        self._hear = hear
        self._note = note
        self._messages: tuple[Message, ...] = ()
        self.results: list[RunResult[object]] = []

    async def answer(self, prompt: str, *more: Message) -> RunResult[object]:
        """What the model says to that; `more` stands behind the prompt, as if the model had asked for it.

        Raises what the store raises for a profile that cannot be read, and the model's `ModelError`.
        """
        said = drafting_turn(self._store, prompt, profiles=self._profiles, messages=self._messages)
        state = new_run(self._agent.setup, (*said, *more), self._hear, stream=True)
        self._note(state)
        result = await play(state)
        self._messages = result.messages
        self.results.append(result)
        return result
