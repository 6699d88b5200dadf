"""Notion on loopback, for all tests of writing."""

from collections.abc import Iterator

import pytest
from tests.packs.writing.notion.workspace import Workspace


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """A workspace of Notion with nothing in it."""
    with Workspace() as workspace:
        yield workspace
