"""Writing one output, piece by piece."""

from types import TracebackType
from typing import Self

from toolroll.kernel.messages import OutputRef


class OutputWriter:
    """An output on its way: `write` never raises for a full disk; `ref` is None until it is kept, or if it is not."""

    ref: OutputRef | None = None

    def write(self, piece: str | bytes) -> None:
        """Add a piece."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError
