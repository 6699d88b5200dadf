"""A later draft that the model could not finish, from end to end: what the person sees, takes or leaves (W30, W34)."""

from pathlib import Path

import pytest
from tests.support.author import ASKS, Author, post, said
from tests.support.model_script import Turn
from tests.support.model_server import ModelServer

from toolroll.packs.writing.texts.messages import Lang, languages

DRAFT: dict[Lang, str] = {"en": "Here is the thing: tea.\n\nIs it not?", "uk": "Ось у чому штука: чай.\n\nЧи не так?"}
MORE: dict[Lang, str] = {"en": "longer", "uk": "довше"}
UNFINISHED: dict[Lang, str] = {"en": "Tea is good, and", "uk": "Чай добрий, і"}
STAYS: dict[Lang, str] = {"en": "Draft 1, below, still counts", "uk": "Чернетка 1, нижче, лишається"}
TAKE: dict[Lang, str] = {"en": "take it", "uk": "бери"}
LACKS: dict[Lang, str] = {"en": "end of the draft may be missing", "uk": "може бути без кінця"}


@pytest.fixture(params=languages())
def author(tmp_path: Path, request: pytest.FixtureRequest) -> Author:
    made = Author(tmp_path / "author", request.param)
    made.has_profile()
    return made


@pytest.mark.parametrize("takes", [False, True])
def test_XE8_W30_W34_an_unfinished_draft_is_kept_only_where_the_person_takes_it(author: Author, *, takes: bool) -> None:
    lang = author.lang
    cut = Turn(f"<post>\n{UNFINISHED[lang]}", stop="max_tokens")
    with (
        ModelServer([said(post(DRAFT[lang])), cut]) as server,
        author.at_terminal(server, "post about tea for LinkedIn") as terminal,
    ):
        terminal.wait_for(ASKS[lang])
        terminal.press(MORE[lang], UNFINISHED[lang], STAYS[lang], ASKS[lang])
        if takes:
            terminal.press(TAKE[lang], LACKS[lang], ASKS[lang])
        terminal.press("save", ".md")
        assert terminal.end()[0] == 0
    [saved] = author.posts().values()
    assert saved.endswith(f"\n{UNFINISHED[lang] if takes else DRAFT[lang]}\n")
