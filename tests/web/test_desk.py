"""The writer's desk over a real socket: a post from the request to the file, profiles, past posts (S20, S22, S24)."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.web.conftest import WAIT_S, Site, run_site

from toolroll.kernel.call.context import utc_now
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_posts, sample_profile
from toolroll.packs.writing.session.looks import find_fold, make_looks
from toolroll.packs.writing.texts.messages import languages, load_language
from toolroll.web.app import make_app
from toolroll.web.page_parts import ALL_PAGE_OPERATIONS
from toolroll.web.sessions import Sessions

READ = "the profile is read before each answer"
FIRST = '<post topic="chains">\nOil the chain.\n\nIt rusts overnight.\n</post>'
SECOND = '<post topic="chains">\nOil it tonight.\n\nIt rusts overnight.\n</post>'


def track(words: str) -> dict[str, object]:
    return {"calls": [{"name": "track_feedback", "arguments": {"category": "too_formal", "raw_feedback": words}}]}


def data_of(site: Site) -> Path:
    return site.root / "home" / "data" / "ghostpen"


def write_script(site: Site, *turns: object) -> str:
    path = site.root / "post.json"
    path.write_text(json.dumps(turns))
    return f"scripted:{path}"


@pytest.fixture
def author(site: Site) -> ProfileStore:
    """The sample author with two profiles and some posts."""
    store = ProfileStore(data_of(site))
    store.create(sample_profile("en"), now=utc_now())
    store.create({**sample_profile("en"), "profile_name": "alex", "profile_type": "reference"}, now=utc_now())
    with PostStore(data_of(site)) as posts:
        for one in sample_posts("en"):
            posts.save(one, now=utc_now())
    return store


def begin(site: Site, client: httpx2.Client, *turns: object, **more: object) -> str:
    body = {"request": "chains, for LinkedIn", "model": write_script(site, *turns), **more}
    begun = client.post("/api/desk/posts?lang=en", json=body)
    assert begun.status_code == 202, begun.text
    post_id: str = begun.json()["id"]
    return post_id


def wait_for(client: httpx2.Client, post_id: str, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    ends = time.monotonic() + WAIT_S
    while True:
        post: dict[str, Any] = client.get(f"/api/desk/posts/{post_id}").json()
        if fits(post):
            return post
        assert time.monotonic() < ends, post
        time.sleep(0.02)


def is_asking(post: dict[str, Any]) -> bool:
    return bool(post["state"] == "asking")


def test_S20_a_post_from_the_request_to_the_file(site: Site, author: ProfileStore) -> None:
    with site.browser() as client:
        post_id = begin(site, client, READ, FIRST, READ, track("too formal"), SECOND)
        post = wait_for(client, post_id, is_asking)
        assert [one["text"] for one in post["versions"]] == ["Oil the chain.\n\nIt rusts overnight."]
        assert client.post(f"/api/desk/posts/{post_id}/messages", json={"text": "too formal"}).status_code == 202
        post = wait_for(client, post_id, lambda one: is_asking(one) and len(one["versions"]) == 2)
        assert "Noted: too formal (1 of 3)." in [line["text"] for line in post["lines"]]
        client.post(f"/api/desk/posts/{post_id}/finish", json={"how": "save"})
        post = wait_for(client, post_id, lambda one: one["state"] == "deciding")
        question = post["question"]
        answer = {"call_id": question["call_id"], "decision": "approve", "edited": "Oil it tonight, all of it."}
        stale = client.post(f"/api/desk/posts/{post_id}/answers", json={**answer, "digest": "0" * 64})
        assert (stale.status_code, question["question"]) == (409, "Save it?")
        client.post(f"/api/desk/posts/{post_id}/answers", json={**answer, "digest": question["digest"]})
        post = wait_for(client, post_id, lambda one: one["state"] == "ended")
        assert (post["end"], client.get("/api/desk/past?find=tonight").json()["total"]) == ("saved", 1)
    assert "Oil it tonight, all of it." in Path(post["file"]).read_text()
    assert author.read("default").profile.version == 1


def test_S22_XJ12_one_server_writes_a_post_and_another_goes_on_when_it_has_ended(
    site: Site, author: ProfileStore
) -> None:
    del author
    other = replace(site.service, sessions=Sessions())
    desk = site.root / "home" / "data" / "desk"
    with site.browser() as client:
        with (
            run_site(make_app(other, slots=0), other, {}, site.root, is_last=False) as first,
            first.browser() as writer,
        ):
            post_id = begin(first, writer, READ, FIRST, READ, SECOND)
            wait_for(writer, post_id, is_asking)
            for act, body in (("messages", {"text": "Shorter."}), ("retry", {}), ("remove", {})):
                refused = client.post(f"/api/desk/posts/{post_id}/{act}", json=body)
                assert (refused.status_code, "Another server" in refused.json()["detail"]) == (409, True), act
            assert is_asking(writer.get(f"/api/desk/posts/{post_id}").json())
        assert client.get(f"/api/desk/posts/{post_id}").json()["state"] == "paused"
        assert [one.name for one in desk.iterdir()] == [f"{post_id}.json"]
        assert client.post(f"/api/desk/posts/{post_id}/messages", json={"text": "Shorter."}).status_code == 202
        post = wait_for(client, post_id, lambda one: is_asking(one) and len(one["versions"]) == 2)
        client.post(f"/api/desk/posts/{post_id}/remove")
        assert list(desk.iterdir()) == []
    assert [one["text"] for one in post["versions"]] == [
        "Oil the chain.\n\nIt rusts overnight.",
        "Oil it tonight.\n\nIt rusts overnight.",
    ]


def test_XJ12_a_post_whose_model_cannot_be_reached_leaves_no_lock(site: Site, author: ProfileStore) -> None:
    del author
    with site.browser() as client:
        body = {"request": "chains, for LinkedIn", "model": "nobody:knows"}
        assert client.post("/api/desk/posts?lang=en", json=body).status_code == 400
    assert list((site.root / "home" / "data" / "desk").iterdir()) == []


def test_S20_a_profile_is_edited_with_the_old_and_the_new_beside_each_other(site: Site, author: ProfileStore) -> None:
    with site.browser() as client:
        profile = client.get("/api/desk/profiles/default").json()
        edit = {
            "base": profile["base"],
            "changes": {"voice.tone": "dry", "voice.formality": author.read("default").fields["voice"]["formality"]},
        }
        preview = client.post("/api/desk/profiles/default/preview", json=edit).json()
        assert [(one["path"], one["new"]) for one in preview["changes"]] == [("voice.tone", "dry")]
        broken = client.post(
            "/api/desk/profiles/default/preview?lang=uk", json={**edit, "changes": {"voice.hooks": [""]}}
        )
        assert broken.json()["problems"]
        saved = client.post("/api/desk/profiles/default", json=edit)
        assert (saved.status_code, saved.json()["version"]) == (200, 2)
        again = client.post("/api/desk/profiles/default", json={**edit, "changes": {"voice.tone": "wet"}})
        assert (again.status_code, author.read("default").profile.voice.tone) == (409, "dry")
        mix = client.get("/api/desk/mix?base=default&techniques=alex").json()
        assert {line["source"] for line in mix["portrait"]} == {"default", "alex"}
        missing = client.get("/api/desk/profiles/nobody?lang=uk")
        assert (missing.status_code, "не знайден" in missing.json()["detail"]) == (404, True)


def test_S20_a_post_outlives_its_profile(site: Site, author: ProfileStore) -> None:
    with site.browser() as client:
        post_id = begin(site, client, READ, FIRST, profiles=["alex"])
        wait_for(client, post_id, is_asking)
        author.delete("alex")
        shown = client.get(f"/api/desk/posts/{post_id}")
        assert shown.status_code == 200, shown.text
        assert shown.json()["versions"][0]["text"].startswith("Oil")
        client.post(f"/api/desk/posts/{post_id}/remove")
        assert client.get(f"/api/desk/posts/{post_id}").status_code == 404
        assert client.get("/api/desk").json()["posts"] == []


def test_W32_a_profile_is_made_from_pasted_posts_and_saved_after_a_look(site: Site) -> None:
    fields = sample_profile("en")
    found = {name: fields[name] for name in ("language", "voice", "platforms")}
    model = write_script(site, json.dumps({**found, "examples": [{"post": 2, "platform": "x", "why_good": "short"}]}))
    with site.browser() as client:
        asked = {"name": "mine", "posts": "One.\n---\nTwo.\n", "model": model}
        analysis = client.post("/api/desk/analyses", json=asked).json()
        assert (analysis["draft"]["examples"][0]["text"], len(analysis["notes"])) == ("Two.", 1)
        assert not ProfileStore(data_of(site)).has("mine")
        body = {"name": "mine", "draft": analysis["draft"]}
        assert client.post("/api/desk/profiles", json=body).json()["version"] == 1
        assert client.post("/api/desk/profiles", json=body).status_code == 409  # never replaced silently
        wrong = client.post("/api/desk/profiles", json={**body, "name": "../up"})
        assert (wrong.status_code, (site.root / "home" / "data" / "up.json").exists()) == (400, False)


def test_S20_the_desk_speaks_the_writers_language(site: Site, author: ProfileStore) -> None:
    del author
    with site.browser() as client:
        ukrainian = client.get("/api/desk?lang=uk").json()
        assert (ukrainian["lang"], ukrainian["texts"]["save"], len(ukrainian["categories"])) == ("uk", "Зберегти", 12)
        assert [one["name"] for one in ukrainian["profiles"]] == ["default", "alex"]
        assert client.get("/api/desk?lang=xx").json()["lang"] == "en"
        assert len(client.get("/api/desk/past").json()["posts"]) == len(sample_posts("en"))


def test_W34_the_page_has_the_same_texts_in_every_language() -> None:
    english = set(load_language("en").page)
    assert [lang for lang in languages() if set(load_language(lang).page) != english] == []


def test_W33_a_draft_is_marked_where_it_breaks_a_rule() -> None:
    fields = sample_profile("en")
    avoided = fields["voice"]["avoid"][0]
    text = f"A {avoided} begins. " + "word " * 100
    looks = {one.platform: one for one in make_looks(text, fields, "en")}
    assert all("".join(part.text for part in look.parts) == text for look in looks.values())
    assert any(part.mark == "avoid" and part.text == avoided for part in looks["linkedin"].parts)
    over = "".join(part.text for part in looks["x"].parts if part.mark == "over")
    assert len(over) == looks["x"].length - looks["x"].limit
    assert text[: find_fold(text, "instagram")].endswith(" ")


def test_S24_every_operation_of_the_page_is_in_the_one_document(site: Site) -> None:
    with site.browser() as client:
        paths = client.get("/api/openapi.json").json()["paths"]
    assert {(one.path, one.method.lower()) for one in ALL_PAGE_OPERATIONS} <= {
        (path, method) for path, methods in paths.items() for method in methods
    }
    assert len({one.name for one in ALL_PAGE_OPERATIONS}) == len(ALL_PAGE_OPERATIONS)
