"""`python -m toolroll` is the command `toolroll`."""

from toolroll.cli.entry import toolroll

toolroll()
