"""`python -m toolroll`."""

import subprocess
import sys

from toolroll import __version__


def test_the_package_can_be_run_as_a_module() -> None:
    said = subprocess.run([sys.executable, "-m", "toolroll", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout == f"toolroll {__version__}\n"
