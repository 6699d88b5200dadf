"""Files that say where modules are."""

from posixpath import basename
from typing import Final

MANIFESTS: Final = frozenset(
    {
        "Cargo.toml",
        "Package.swift",
        "composer.json",
        "go.mod",
        "go.work",
        "jsconfig.json",
        "package.json",
        "pnpm-workspace.yaml",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
    }
)
"""Files that say where modules are: when one changes, every import may lead elsewhere."""


def is_manifest(path: str) -> bool:
    """Whether a change of this file may change where imports of others lead."""
    name = basename(path)
    return name in MANIFESTS or (name.startswith("tsconfig") and name.endswith(".json"))
