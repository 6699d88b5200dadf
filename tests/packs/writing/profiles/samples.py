"""A style profile for tests: what a draft of it says, and what is in its file."""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

NOW: Final = datetime(2026, 2, 9, 10, 0, tzinfo=UTC)
STAMP: Final = "2026-02-09T10:00:00Z"

_DRAFT: Final[dict[str, Any]] = {
    "profile_name": "default",
    "profile_type": "personal",
    "source": "12 постів з LinkedIn",
    "language": "uk",
    "voice": {
        "tone": "дружній, трохи іронічний",
        "formality": "casual",
        "personality": "практик, який ділиться",
        "sentence_style": "короткі речення",
        "paragraph_style": "1-2 речення",
        "hooks": ["питання", "цифра"],
        "closings": ["запитання до читача"],
        "signature_phrases": ["ось у чому штука"],
        "avoid": ["синергія"],
        "emoji_usage": "майже ніколи",
    },
    "platforms": {
        "linkedin": {
            "max_length": 1500,
            "structure": "hook, історія, висновок",
            "formatting": "короткі абзаци",
            "tone_override": None,
            "hashtags": "3",
        }
    },
    "examples": [
        {"id": "1", "platform": "linkedin", "text": "Вигорання — це не втома.", "why_good": "hook", "added_at": STAMP}
    ],
}
_CREATED: Final = {"version": 1, "date": STAMP, "action": "created", "description": "Створено профіль."}


def draft(**changes: object) -> dict[str, Any]:
    """What a new profile says."""
    return deepcopy(_DRAFT) | changes


def fields(**changes: object) -> dict[str, Any]:
    """A whole profile."""
    made = {"version": 1, "created_at": STAMP, "updated_at": STAMP, "changelog": [dict(_CREATED)]}
    return draft() | made | changes


def put(data: Path, profile: Mapping[str, object] | bytes | str, name: str | None = None) -> Path:
    """A file in the folder of profiles, as somebody else would put it there."""
    content = json.dumps(profile, ensure_ascii=False) if isinstance(profile, Mapping) else profile
    name = name or (str(profile["profile_name"]) if isinstance(profile, Mapping) else "default")
    folder = data / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def state_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their content, locks aside: what must not change."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if not path.name.endswith(".lock")}
