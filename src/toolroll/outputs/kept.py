"""One kept output, to be read back."""

from toolroll.kernel.messages import OutputRef, Part


class KeptOutput:
    """An output as it was kept: `ref`, `run_id`, `call_id`, `tool`, `made` (seconds since 1970)."""

    ref: OutputRef

    def content(self) -> str | bytes | tuple[Part, ...]:
        """All of it, exactly as it was kept; for small ones."""
        raise NotImplementedError
