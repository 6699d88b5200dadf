"""The sample author: a profile that is right, and posts that keep to it."""

from pathlib import Path

import pytest
from tests.packs.writing.profiles.samples import NOW

from toolroll.packs.writing.posts.checks import DraftRules, check_draft
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import load_recording, sample_posts, sample_profile
from toolroll.packs.writing.session.intents import parse_intent
from toolroll.packs.writing.texts.messages import Lang, languages


@pytest.mark.parametrize("lang", languages())
def test_W32_the_sample_is_a_profile_in_its_language(tmp_path: Path, lang: Lang) -> None:
    stored = ProfileStore(tmp_path).create(sample_profile(lang), now=NOW)
    assert (stored.profile.profile_name, stored.profile.language) == ("default", lang)
    assert set(stored.profile.platforms) == {"linkedin", "instagram", "x"}


@pytest.mark.parametrize("lang", languages())
def test_W32_W33_the_posts_of_the_sample_keep_to_its_profile(tmp_path: Path, lang: Lang) -> None:
    profile = ProfileStore(tmp_path).create(sample_profile(lang), now=NOW).profile
    posts = sample_posts(lang)
    assert len(posts) == 3
    for post in posts:
        rules = DraftRules(
            platform=post.platform,
            max_length=profile.platforms[post.platform].max_length,
            avoid=profile.voice.avoid,
            language=profile.language,
        )
        assert check_draft(post.content, rules).is_clean


@pytest.mark.parametrize("lang", languages())
def test_W32_the_recording_has_all_that_a_demo_needs(lang: Lang) -> None:
    found = load_recording(lang)
    assert parse_intent(found.answers[-1]) == "save"
    assert all(parse_intent(one) is None for one in found.answers[:-1])
    assert sum(not isinstance(one, str) for one in found.turns) == 4
