"""Which backends a user has: by the keys and addresses in the environment, in a fixed order.

All of it comes from the user alone, so an address may be private; one that would send a key unencrypted to another
machine is refused at once.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from toolroll.packs.search import backends
from toolroll.packs.search.backend import LIMITS, Access, BackendContext, BackendSpec, SearchBackend
from toolroll.safe.net.http import HttpClient


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The backends that are set up, checked, each with how to reach it."""

    backends: tuple[tuple[BackendSpec, Access], ...]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "SearchSettings":
        """Return the settings in an environment; UsageError names a variable that makes no sense."""
        found = ((spec, spec.read_access(environment)) for spec in backends.BACKENDS)
        return cls(backends=tuple((spec, access) for spec, access in found if access is not None))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the backends in the order in which they are asked."""
        return tuple(spec.name for spec, _ in self.backends)

    def make_backends(self, context: BackendContext) -> tuple[SearchBackend, ...]:
        """Make the backends, in their order."""
        return tuple(spec.make(access, context) for spec, access in self.backends)


async def open_client() -> AsyncIterator[HttpClient]:
    """Open the client that all backends of a run share; close it when the run ends."""
    client = HttpClient(LIMITS)
    try:
        yield client
    finally:
        await client.aclose()
