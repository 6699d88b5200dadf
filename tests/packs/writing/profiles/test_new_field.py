"""A new field of the profile is one line in `schema.py` and a label in each language: everything else follows (W1)."""

import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import toolroll

BEFORE = "    emoji_usage: str\n"
FIELD = (
    '    rhythm: Annotated[str, FieldSpec(mix="techniques", hint="how sentences follow", since=2, initial="even")]\n'
)
PROGRAM = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path

from toolroll.packs.writing.profiles.analysis import _analysis_prompt
from toolroll.packs.writing.profiles.changes import changes_between
from toolroll.packs.writing.profiles.description import describe_profile
from toolroll.packs.writing.profiles.mix import load_style
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.session.prompt import system_prompt
from toolroll.packs.writing.session.profile_first import begin_turn

store, now = ProfileStore(Path(sys.argv[1])), datetime(2026, 2, 9, tzinfo=UTC)
draft = sample_profile("en")
store.create(draft, now=now)
other = {**draft, "profile_name": "alex", "voice": {**draft["voice"], "rhythm": "broken"}}
store.create(other, now=now)

raw = json.loads(store.raw("default"))
assert (raw["schema_version"], raw["voice"]["rhythm"]) == (2, "even"), "stored"
old = {key: value for key, value in raw.items() if key != "schema_version"}
del old["voice"]["rhythm"]
path = Path(sys.argv[1]) / "profiles" / "default.json"
path.write_text(json.dumps(old))
assert store.read("default").fields["voice"]["rhythm"] == "even", "migrated"
assert store.listing().names == ("alex", "default"), "listed"

labels = {lang: [str(one) for one in describe_profile(store.read("alex").fields, lang)] for lang in ("en", "uk")}
assert "Rhythm: broken" in labels["en"] and "Ритм: broken" in labels["uk"], "shown"

mixed = load_style(store, "default", "alex")
assert mixed.fields["voice"]["rhythm"] == "broken", "mixed"
assert "rhythm" in system_prompt(mixed, lang="en"), "in the prompt of a mix"
assert "rhythm" in str(begin_turn(store, "tea")), "in the prompt"
assert "rhythm: how sentences follow." in _analysis_prompt(), "analysed"

before = store.read("alex").fields
edited = {**before, "voice": {**before["voice"], "rhythm": "slow"}}
changes = changes_between(before, edited)
assert changes == {"voice.rhythm": "slow"}, "edited"
assert store.propose("alex", changes).differences[0].old == "broken", "compared"
store.update("alex", changes, reason="r", now=now)
assert store.read("alex").profile.voice.rhythm == "slow", "changed"
"""


def test_W1_a_field_that_is_described_once_is_everywhere(tmp_path: Path) -> None:
    package = tmp_path / "toolroll"
    copytree(Path(toolroll.__file__).parent, package, ignore=ignore_patterns("__pycache__"))
    writing = package / "packs" / "writing"
    schema = writing / "profiles" / "schema.py"
    source = schema.read_text(encoding="utf-8")
    assert source.count(BEFORE) == 1
    schema.write_text(source.replace(BEFORE, BEFORE + FIELD), encoding="utf-8")
    for lang, label in (("en", "Rhythm"), ("uk", "Ритм")):
        texts = writing / "texts" / f"{lang}.toml"
        named = texts.read_text(encoding="utf-8").splitlines()
        at = next(number for number, line in enumerate(named) if line.startswith("[names.field]"))
        texts.write_text("\n".join([*named[: at + 1], f'rhythm = "{label}"', *named[at + 1 :]]), encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "data")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
