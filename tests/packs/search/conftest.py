"""What the tests of searching stand on: services on loopback."""

from collections.abc import AsyncIterator

import pytest
from tests.packs.search.services import Services


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    """All four services, in good order."""
    async with Services() as running:
        yield running
