"""Descriptors, counted: as many are open afterwards as before."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_many_descriptors() -> Iterator[None]:
    """Inside, the garbage collector rests: it would close what an earlier test left open, and spoil the count."""
    gc.disable()
    try:
        before = len(os.listdir("/dev/fd"))
        yield
        assert len(os.listdir("/dev/fd")) == before
    finally:
        gc.enable()
