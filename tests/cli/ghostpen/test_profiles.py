"""Profiles listed, shown, deleted, exported and imported, without a terminal (W32, W2, W3, W34)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.ghostpen.pen import Pen
from tests.packs.writing.profiles.samples import fields, put, state_of
from tests.support.author import trust_data
from tests.support.programs import environment, ghostpen

from toolroll.errors import ProfileFixed, ProfileNewer, UsageError
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.texts.error_texts import describe_error


def test_W32_without_profiles_the_list_says_how_to_begin(pen: Pen) -> None:
    told = pen.run("profile", "list", "--lang", "uk")
    assert (told.code, told.out, told.err) == (0, "", "Профілів ще немає. Почніть із `ghostpen init`.\n")
    assert pen.json("profile", "list") == {"profiles": [], "total": 0, "unreadable": []}


def test_W32_the_list_has_personal_ones_first_and_what_cannot_be_read(pen: Pen) -> None:
    put(pen.data, fields(profile_name="a-ref", profile_type="reference", language="en"))
    put(pen.data, fields())
    put(pen.data, "{", "broken")
    told = pen.run("profile", "list", "--lang", "en")
    assert told.out.splitlines() == [
        "default  personal, Ukrainian, v1  дружній, трохи іронічний",
        "a-ref  reference, English, v1  дружній, трохи іронічний",
    ]
    assert "broken.json is not a profile: " in told.err
    told = pen.run("profile", "list", "--lang", "uk")
    assert told.out.splitlines() == [
        "default  особистий, українська, v1  дружній, трохи іронічний",
        "a-ref  референсний, англійська, v1  дружній, трохи іронічний",
    ]
    listed = pen.json("profile", "list")
    assert ([one["name"] for one in listed["profiles"]], listed["total"]) == (["default", "a-ref"], 2)
    assert [one["file"] for one in listed["unreadable"]] == ["broken.json"]


def test_W32_a_damaged_default_profile_is_not_told_as_none(pen: Pen) -> None:
    put(pen.data, "{", "default")
    told = pen.run("profile", "list", "--lang", "en")
    assert "There are no profiles yet" not in told.err
    advice = "`ghostpen profile edit NAME` opens a profile for repair, `ghostpen profile create NAME` creates it again"
    assert told.err.endswith(f"Damaged: default.json. {advice}; the old file is kept as a backup.\n")
    put(pen.data, fields(profile_name="alex"))
    told = pen.run("profile", "list", "--lang", "uk")
    assert told.out.startswith("alex  ")
    assert "Пошкоджено: default.json." in told.err


HOSTILE = "дружній \x1b]0;pwned\x07 \u202e\x1b[2J"


def test_W32_what_a_profile_says_is_spelt_out_in_a_pipe_too(pen: Pen) -> None:
    said = fields()
    put(pen.data, {**said, "voice": {**said["voice"], "tone": HOSTILE}, "source": HOSTILE})
    for command in ("list", "show"):
        out = pen.run("profile", command, "--lang", "en").out
        assert "дружній" in out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert pen.json("profile", "show")["profile"]["voice"]["tone"] == HOSTILE
    assert json.loads(pen.run("profile", "export", "default").out)["voice"]["tone"] == HOSTILE


def test_W32_W34_a_profile_is_shown_in_words_of_either_language(pen: Pen) -> None:
    put(pen.data, fields())
    told = pen.run("profile", "show", "--lang", "en").out
    head = "default  personal, v1, updated 2026-02-09 10:00 UTC\n"
    assert told.startswith(f"{head}Made from: 12 постів з LinkedIn\nLanguage: Ukrainian\n")
    assert "Begins with: питання · цифра\n" in told
    assert "linkedin · At most: 1500\n" in told
    assert "Tone there" not in told
    told = pen.run("profile", "show", "default", "--lang", "uk").out
    assert told.startswith(
        "default  особистий, v1, оновлено 2026-02-09 10:00 UTC\nДжерело: 12 постів з LinkedIn\nМова: українська\n"
    )
    assert "Уникає: синергія\n" in told
    assert pen.json("profile", "show") == {"profile": fields()}


def test_W34_without_an_option_or_a_locale_the_profile_says_which_language(pen: Pen) -> None:
    put(pen.data, fields(language="uk"))
    assert "Тон: " in pen.run("profile", "show").out
    put(pen.data, fields(language="en"))
    assert "Tone: " in pen.run("profile", "show").out


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "Error: Profile 'nobody' not found. Available profiles: default."),
        ("uk", "Помилка: Профіль не знайдений: «nobody». Доступні профілі: default."),
    ],
)
def test_W34_a_profile_that_is_not_there_is_told_with_those_that_are(pen: Pen, lang: str, words: str) -> None:
    put(pen.data, fields())
    for command in (("show", "nobody"), ("delete", "nobody"), ("export", "nobody"), ("edit", "nobody")):
        told = pen.run("profile", *command, "--lang", lang)
        assert (told.code, told.err) == (1, f"{words}\n")
    assert json.loads(pen.run("profile", "show", "nobody", "--json").out)["error"]["code"] == "profile_not_found"


def test_W34_of_very_many_profiles_the_first_are_named(pen: Pen) -> None:
    for number in range(21):
        put(pen.data, fields(profile_name=f"p-{number}"))
    assert pen.run("profile", "show", "nobody", "--lang", "en").err.endswith(" ….\n")


def test_W34_where_there_is_none_init_is_named(pen: Pen) -> None:
    told = pen.run("profile", "show", "--lang", "uk").err
    assert told == "Помилка: Профіль не знайдений: «default». Запустіть `ghostpen init`, щоб створити свій.\n"


def test_W2_W34_every_broken_rule_is_told_in_ukrainian_too(pen: Pen) -> None:
    broken = fields(language="de", version=0, voice=None)
    put(pen.data, broken)
    told = pen.run("profile", "show", "--lang", "uk")
    assert told.code == 1
    assert "Профіль пошкоджений: «default»." in told.err
    assert "- language: має бути одним із: uk, en, uk+en\n" in told.err
    assert "- version: має бути числом, більшим за 0\n" in told.err
    assert "- voice: має бути групою полів із назвами\n" in told.err
    assert "must be a number over 0" in pen.run("profile", "show", "--lang", "en").err


@pytest.mark.parametrize(("lang", "words"), [("en", "is damaged"), ("uk", "Профіль пошкоджений")])
def test_W2_W34_who_has_a_damaged_profile_is_told_how_to_get_that_one_right(pen: Pen, lang: str, words: str) -> None:
    """`ghostpen init` would make the profile `default`."""
    put(pen.data, "{", "bad")
    told = pen.run("profile", "show", "bad", "--lang", lang)
    assert (told.code, words in told.err) == (1, True)
    assert "`ghostpen profile edit bad`" in told.err
    assert "`ghostpen profile create bad`" in told.err
    assert "ghostpen init" not in told.err


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads everything")
@pytest.mark.parametrize(
    ("lang", "words", "damaged"),
    [("en", "default.json cannot be read: ", "Damaged"), ("uk", "default.json неможливо прочитати: ", "Пошкоджено")],
)
def test_W2_W34_a_profile_that_the_system_keeps_closed_is_not_called_damaged(
    tmp_path: Path, lang: str, words: str, damaged: str
) -> None:
    pen = Pen(tmp_path)
    put(pen.data, fields())
    trust_data(pen.home, tmp_path)
    (pen.data / "profiles" / "default.json").chmod(0)
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = ghostpen("profile", "list")
    done = subprocess.run(
        [*prefix, *command, "--lang", lang], env=environment(pen.home), cwd=tmp_path, capture_output=True, check=False
    )
    told = done.stderr.decode()
    assert (done.returncode, told.startswith(words), damaged in told) == (0, True, False), told


@pytest.mark.parametrize(
    ("name", "en", "uk"),
    [
        ("a" * 300, "is too long for a profile: it has 300 characters", "задовге для профілю: у ньому 300 символів"),
        ("con", "Windows reserves it for a device", "у Windows воно зарезервоване для пристрою"),
        ("Anna", "Use up to 64 lower-case Latin letters", "Лише малі латинські літери"),
    ],
    ids=["long", "device", "large"],
)
def test_W3_W34_it_is_told_what_is_wrong_with_a_name(pen: Pen, name: str, en: str, uk: str) -> None:
    for lang, why in (("en", en), ("uk", uk)):
        told = pen.run("init", "--sample", "--name", name, "--lang", lang)
        assert (told.code, why in told.err, "a" * 64 in told.err) == (1, True, False), told


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that takes none")
@pytest.mark.parametrize(
    ("lang", "why"),
    [
        ("en", "Error: The folder '/proc/none' cannot be created. Name another folder with --data.\n"),
        ("uk", "Помилка: Теку «/proc/none» неможливо створити. Вкажіть іншу теку через --data.\n"),
    ],
)
def test_W32_W34_a_data_folder_that_cannot_be_made_is_told_as_that(pen: Pen, lang: str, why: str) -> None:
    pen.data = Path("/proc/none")
    told = pen.run("init", "--sample", "--lang", lang)
    assert (told.code, told.out, told.err) == (1, "", why)


@pytest.mark.parametrize("name", ["../x", "CON", "a" * 300, "-dash", "й", ".hidden", "a/b", ""])
@pytest.mark.parametrize("command", ["show", "export", "delete", "edit"])
def test_W3_a_hostile_name_is_refused_before_a_path_is_made_of_it(pen: Pen, command: str, name: str) -> None:
    put(pen.data, fields())
    before = state_of(pen.folder)
    told = pen.run(*_with(command, name))
    assert told.code in (1, 2)
    assert told.out == ""
    assert "Traceback" not in told.err
    assert state_of(pen.folder) == before


def _with(command: str, name: str) -> list[str]:
    # A name may begin with a dash: it comes after everything that is an option.
    return ["profile", command, f"./{name}" if name.startswith("-") else name]


def test_W32_a_profile_is_deleted_after_a_yes_and_a_backup_stays(pen: Pen) -> None:
    path = put(pen.data, fields(profile_name="old"))
    kept = path.read_bytes()
    assert pen.run("profile", "delete", "old").code == 3
    assert path.exists()
    told = pen.run("profile", "delete", "old", "--yes", "--lang", "en")
    assert (told.code, told.out) == (0, "Profile 'old' was deleted.\n")
    [backup] = (pen.data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == kept
    assert not path.exists()


def test_W32_the_default_profile_cannot_be_deleted(pen: Pen) -> None:
    path = put(pen.data, fields())
    for lang, words in (("en", "The default profile cannot be deleted."), ("uk", "не можна видалити")):
        told = pen.run("profile", "delete", "default", "--yes", "--lang", lang)
        assert (told.code, words in told.err) == (2, True)
    assert path.exists()


def test_W32_an_exported_profile_can_be_imported_elsewhere(pen: Pen) -> None:
    put(pen.data, fields(version=7))
    file = pen.folder / "out.json"
    told = pen.run("profile", "export", "default", "--output", str(file), "--lang", "en")
    assert (told.code, told.out) == (0, f"Profile 'default' was saved to {file}.\n")
    assert json.loads(pen.run("profile", "export", "default").out) == fields(version=7)
    assert pen.json("profile", "export", "default") == {"profile": fields(version=7)}
    told = pen.run("profile", "import", str(file), "--name", "copy", "--lang", "en")
    assert (told.code, told.out) == (0, "Profile 'copy' was saved: data/profiles/copy.json\n")
    copied = ProfileStore(pen.data).read("copy").fields
    assert copied == fields(profile_name="copy", version=7)


def test_W32_an_export_never_overwrites(pen: Pen) -> None:
    put(pen.data, fields())
    file = pen.file("mine", "out.json")
    told = pen.run("profile", "export", "default", "--output", file, "--lang", "uk")
    assert (told.code, "уже існує, його не змінено" in told.err) == (1, True)
    os.symlink("nowhere", pen.folder / "link.json")
    assert pen.run("profile", "export", "default", "--output", str(pen.folder / "link.json")).code == 1
    assert (pen.folder / "out.json").read_text() == "mine"
    assert not (pen.folder / "nowhere").exists()


def test_W32_W20_an_import_replaces_only_after_a_yes(pen: Pen) -> None:
    path = put(pen.data, fields())
    before = path.read_bytes()
    file = pen.file(json.dumps(fields(version=9)), "in.json")
    assert pen.run("profile", "import", file).code == 3
    assert path.read_bytes() == before
    assert pen.json("profile", "import", file, "--yes")["replaced"] is True
    assert ProfileStore(pen.data).read("default").profile.version == 9
    [backup] = (pen.data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "in.json' is not a profile, and nothing was imported:\n- the profile: "),
        ("[]", "must be a group of named fields"),
        ("{}", "profile_name: is missing\n- language: is missing\n- voice: is missing\n- platforms: is missing"),
        (json.dumps(fields(profile_name="con")), "'con' is not a valid profile name"),
        (json.dumps(fields(version=10**9 + 1)), "version: must be a number up to 1000000000"),
        (json.dumps(fields(profile_name="../x")), "'../x' is not a valid profile name"),
        (json.dumps(fields(version=0)), "version: must be a number over 0"),
        (json.dumps({**fields(), "schema_version": 99}), "newer version of this program"),
        ("x" * 4_194_305, "has more than 4,194,304 bytes"),
    ],
)
def test_W2_W3_what_is_no_profile_is_not_imported(pen: Pen, content: str, why: str) -> None:
    told = pen.run("profile", "import", pen.file(content, "in.json"), "--yes", "--lang", "en")
    assert (told.code, told.out) == (1, "")
    assert why in told.err
    assert "ghostpen init" not in told.err
    assert state_of(pen.data) == {}


def test_W32_a_pipe_or_a_device_is_refused_at_once(pen: Pen) -> None:
    os.mkfifo(pen.folder / "pipe")
    for name in (str(pen.folder / "pipe"), "/dev/zero", "/dev/null"):
        told = pen.run("profile", "import", name, "--lang", "en")
        assert (told.code, "is not a regular file" in told.err) == (1, True)


@pytest.mark.parametrize(
    "command",
    [("profile", "import"), ("init", "--model", "scripted:say.json", "--yes", "--from")],
    ids=["import", "init"],
)
def test_W32_W34_a_file_that_is_not_there_is_told_to_a_person(pen: Pen, command: tuple[str, ...]) -> None:
    """In other words than to a model, which can list a folder."""
    pen.file("[]", "say.json")
    assert pen.run(*command, "none.json", "--lang", "en") == (1, "", "Error: There is no file 'none.json'.\n")
    assert "Файлу «none.json» немає." in pen.run(*command, "none.json", "--lang", "uk").err
    assert pen.run(*command, str(pen.folder), "--lang", "en").code == 1


def test_W32_an_export_to_a_folder_that_is_not_there_says_so(pen: Pen) -> None:
    put(pen.data, fields())
    told = pen.run("profile", "export", "default", "--output", "no/where.json", "--lang", "en")
    assert (told.code, told.err) == (1, "Error: There is no folder 'no'. Create it first, or name another one.\n")


def test_W34_a_reference_profile_and_a_newer_one_are_told_in_both_languages() -> None:
    fixed, newer = ProfileFixed("x", profile="a"), ProfileNewer("x", profile="a")
    assert describe_error(fixed, "uk").startswith("Reference профілі не оновлюються автоматично")
    assert describe_error(newer, "en").startswith("Profile 'a' was written by a newer version")
    assert describe_error(UsageError("as it is"), "uk") == "as it is"


LOGS = """
import logging, sys
from pathlib import Path
from toolroll.cli.ghostpen.context import run_command
from toolroll.cli.session import Session

def work(desk):
    logging.getLogger("toolroll.tools").warning("a tool failed")
    logging.getLogger("asyncio").error("Task exception was never retrieved")
    return 0

sys.exit(run_command(Session(debug=sys.argv[1] == "--debug"), work, data=Path(sys.argv[2]), lang="en"))
"""


@pytest.mark.parametrize(
    ("option", "told"), [("--quiet", ""), ("--debug", "a tool failed\nTask exception was never retrieved\n")]
)
def test_S6_what_is_logged_is_told_with_debug_only(tmp_path: Path, option: str, told: str) -> None:
    """In a process of its own: what is set up for the log stays for as long as one lives."""
    command = [sys.executable, "-c", LOGS, option, str(tmp_path)]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", told)


def test_XA30_where_nobody_can_be_asked_a_data_folder_is_used_only_if_it_is_trusted(pen: Pen) -> None:
    put(pen.data, fields())
    told = pen.run_here("profile", "list", "--lang", "en")
    assert (told.code, told.out) == (2, "")
    assert "name it with --data data, or trust it once: toolroll trust add data" in told.err
    assert "Теці «data» тут ще ніхто не довірив" in pen.run_here("profile", "list", "--lang", "uk").err
    assert pen.run("profile", "list").code == 0, "named by hand"
    trust_data(pen.home, pen.folder)
    assert pen.run_here("profile", "list").code == 0


def test_XA30_a_data_folder_that_init_has_made_is_trusted(pen: Pen) -> None:
    assert pen.run("init", "--sample").code == 0
    assert pen.run_here("profile", "list").code == 0


def test_XA30_a_data_folder_that_was_there_is_not_trusted_by_naming_it(pen: Pen) -> None:
    pen.data.mkdir()
    assert pen.run("init", "--sample").code == 0
    assert pen.run_here("profile", "list").code == 2
