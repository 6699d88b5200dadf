"""Files that a message mentions: attached, told of, or left alone."""

from pathlib import Path

import pytest

from toolroll.cli.chat.mentions import MAX_ATTACHED, OutgoingMessage, attach_files, describe_attachments
from toolroll.errors import UsageError
from toolroll.workspace.limits import Limits
from toolroll.workspace.workspace import Workspace

MAIN = "one\ntwo\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    for folder in ("src", "secret"):
        (root / folder).mkdir(parents=True)
    (root / "src" / "main.py").write_text(MAIN)
    (root / "src" / "my file.txt").write_text("blank\n")
    (root / "Makefile").write_text("all:\n")
    (root / "picture").write_bytes(b"\x00\x01")
    (root / ".env").write_text("KEY=value\n")
    (root / "secret" / "plan.txt").write_text("hidden\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "inner.txt").symlink_to("src/main.py")
    return Workspace(root, state=tmp_path / "state", deny=["secret/**"], limits=Limits(file_bytes=1_000))


async def refused(text: str, workspace: Workspace) -> str:
    """Why nothing is sent."""
    with pytest.raises(UsageError) as caught:
        await attach_files(text, workspace)
    assert "Nothing was sent. Write \\@ for an @ that means no file." in caught.value.message
    return caught.value.message


async def test_S1_a_file_is_attached_with_numbered_lines(workspace: Workspace) -> None:
    sent = await attach_files("Explain (@src/main.py).", workspace)
    [file] = sent.files
    heading = f"src/main.py: 2 lines, 8 bytes, hash {file.hash}"
    assert sent.text == (
        "Explain (@src/main.py).\n\n[attached by the user: src/main.py]\n"
        f"{heading}\n1\tone\n2\ttwo\n[end of src/main.py]"
    )
    assert (file.lines, file.seen) == (2, ((0, 1), (1, 2)))
    assert list(describe_attachments(sent.files)) == ["src/main.py (2 lines)"]


async def test_S1_each_file_is_attached_once_by_its_own_name(workspace: Workspace) -> None:
    sent = await attach_files('@Makefile @./src/main.py @inner.txt @"src/my file.txt"', workspace)
    assert [file.path for file in sent.files] == ["Makefile", "src/main.py", "src/my file.txt"]


async def test_S1_blanks_can_be_written_as_in_a_shell(workspace: Workspace) -> None:
    sent = await attach_files(r"Look at @src/my\ file.txt.", workspace)
    assert list(describe_attachments(sent.files)) == ["src/my file.txt (1 line)"]


@pytest.mark.parametrize("text", ['@"src/my file.txt', 'a @"src/my\nfile.txt"', '@"'])
async def test_S1_an_open_quotation_mark_is_told_before_anything_is_sent(workspace: Workspace, text: str) -> None:
    assert (await refused(text, workspace)).startswith('A quotation mark is not closed: @"')


@pytest.mark.parametrize("text", ["@src", "@src/"])
async def test_S1_a_folder_is_listed(workspace: Workspace, text: str) -> None:
    sent = await attach_files(text, workspace)
    assert "main.py" in sent.text
    assert list(describe_attachments(sent.files)) == ["src/"]


@pytest.mark.parametrize(
    "text",
    [
        "write to a@b.c",
        "@decorator\ndef f(): ...",
        '@app.route("/x")\n@pytest.fixture\n@functools.cache',
        "npm install @angular/core",
        "see @...",
    ],
)
async def test_S1_what_names_no_file_is_left_alone(workspace: Workspace, text: str) -> None:
    assert await attach_files(text, workspace) == OutgoingMessage(text=text)


async def test_S1_an_escaped_at_attaches_nothing(workspace: Workspace) -> None:
    assert await attach_files("\\@src/main.py", workspace) == OutgoingMessage(text="@src/main.py")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@src/mian.py", "Did you mean 'src/main.py'?"),
        ("@src/nothing", "There is no 'src/nothing'."),
        ("@nothing.md", "There is no 'nothing.md'."),
        ('@"no such"', "There is no 'no such'."),
        ("@picture", "'picture' is binary"),
        ("@../outside.txt", "has a '..' component"),
        ("@/etc/passwd", "is absolute"),
        ("@~/x", "begins with '~'"),
    ],
)
async def test_S1_XP1_what_cannot_be_attached_is_told_and_nothing_is_sent(
    workspace: Workspace, text: str, why: str
) -> None:
    assert why in await refused(f"See {text} please", workspace)


@pytest.mark.parametrize("text", ["@.env", "@.ENV", "@secret/plan.txt", "@secret", "@.git/config"])
async def test_S1_XP8_what_is_denied_is_told_whether_it_is_there_or_not(workspace: Workspace, text: str) -> None:
    told = await refused(text, workspace)
    assert "denied by the rule" in told or "is protected against reading" in told
    assert "ask the person" not in told


async def test_S1_XP3_a_link_that_leads_out_is_told(workspace: Workspace) -> None:
    assert "link.txt" in await refused("@link.txt", workspace)


async def test_S1_a_file_that_is_too_large_is_told(workspace: Workspace) -> None:
    (workspace.root / "big.txt").write_text("x" * 1_001)
    assert "holds 1,001 bytes, and the limit is 1,000" in await refused("@big.txt", workspace)


async def test_S1_too_many_files_are_told(workspace: Workspace) -> None:
    for number in range(MAX_ATTACHED + 1):
        (workspace.root / f"{number}.txt").write_text("x\n")
    with pytest.raises(UsageError, match="21 files with"):
        await attach_files(" ".join(f"@{number}.txt" for number in range(MAX_ATTACHED + 1)), workspace)
