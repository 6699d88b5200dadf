"""The page in a real browser, against the real server, real files and scripted models (S20-S23, XW4).

Without Chromium these tests are skipped. With TOOLROLL_PICTURES=DIR each screen is kept there as a picture.
"""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import WAIT_S, Site, make_service, run_site
from tests.web.test_page import AFTER, BEFORE, READ, REWRITE, write_script

from toolroll.web.app import make_app
from toolroll.web.sessions import Sessions

playwright = pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright  # noqa: E402 - see above

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = (
    "<script>document.title = 'pwned'</script> <img src=x onerror=\"document.title='pwned'\">\n\n"
    "![pixel](http://evil.example/p.png) [go](javascript:document.title='pwned') [data](data:text/html,x) "
    "[fine](https://example.org/)\n\n<iframe src='http://evil.example'></iframe>"
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.unmeasured,
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield opened
        opened.close()


@pytest.fixture
def wide() -> bool:
    """Whether the window is wide and light; otherwise it is a phone, and dark."""
    return True


@pytest.fixture
def page(browser: Browser, site: Site, wide: bool) -> Iterator[Page]:
    """The page of a person who opened the link; it must make the browser complain about nothing."""
    width, height = (1280, 860) if wide else (360, 740)
    size: ViewportSize = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme="light" if wide else "dark", reduced_motion="reduce")
    context.set_default_timeout(WAIT_S * 1_000)
    expect.set_options(timeout=WAIT_S * 1_000)
    opened = context.new_page()
    faults: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        # A refused request is shown on the page; the browser counts it as an error of its own.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            faults.append(message.text)

    opened.on("console", on_console)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda one: faults.append(one.url) if not one.url.startswith((site.url, "data:")) else None)
    opened.goto(site.link)
    expect(opened.get_by_role("heading", level=1)).to_be_visible()
    yield opened
    context.close()
    assert faults == []


def begin(page: Page, site: Site, *turns: object, text: str = "Make them tens.") -> None:
    model = write_script(site, *turns)
    page.get_by_label("What should be found or changed?").fill(text)
    page.get_by_label("Folder").fill(str(site.root / "project"))
    page.get_by_label("Model").fill(model)
    page.get_by_role("button", name="Start").click()


def content(site: Site) -> str:
    return (site.root / "project" / "a.py").read_text()


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("TOOLROLL_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def check_accessibility(page: Page) -> None:
    """Nothing serious for those who cannot see or use a mouse, as axe finds it."""
    if not AXE.exists():
        return
    # The page's own policy lets nothing be run that is not its own: axe is added in a world beside it.
    session = page.context.new_cdp_session(page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send("Page.createIsolatedWorld", {"frameId": frame})["executionContextId"]

    def run(expression: str) -> object:
        given = {"expression": expression, "contextId": world, "awaitPromise": True, "returnByValue": True}
        return session.send("Runtime.evaluate", given)["result"].get("value")

    run(AXE.read_text() + "; 0")
    found = run(
        "axe.run().then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map("
        "v => v.id + ' ' + v.nodes.map(n => n.html.slice(0, 200)).join(' | ')))"
    )
    assert found == []


def test_S23_a_change_is_approved_in_part_by_keyboard_and_undone(page: Page, site: Site) -> None:
    check_accessibility(page)
    picture(page, "home")
    begin(page, site, READ, REWRITE, "One of them is ten.")
    expect(page.get_by_role("heading", name="Rewrite a.py?")).to_be_visible()
    expect(page.get_by_text("Tens.", exact=True)).to_be_visible()
    check_accessibility(page)
    picture(page, "approval")
    page.keyboard.press("h")
    page.get_by_label("Take this change").nth(1).uncheck()
    page.get_by_role("button", name="Approve 1 of 2").click()
    expect(page.get_by_text("One of them is ten.")).to_be_visible()
    assert content(site) == BEFORE.replace("one = 1\n", "one = 10\n")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Redo")).to_be_visible()
    assert content(site) == BEFORE
    page.get_by_role("button", name="Timeline").click()
    expect(page.get_by_role("heading", name="Calls by tool")).to_be_visible()
    page.get_by_role("button", name="Play it again").click()
    expect(page.get_by_text("Everything came out the same.")).to_be_visible()
    check_accessibility(page)
    picture(page, "timeline")


def test_S23_a_message_is_edited_and_sent_again_in_a_fork(page: Page, site: Site) -> None:
    begin(page, site, "First answer.", "Second answer.", text="First question?")
    expect(page.get_by_text("First answer.")).to_be_visible()
    first = page.url
    page.get_by_role("button", name="Edit and resend").click()
    page.get_by_label("Your message, edited").fill("Another question?")
    page.get_by_role("button", name="Send in a new chat").click()
    expect(page).not_to_have_url(first)
    expect(page.get_by_role("heading", name="Another question?")).to_be_visible()
    expect(page.get_by_text("First answer.")).to_be_visible()
    page.goto(first)
    expect(page.get_by_role("heading", name="First question?")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="More").click()
        page.get_by_role("link", name="Export as a page").click()
    assert "First question?" in download.value.path().read_text()


def test_S22_what_is_said_while_it_works_is_sent_afterwards(page: Page, site: Site) -> None:
    begin(page, site, READ, REWRITE, "I leave it.", "You are welcome.")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    chat_id = page.url.rpartition("/")[2]
    # As if it had been written while the chat was at work: it is sent by whichever tab sees the end, and once.
    page.evaluate("([id, text]) => localStorage.setItem(`queue:${id}`, text)", [chat_id, "Thanks."])
    second = page.context.new_page()
    second.goto(page.url)
    expect(second.get_by_text("Sent when it has finished")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Reject").click()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You are welcome.")).to_be_visible()
    expect(second.get_by_text("You are welcome.")).to_be_visible()
    assert page.locator(".bubble", has_text="Thanks.").count() == 1
    second.close()


def test_S23_a_first_visit_needs_no_key(page: Page, site: Site) -> None:
    # The demo is offered where no model is chosen, and is there in any case.
    chat_id = page.evaluate("() => fetch('/api/demo', { method: 'POST' }).then((a) => a.json()).then((a) => a.id)")
    page.goto(f"{site.url}/#/chat/{chat_id}")
    expect(page.get_by_role("heading", name="Edit src/services/format.js?")).to_be_visible()
    picture(page, "demo")
    page.get_by_role("link", name="Waiting").click()
    expect(page.get_by_role("heading", name="Edit src/services/format.js?")).to_be_visible()
    check_accessibility(page)
    picture(page, "waiting")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    for name in ("runs", "figures", "ideas"):
        page.goto(f"{site.url}/#/{name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check_accessibility(page)
        picture(page, name)
    page.goto(f"{site.url}/#/runs")
    page.get_by_label("Kind").select_option("explore")
    expect(page.get_by_text("Nothing fits this.")).to_be_visible()


def test_S23_a_person_edits_the_text_and_sees_what_is_bound(page: Page, site: Site) -> None:
    begin(page, site, READ, REWRITE, "It is yours.")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.keyboard.press("e")
    mine = AFTER.replace("20", "21")
    editor = page.get_by_label("The text of a.py after the change")
    editor.click()
    check_accessibility(page)
    picture(page, "edit")
    page.keyboard.press("Control+End")  # keys in the editor are text: 'n' and 'y' answer nothing
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.type("1")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("two = 21")).to_be_visible()
    page.get_by_role("button", name="Approve my text").click()
    expect(page.get_by_text("It is yours.")).to_be_visible()
    assert content(site) == mine


def test_S22_a_reload_and_a_second_tab_lose_nothing(page: Page, site: Site) -> None:
    begin(page, site, READ, REWRITE, "I leave it.", "You are welcome.")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.get_by_label("Your message").fill("half a tho")
    page.reload()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    expect(page.get_by_label("Your message")).to_have_value("half a tho")
    second = page.context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Reject").click()
    second.get_by_placeholder("Why not?").fill("Not tens.")
    second.keyboard.press("Enter")
    expect(second.get_by_text("I leave it.")).to_be_visible()
    second.close()
    page.bring_to_front()
    expect(page.get_by_text("I leave it.")).to_be_visible()  # it may still be at work: then the message waits
    page.get_by_label("Your message").fill("Thanks.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You are welcome.")).to_be_visible()
    assert content(site) == BEFORE


def test_S22_a_server_that_starts_anew_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    service, secrets = make_service(tmp_path)
    context = browser.new_context()
    context.set_default_timeout(WAIT_S * 1_000)
    page = context.new_page()
    with run_site(make_app(service), service, secrets, tmp_path, is_last=False) as first:
        page.goto(first.link)
        begin(page, first, READ, REWRITE, "Done.")
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
        address = page.url
        page.get_by_label("Your message").fill("half a tho")
        began = time.monotonic()
    assert time.monotonic() - began < 8  # the page that listens does not keep the server from ending
    again = replace(service, sessions=Sessions())
    port = urlsplit(first.url).port or 0
    with run_site(make_app(again), again, secrets, tmp_path, port=port) as second:
        expect(page.get_by_role("heading", name="This page is locked")).to_be_visible()
        page.goto(second.link)
        expect(page.get_by_role("heading", name="What would you like to do?")).to_be_visible()
        page.goto(address)
        expect(page.get_by_label("Your message")).to_have_value("half a tho")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_text("Done.")).to_be_visible()
        assert content(second) == AFTER
        context.close()


def test_XW4_what_a_model_writes_stays_text(page: Page, site: Site) -> None:
    begin(page, site, READ, HOSTILE, text=HOSTILE)
    links = page.get_by_role("main").get_by_role("link", name="fine")
    expect(links).to_have_attribute("href", "https://example.org/")
    assert page.title() == "toolroll"
    log = page.get_by_label("Conversation")
    assert log.locator("script, iframe, img, [onerror]").count() == 0
    assert log.locator("a:not([href^='https:'])").count() == 0
    page.goto(f"{site.url}/#/runs")
    expect(page.get_by_role("link", name="<script>")).to_be_visible()
    assert page.title() == "toolroll"


def test_S23_an_idea_is_explored_and_its_document_read(page: Page, site: Site) -> None:
    page.get_by_role("link", name="Ideas").click()
    expect(page.get_by_text("No idea was queued yet.")).to_be_visible()
    page.get_by_label("One idea a line").fill("Tea")
    page.get_by_role("button", name="Explore").click()
    page.get_by_role("main").get_by_role("link", name="Tea").first.click()
    expect(page.get_by_role("article")).to_contain_text("It is hot.")
    check_accessibility(page)
    picture(page, "idea")


@pytest.mark.parametrize("wide", [False])
def test_S22_on_a_phone_in_the_dark(page: Page, site: Site) -> None:
    check_accessibility(page)
    begin(page, site, READ, REWRITE, "Done.")
    approve = page.get_by_role("button", name="Approve")
    expect(approve).to_be_visible()
    check_accessibility(page)
    picture(page, "phone")
    width = page.get_by_role("main").bounding_box()
    assert width is not None
    assert width["width"] <= 360
    (site.root / "project" / "a.py").write_text(BEFORE + "three = 3\n")
    approve.click()
    expect(page.get_by_text("a.py has changed since you were shown this, so nothing was written.")).to_be_visible()
    picture(page, "phone-stale")
    assert content(site) == BEFORE + "three = 3\n"
    for name in ("waiting", "runs", "figures", ""):
        page.goto(f"{site.url}/#/{name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check_accessibility(page)
        picture(page, f"phone-{name or 'home'}")


@pytest.mark.parametrize("slots", [0])
def test_S21_without_the_link_the_page_is_locked(browser: Browser, site: Site) -> None:
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(f"{site.url}/#/runs")
    expect(stranger.get_by_role("heading", name="This page is locked")).to_be_visible()
    context.close()
