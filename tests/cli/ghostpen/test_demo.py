"""`ghostpen --demo`: the whole flow, honest about what is recorded, and gone without a trace."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.ghostpen.author import Desk
from tests.support.programs import environment, ghostpen
from tests.support.terminal import Pseudo

from toolroll.packs.writing.texts.messages import Lang, languages

COMMAND = ghostpen("--demo")
SHOWN: dict[Lang, tuple[str, ...]] = {
    "en": (
        "The answers of the model and yours are recorded",
        "Profile 'default', version 1",
        "> post about the first frost and bicycle chains for LinkedIn  (recorded)",
        "\n· The draft breaks 1 rule; rewriting it…\n",
        "> too formal  (recorded)",
        "· Noted: too formal (3 of 3).",
        "You have said this 3 times. Update voice.formality in your profile?",
        "voice.formality\n- businesslike\n+ casual: as one talks at the workbench",
        "Profile 'default' is now at version 2.",
        "> save  (recorded)\nSaved: ",
        "style_profile_version: 2",
        "feedback-tracker.json: too formal (0)\n",
        "Try next",
    ),
    "uk": (
        "Відповіді моделі й ваші взято із запису",
        "> занадто формально  (із запису)",
        "· Занотовано: занадто формально (1 з 3).",
        "- діловий\n+ невимушено: так, як говорять біля верстата",
        "  (із запису)\nЗбережено: ",
        "topic: перші морози",
        "feedback-tracker.json: занадто формально (0)\n",
        "Що спробувати далі",
    ),
}


@pytest.mark.parametrize("lang", languages())
def test_W30_W34_the_demo_shows_the_whole_flow(desk: Desk, lang: Lang) -> None:
    told = desk.run("--demo", "--lang", lang)
    assert (told.code, told.err) == (0, "")
    places = [told.out.find(one) for one in SHOWN[lang]]
    assert -1 not in places, SHOWN[lang][places.index(-1)]
    assert places == sorted(places), "in this order"


def test_S2_W30_the_demo_as_json_is_told_as_a_real_post_is(desk: Desk) -> None:
    """Event by event, with the drafts: whoever reads these lines reads those of `ghostpen REQUEST --json`."""
    told = desk.run("--demo", "--json")
    assert (told.code, told.err) == (0, "")
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert [line["index"] for line in lines] == list(range(1, len(lines) + 1))
    assert sum(line["event"] == "draft" for line in lines) == 4
    assert "save_to_file" in [line["name"] for line in lines if line["event"] == "tool_result"]
    *before, last = lines
    assert "run_finished" not in {line["event"] for line in before}
    assert (last["event"], last["outcome"], last["rounds"], last["warnings"]) == ("run_finished", "saved", 4, [])


def test_S8_W30_the_demo_needs_no_key_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        env=environment(tmp_path / "home", TMPDIR=str(tmp_path)),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in done.stdout


def test_S8_W30_the_demo_at_a_terminal(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    with Pseudo(COMMAND, env=env, cwd=tmp_path, stdout_on_terminal=True) as terminal:
        assert terminal.end()[0] == 0
    assert "ghostpen init --sample" in terminal.text


@pytest.mark.parametrize("lang", languages())
def test_S8_W30_on_a_narrow_terminal_the_demo_is_broken_between_words(tmp_path: Path, lang: Lang) -> None:
    env = environment(tmp_path / "home", TMPDIR=str(tmp_path))
    with Pseudo([*COMMAND, "--lang", lang], env=env, cwd=tmp_path, columns=40, stdout_on_terminal=True) as terminal:
        assert terminal.end()[0] == 0
    lines = terminal.text.splitlines()
    assert [line for line in lines if len(line) > 40 and " " in line.strip()] == []
