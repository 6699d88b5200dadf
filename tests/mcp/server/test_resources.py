"""What a client reads beside the tools: whole outputs, page by page, and the documents of the packs."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from tests.mcp.server.clients import ERAS, connect

from mcp import Client
from toolroll import ImagePart, Policy, Rule, TextPart, tool
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import CallEnded
from toolroll.mcp.server.documents import documents_of
from toolroll.mcp.server.resources import NEXT_KEY
from toolroll.mcp.server.server import ToolServer
from toolroll.packs.research.read_research import read_research
from toolroll.packs.writing.posts.post_file import Draft
from toolroll.packs.writing.posts.store import PostStore
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.tools.post_tools import read_past_posts
from toolroll.packs.writing.tools.profile_tools import list_profiles, read_style_profile

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LINES = 30_000
TOOLS = (read_research, read_style_profile, list_profiles, read_past_posts)


@tool
def count(lines: int) -> str:
    """Count."""
    return "".join(f"line {number}\n" for number in range(lines))


@tool
def draw() -> tuple[TextPart | ImagePart, ...]:
    """Draw a picture."""
    return TextPart(text="x" * 300_000), ImagePart(data=PIXEL, media_type="image/png")


def link_in(result: types.CallToolResult) -> types.ResourceLink:
    [link] = [block for block in result.content if isinstance(block, types.ResourceLink)]
    return link


def texts(result: types.ReadResourceResult) -> list[str]:
    return [one.text for one in result.contents if isinstance(one, types.TextResourceContents)]


@pytest.mark.parametrize("era", ERAS)
async def test_S30_a_whole_output_is_linked_and_read(era: str, tmp_path: Path) -> None:
    async with connect(ToolServer([count], outputs=tmp_path), era) as client:
        short = await client.call_tool("count", {"lines": 3})
        assert not any(isinstance(block, types.ResourceLink) for block in short.content)
        link = link_in(await client.call_tool("count", {"lines": LINES}))
        assert (link.mime_type, link.size) == ("text/plain", len("".join(f"line {n}\n" for n in range(LINES))))
        assert texts(await client.read_resource(link.uri)) == ["".join(f"line {n}\n" for n in range(LINES))]
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "toolroll://output/{ref}{?offset,limit}"


@pytest.mark.parametrize("era", ERAS)
async def test_S30_an_output_is_read_page_by_page(era: str, tmp_path: Path) -> None:
    async with connect(ToolServer([count], outputs=tmp_path), era) as client:
        link = link_in(await client.call_tool("count", {"lines": LINES}))
        middle = texts(await client.read_resource(f"{link.uri}?offset=5&limit=2"))
        assert middle[0] == "line 5\nline 6\n"
        assert "lines 6-7 of 30,000" in middle[1]
        read, uri = "", f"{link.uri}?offset=0"
        while uri:
            page = await client.read_resource(uri)
            read += texts(page)[0]
            uri = (page.contents[0].meta or {}).get(NEXT_KEY, "")
        assert read == "".join(f"line {n}\n" for n in range(LINES))
        for wrong in ("?offset=99999999", "?offset=-1", "?offset=x"):
            with pytest.raises(MCPError, match="no such resource"):
                await client.read_resource(link.uri + wrong)


async def test_S30_an_output_of_parts_is_read_whole(tmp_path: Path) -> None:
    async with connect(ToolServer([draw], outputs=tmp_path), "auto") as client:
        found = await client.read_resource(link_in(await client.call_tool("draw", {})).uri)
    picture = found.contents[-1]
    assert isinstance(picture, types.BlobResourceContents)
    assert (picture.mime_type, base64.b64decode(picture.blob)) == ("image/png", PIXEL)


@pytest.mark.parametrize(("era", "code"), [("legacy", -32_002), ("auto", -32_602)])
async def test_XM15_an_output_of_another_client_is_not_there(era: str, code: int, tmp_path: Path) -> None:
    server = ToolServer([count], outputs=tmp_path)
    async with connect(server, era) as ann, connect(server, era) as bob:
        link = link_in(await ann.call_tool("count", {"lines": LINES}))
        for uri in (link.uri, "toolroll://output/../../etc/passwd", "toolroll://output/", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="no such resource") as refused:
                await bob.read_resource(uri)
            assert refused.value.error.code == code
        assert texts(await ann.read_resource(link.uri))


def make_documents(folder: Path) -> dict[str, object]:
    idea = folder / "ideas" / "2026-11-01-tea" / "research.md"
    idea.parent.mkdir(parents=True)
    idea.write_text("# Tea\n")
    (folder / "ideas" / "2026-11-02-secret").mkdir()
    (folder / "ideas" / "2026-11-02-secret" / "research.md").write_text("# Secret\n")
    ProfileStore(folder / "data").create(sample_profile("en"), now=datetime(2026, 2, 9, tzinfo=UTC))
    with PostStore(folder / "data") as posts:
        posts.save(Draft(content="On tea.", platform="x", topic="tea"), now=datetime(2026, 11, 1, tzinfo=UTC))
    return {"ideas": folder / "ideas", "data": folder / "data"}


async def all_uris(client: Client) -> Sequence[str]:
    return [one.uri for one in (await client.list_resources()).resources]


@pytest.mark.parametrize("era", ERAS)
async def test_S30_research_profiles_and_posts_are_resources(era: str, tmp_path: Path) -> None:
    deps, journal = make_documents(tmp_path), MemoryJournal()
    server = ToolServer(TOOLS, deps=deps, documents=documents_of(TOOLS), journal=journal)
    async with connect(server, era) as client:
        uris = await all_uris(client)
        assert uris == [
            "toolroll://research/2026-11-02-secret/research.md",
            "toolroll://research/2026-11-01-tea/research.md",
            "toolroll://profile/default",
            "toolroll://post/2026-11-01-tea-x.md",
        ]
        assert await journal.runs() == [], "to list is not on record"
        _, research, profile, post = [await client.read_resource(uri) for uri in uris]
        assert texts(research) == ["# Tea\n"]
        assert '"personality"' in texts(profile)[0]
        assert profile.contents[0].mime_type == "application/json"
        assert "On tea." in texts(post)[0]
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("toolroll://post/../../secret.md")
    [row] = await journal.runs()
    ended = [record for _, record in await journal.read(row.run_id) if isinstance(record, CallEnded)]
    assert [one.result.name for one in ended[:4]] == [
        "read_research",
        "read_research",
        "read_style_profile",
        "read_past_posts",
    ]


async def test_S30_rules_about_a_tool_hold_for_what_it_would_read(tmp_path: Path) -> None:
    rules = [
        Rule(action="deny", tool="read_research", path="2026-11-02-secret/**"),
        Rule(action="ask", tool="read_style_profile"),
        Rule(action="deny", tool="read_past_posts", path="output/generated/2026-11-01-*"),
    ]
    server = ToolServer(
        TOOLS, deps=make_documents(tmp_path), documents=documents_of(TOOLS), policy=Policy(tuple(rules))
    )
    async with connect(server, "auto") as client:
        assert await all_uris(client) == [
            "toolroll://research/2026-11-01-tea/research.md",
            "toolroll://profile/default",
        ]
        for uri in (
            "toolroll://research/2026-11-02-secret/research.md",
            "toolroll://profile/default",
            "toolroll://post/2026-11-01-tea-x.md",
        ):
            with pytest.raises(MCPError, match="may not read it"):
                await client.read_resource(uri)


async def test_S30_only_what_a_served_tool_reads_is_there(tmp_path: Path) -> None:
    server = ToolServer([read_research], deps=make_documents(tmp_path), documents=documents_of([read_research]))
    async with connect(server, "auto") as client:
        assert {uri.split("/")[2] for uri in await all_uris(client)} == {"research"}
