"""An OpenAI event stream put together to the response it stands for. Pure: events in, deltas and a response out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from toolroll.errors import ModelError, NetworkFailed
from toolroll.models.body import read_json, text_of
from toolroll.models.failures import ErrorBody, error_in
from toolroll.models.model import CallDelta, Delta, ReasoningDelta, TextDelta

_NOTHING: Final[Sequence[Delta]] = ()


class ResponseAssembly:
    """Waits for the end of one response, which the last event brings whole, and shows what comes before it."""

    def __init__(self, fail: Callable[[ErrorBody], ModelError]) -> None:
        self._fail = fail
        self._calls: dict[int, tuple[str, str]] = {}
        self._done: dict[int, dict[str, Any]] = {}
        self._response: dict[str, Any] | None = None

    def feed(self, data: str) -> Sequence[Delta]:
        """Take one event; returns what a person could be shown of it."""
        event = read_json(data)
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return (TextDelta(text=event["delta"]),)
            case "response.function_call_arguments.delta":
                call_id, name = self._calls[event["output_index"]]
                return (CallDelta(call_id=call_id, name=name, arguments=event["delta"]),)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (ReasoningDelta(text=event["delta"]),)
            case "response.reasoning_summary_part.added" if event["summary_index"]:
                return (ReasoningDelta(text="\n\n"),)
            case "response.output_item.added":
                return self._added(event["output_index"], event.get("item") or {})
            case "response.output_item.done":
                self._done[event["output_index"]] = event["item"]
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = dict(event["response"].items())  # anything but an object fails here, as unreadable
            case "error":
                raise self._fail(_error(event))
            case _:
                pass
        return _NOTHING

    def finish(self) -> dict[str, Any]:
        """The whole response; a stream without its last event is a broken connection, whatever arrived of it."""
        if self._response is None:
            raise NetworkFailed("The provider's stream ended before its response did.")
        if self._response.get("output"):
            return self._response
        return self._response | {"output": [self._done[index] for index in sorted(self._done)]}

    def _added(self, index: int, item: Mapping[str, Any]) -> Sequence[Delta]:
        if item.get("type") != "function_call":
            return _NOTHING
        call_id, name = self._calls[index] = (item["call_id"], item["name"])
        return (CallDelta(call_id=call_id, name=name, arguments=""),)


def _error(event: Mapping[str, Any]) -> ErrorBody:
    return error_in(event) or ErrorBody(code=text_of(event, "code"), message=text_of(event, "message"))
