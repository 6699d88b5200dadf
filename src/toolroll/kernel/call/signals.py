"""Exceptions that end a call in a way of its own: the executor turns each of them into a result."""


class Done(Exception):
    """Raise or return it in a tool to end the run with that message."""

    message: str = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


class Answered(Exception):
    """Raise it in a preview to say that there is nothing to approve: the value is the answer, and nothing runs."""

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.value = value


class Unclean(Exception):
    """The tool has answered with `value`, and what one of its dependencies does after that failed with `error`."""

    def __init__(self, value: object, error: BaseException) -> None:
        super().__init__(value, error)
        self.value = value
        self.error = error
