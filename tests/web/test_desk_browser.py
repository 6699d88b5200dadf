"""The writer's desk in a real browser: from the sample profile to a saved post, and hostile texts (S23, XW4)."""

import pytest
from tests.web.conftest import Site
from tests.web.test_desk import FIRST, READ, SECOND, data_of, track, write_script
from tests.web.test_ideas import DOCUMENT, write_idea

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page, expect
from tests.web.test_browser import (  # noqa: F401 - the fixtures
    CHROMIUM,
    HOSTILE,
    browser,
    check_accessibility,
    page,
    picture,
    wide,
)

from toolroll.kernel.call.context import utc_now
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"), pytest.mark.unmeasured]


def open_desk(page: Page, site: Site, part: str = "") -> None:  # noqa: F811 - the fixture
    page.goto(f"{site.url}/#/write{part}")
    expect(page.get_by_role("heading", level=1, name="Ghostpen")).to_be_visible()


def begin(page: Page, site: Site, *turns: object) -> None:  # noqa: F811 - the fixture
    page.get_by_label("What should the post be about?").fill("why chains rust, for LinkedIn")
    page.get_by_text("More options").click()
    page.get_by_label("Model").fill(write_script(site, *turns))
    page.get_by_role("button", name="Write a draft").click()
    expect(page.get_by_role("button", name="Draft 1")).to_be_visible()


def test_S23_a_new_writer_writes_and_saves_a_post(page: Page, site: Site) -> None:  # noqa: F811
    open_desk(page, site)
    page.get_by_role("button", name="Try it with a sample profile").click()
    begin(page, site, READ, FIRST, READ, track("too formal"), SECOND)
    page.get_by_role("button", name="too formal").click()
    page.get_by_label("What should be different?").fill("half a tho")
    page.reload()  # what was being written stays
    expect(page.get_by_label("What should be different?")).to_have_value("half a tho")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Noted: too formal (1 of 3).")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("region", name="Draft 1 beside draft 2")).to_be_visible()
    check_accessibility(page)
    picture(page, "desk-compare")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Save it?")).to_be_visible()
    check_accessibility(page)
    picture(page, "desk-save")
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_role("status").filter(has_text="Saved:")).to_be_visible()
    open_desk(page, site, "/past")
    page.get_by_placeholder("Find in your posts").fill("tonight")
    page.get_by_text("chains", exact=True).click()
    expect(page.get_by_text("It rusts overnight.")).to_be_visible()
    check_accessibility(page)


@pytest.mark.parametrize("wide", [False])
def test_S22_the_desk_on_a_phone_in_the_dark_in_ukrainian(page: Page, site: Site) -> None:  # noqa: F811
    store = ProfileStore(data_of(site))
    store.create(sample_profile("uk"), now=utc_now())
    store.create({**sample_profile("en"), "profile_name": "alex"}, now=utc_now())
    open_desk(page, site, "/profiles")
    page.get_by_role("button", name="UK").click()
    page.get_by_role("link", name="default").click()
    page.get_by_role("button", name="Змінити").click()
    page.get_by_label("Тон", exact=True).fill("сухий і теплий")
    check_accessibility(page)
    page.get_by_role("button", name="Подивитися на зміну").click()
    expect(page.get_by_text("сухий і теплий")).to_be_visible()
    picture(page, "desk-phone")
    page.get_by_role("button", name="Зберегти як версію 2").click()
    expect(page.get_by_text("версія 2").first).to_be_visible()
    assert store.read("default").profile.voice.tone == "сухий і теплий"
    page.goto(f"{site.url}/#/write/mix")
    expect(page.get_by_text("від alex").first).to_be_visible()
    check_accessibility(page)
    box = page.get_by_role("main").evaluate("one => one.scrollWidth")
    assert box <= 360


def test_XW4_profiles_drafts_and_posts_stay_text(page: Page, site: Site) -> None:  # noqa: F811
    fields = sample_profile("en")
    ProfileStore(data_of(site)).create({**fields, "voice": {**fields["voice"], "tone": HOSTILE}}, now=utc_now())
    with PostStore(data_of(site)) as posts:
        posts.save(Draft(content=HOSTILE, platform="linkedin", topic="<img src=x onerror=alert(1)>"), now=utc_now())
    for part in ("/profiles", "/profile/default", "/past"):
        open_desk(page, site, part)
        expect(page.get_by_text("<script>").first).to_be_attached()
    open_desk(page, site)
    begin(page, site, READ, f'<post topic="x">\n{HOSTILE}\n</post>', READ, f'<post topic="x">\n{HOSTILE}\n</post>')
    expect(page.get_by_text("<script>").first).to_be_visible()
    main = page.get_by_role("main")
    assert main.locator("script, iframe, img, [onerror], a[href^='javascript']").count() == 0
    assert page.title() == "toolroll"


def test_S23_settings_are_read_and_changed(page: Page, site: Site) -> None:  # noqa: F811
    page.goto(f"{site.url}/#/settings")
    expect(page.get_by_role("heading", level=1, name="Settings")).to_be_visible()
    page.get_by_text("Coding agent").click()
    page.get_by_label("code.max_steps").fill("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Remove").first).to_be_visible()
    page.get_by_role("button", name="Add").first.click()
    expect(page.get_by_placeholder("It goes into the keyring").first).to_be_focused()
    check_accessibility(page)
    picture(page, "settings")
    assert "max_steps = 12" in (site.root / "home" / "config" / "settings.toml").read_text()


def test_S23_documents_open_their_sources_and_two_are_compared(page: Page, site: Site) -> None:  # noqa: F811
    write_idea(site, "2026-11-18-tea")
    write_idea(site, "2026-11-18-coffee", DOCUMENT + HOSTILE)
    page.goto(f"{site.url}/#/ideas")
    page.get_by_role("link", name="tea").click()
    expect(page.get_by_role("article").get_by_role("link", name="[1]")).to_have_attribute(
        "href", "https://example.org/tea"
    )
    page.get_by_role("button", name="Update of 2026-11-19").click()
    expect(page.get_by_role("article")).to_contain_text("Still hot.")
    expect(page.get_by_role("article")).not_to_contain_text("It is hot")
    check_accessibility(page)
    picture(page, "document")
    page.get_by_role("link", name="Back").click()
    page.get_by_label("Compare tea").check()
    page.get_by_label("Compare coffee").check()
    page.get_by_role("link", name="Compare the two").click()
    expect(page.get_by_text("One source is in both")).to_be_visible()
    check_accessibility(page)
    picture(page, "compare")
    main = page.get_by_role("main")
    assert main.locator("script, iframe, img, [onerror], a[href^='javascript'], a[href^='data']").count() == 0
    assert page.title() == "toolroll"
