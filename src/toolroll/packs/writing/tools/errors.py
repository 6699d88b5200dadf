"""How the tools of this pack fail: every answer is `{success: false, error, message, ...}`, with a stable code."""

from collections.abc import Iterator
from contextlib import contextmanager

from toolroll.errors import ChangeRefused, ProfileInvalid, ProfileMissing, ToolFailure, ToolrollError
from toolroll.packs.writing.texts.error_texts import describe_error
from toolroll.packs.writing.texts.messages import Lang


@contextmanager
def tool_errors(lang: Lang) -> Iterator[None]:
    """Turn errors of ours into the answer of a tool: the error's code, its description, and its fields."""
    try:
        yield
    except ToolrollError as error:
        raise tool_failure(error.code, describe_error(error, lang), **_fields(error)) from error


def tool_failure(code: str, message: str, /, **more: object) -> ToolFailure:
    """Return a failure with that code, and a message for the person and the model."""
    return ToolFailure({"success": False, "error": code, "message": message, **more}, code=code)


def _fields(error: ToolrollError) -> dict[str, object]:
    match error:
        case ProfileMissing():
            return {"available_profiles": list(error.available)}
        case ProfileInvalid():
            return {"problems": list(error.faults)}
        case ChangeRefused():
            return {"fields": list(error.fields), "problems": list(error.faults)}
        case _:
            return {}
