"""`done`: the clear way to end a run (K60). An answer without a tool call ends it as well."""

from typing import Annotated

from pydantic import Field

from toolroll.kernel.call.result import Done
from toolroll.kernel.define.decorator import tool


@tool
async def done(
    message: Annotated[
        str, Field(description="What the user reads last: the answer, or what was done and what is not.")
    ],
) -> Done:
    """End the run with a final message for the user. Call it once, when everything is finished."""
    return Done(message)
