"""Telling a cancellation that somebody asked for from one that only looks like it."""


def is_being_cancelled(error: BaseException) -> bool:
    """Whether the error must go on: this task is being cancelled or closed, or the person pressed Ctrl-C."""
    import asyncio  # noqa: PLC0415 - only after an error, and whoever gets here runs a loop already

    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return True
    if not isinstance(error, asyncio.CancelledError):
        return False
    # A tool can raise CancelledError itself, or let one out of a future it waited for: that is its failure alone.
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
