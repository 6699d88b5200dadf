"""What is below a root can be used and nothing else can be reached, with openat2 and without it."""

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.descriptors import as_many_descriptors

from toolroll.errors import (
    FileExists,
    FileMissing,
    FileProblem,
    FileSystemRefused,
    FileTooLarge,
    NotAFile,
    OutsideRoot,
    PathRefused,
    RootGone,
    ToolrollError,
)
from toolroll.safe.paths import listing, openat2, walk
from toolroll.safe.paths.listing import Entry
from toolroll.safe.paths.names import MAX_COMPONENTS, RelativePath, parse_path
from toolroll.safe.paths.open_file import open_regular
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.protected import is_protected
from toolroll.safe.paths.root import Root, Use
from toolroll.safe.paths.walk import Spot

LIMIT_BYTES = 1 << 20

as_root = os.geteuid() == 0
needs_permissions = pytest.mark.skipif(as_root, reason="root passes every permission check")


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.fixture(autouse=True, params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs twice: the answers are the same where the system call is missing."""
    if request.param == "walk":
        monkeypatch.setattr(openat2, "is_available", lambda: False)
    elif not openat2.is_available():
        pytest.skip("this system has no openat2")
    return str(request.param)


@pytest.fixture(autouse=True)
def no_descriptor_is_lost() -> Iterator[None]:
    with as_many_descriptors():
        yield


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A root folder with something in it, beside two folders that must never be reached."""
    folder = tmp_path / "app"
    for name in ("app/src/deep", "app-evil", "outside/deep"):
        (tmp_path / name).mkdir(parents=True)
    (folder / "top.txt").write_bytes(b"top")
    (folder / "src/main.py").write_bytes(b"main")
    (folder / "src/deep/inner.py").write_bytes(b"inner")
    for secret in ("app-evil/f", "outside/f", "outside/deep/f"):
        (tmp_path / secret).write_bytes(b"canary")
    return folder


@pytest.fixture
def root(app: Path) -> Iterator[Root]:
    with Root(app) as opened:
        yield opened


@pytest.fixture(autouse=True)
def outside_stays_as_it_is(app: Path) -> Iterator[None]:
    def picture() -> dict[str, object]:
        tops = [app.parent / "outside", app.parent / "app-evil"]
        return {
            str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
            for top in tops
            for path in top.rglob("*")
        }

    before = picture()
    yield
    assert picture() == before


def read(root: Root, path: str) -> bytes:
    return root.read_bytes(parse_path(path), limit_bytes=LIMIT_BYTES)


# Every operation, by the path that it is about; each must refuse a path that leads out.
OPERATIONS: dict[str, Callable[[Root, RelativePath], object]] = {
    "open_file": lambda root, path: root.open_file(path).close(),
    "read_bytes": lambda root, path: root.read_bytes(path, limit_bytes=LIMIT_BYTES),
    "list_folder": lambda root, path: root.list_folder(path),
    "stat": lambda root, path: root.stat(path),
    "make_folders": lambda root, path: root.make_folders(path),
    "write_file": lambda root, path: root.write_file(path, b"new"),
    "create_file": lambda root, path: root.create_file(path, b"new"),
    "remove_file": lambda root, path: root.remove_file(path),
    "remove_folder": lambda root, path: root.remove_folder(path),
    "sweep_temporary": lambda root, path: root.sweep_temporary(path),
}
FOLLOWING = {"open_file", "read_bytes", "list_folder", "stat", "write_file"}
MAKING = {"make_folders", "write_file", "create_file"}
each_operation = pytest.mark.parametrize("operation", OPERATIONS)


def refused(root: Root, operation: str, path: str) -> ToolrollError:
    """The error of an operation, which must be typed and must lose no descriptor."""
    before = descriptors()
    with pytest.raises(ToolrollError) as caught:
        OPERATIONS[operation](root, parse_path(path))
    assert descriptors() == before
    assert caught.value.message
    return caught.value


def test_reading(root: Root) -> None:
    assert read(root, "top.txt") == b"top"
    assert read(root, "src/deep/inner.py") == b"inner"
    with root.open_file(parse_path("src/main.py")) as file:
        assert file.read(4) == b"main"
        assert file.read(100) == b"main"
        assert file.stat.st_size == 4
        assert file.resolved == parse_path("src/main.py")
    file.close()


def test_listing_gives_kinds_sizes_and_times_by_name(root: Root, app: Path) -> None:
    (app / "link").symlink_to("top.txt")
    top = (app / "top.txt").stat()
    listed = root.list_folder()
    assert [(entry.name, entry.kind) for entry in listed] == [
        ("link", "link"),
        ("src", "folder"),
        ("top.txt", "file"),
    ]
    assert listed[2] == Entry(name="top.txt", kind="file", size=3, mtime_ns=top.st_mtime_ns)
    assert [entry.name for entry in root.list_folder(parse_path("src"))] == ["deep", "main.py"]


def test_stat(root: Root, app: Path) -> None:
    (app / "top.txt").chmod(0o640)
    (app / "link").symlink_to("src/../top.txt")
    found = root.stat(parse_path("link"))
    assert (found.kind, found.size, found.mode) == ("file", 3, 0o640)
    assert found.resolved == parse_path("top.txt")
    assert root.stat(parse_path("src")).kind == "folder"


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - MAKING))
def test_a_missing_name_is_told_as_such(root: Root, operation: str) -> None:
    error = refused(root, operation, "src/none")
    assert isinstance(error, FileMissing)
    assert error.path == "src/none"


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - {"make_folders"}))
def test_a_missing_folder_on_the_way_is_told_as_such(root: Root, operation: str) -> None:
    assert isinstance(refused(root, operation, "none/deeper/x"), FileMissing)


@each_operation
def test_a_file_on_the_way_is_told_as_such(root: Root, operation: str) -> None:
    assert isinstance(refused(root, operation, "top.txt/x"), NotAFile)


def test_XP2_a_sibling_that_begins_like_the_root_is_outside(root: Root, app: Path) -> None:
    for text in ("../app-evil/f", f"{app}-evil/f"):
        with pytest.raises(PathRefused):
            parse_path(text)
    (app / "evil").symlink_to("../app-evil")
    for operation in OPERATIONS:
        assert isinstance(refused(root, operation, "evil/f"), OutsideRoot)


LEADING_OUT = {
    "relative file": ("bad", "../outside/f"),
    "absolute file": ("bad", "/etc/passwd"),
    "relative folder": ("bad", "../outside"),
    "absolute folder": ("bad", "/etc"),
    "absolute, though there is such a file below the root": ("bad", "/src/main.py"),
    "up from below": ("src/bad", "../../outside/f"),
    "over the top and back": ("bad", "../app/top.txt"),
    "dangling": ("bad", "src/none"),
    "dangling deeper": ("bad", "none/deeper"),
    "dangling outside": ("bad", "../outside/none"),
    "itself": ("bad", "bad"),
    "the root's parent": ("bad", ".."),
}


@each_operation
@pytest.mark.parametrize("kind", LEADING_OUT)
def test_XP3_links_that_lead_out_dangle_or_loop_are_refused(root: Root, app: Path, operation: str, kind: str) -> None:
    name, target = LEADING_OUT[kind]
    (app / name).symlink_to(target)
    error = refused(root, operation, name)
    if operation in FOLLOWING or operation == "make_folders":
        assert isinstance(error, OutsideRoot)
    # What changes names takes the link as it is, and none of them touches a link.
    assert os.readlink(app / name) == target
    assert (app / "top.txt").read_bytes() == b"top"


@each_operation
@pytest.mark.parametrize("target", ["../outside", "/etc", "../app-evil", "src/none", "bad", "other"])
def test_XP3_XP4_nothing_is_done_below_a_folder_that_is_such_a_link(
    root: Root, app: Path, operation: str, target: str
) -> None:
    (app / "other").symlink_to("bad")
    (app / "bad").symlink_to(target)
    assert isinstance(refused(root, operation, "bad/deep/f"), OutsideRoot)
    assert isinstance(refused(root, operation, "bad/f"), OutsideRoot)


def test_XP3_links_that_stay_inside_are_followed(root: Root, app: Path) -> None:
    (app / "a").symlink_to("src")
    (app / "src/b").symlink_to("../a/./deep//")
    (app / "src/deep/c").symlink_to("../../src/main.py")
    with root.open_file(parse_path("a/b/c")) as file:
        assert file.read(100) == b"main"
        assert file.resolved == parse_path("src/main.py")
    assert [entry.name for entry in root.list_folder(parse_path("a/b"))] == ["c", "inner.py"]
    (app / "here").symlink_to("src/..")
    assert {entry.name for entry in root.list_folder(parse_path("here"))} == {"a", "here", "src", "top.txt"}
    assert root.stat(parse_path("here")).resolved == RelativePath(parts=())
    assert isinstance(refused(root, "read_bytes", "here"), NotAFile)


def test_XP3_forty_links_are_followed_and_no_more(root: Root, app: Path) -> None:
    for number in range(1, 42):
        (app / f"l{number}").symlink_to(f"l{number - 1}")
    (app / "l0").write_bytes(b"end")
    assert read(root, "l40") == b"end"
    assert "circles" in refused(root, "read_bytes", "l41").message


def test_XP3_a_link_cannot_lead_deeper_than_a_path_may_be(root: Root, app: Path) -> None:
    folder = os.open(app, os.O_RDONLY)
    for _ in range(MAX_COMPONENTS + 1):
        os.mkdir("d", dir_fd=folder)
        deeper = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    os.close(folder)
    half = "/".join(["d"] * (MAX_COMPONENTS // 2))
    (app / half / "bridge").symlink_to(half + "/d/d")
    assert root.list_folder(parse_path("/".join(["d"] * MAX_COMPONENTS)))[0].name == "d"
    assert "too many" in refused(root, "read_bytes", f"{half}/bridge/f").message


def test_XP3_deny_rules_match_the_name_and_what_it_resolves_to(app: Path) -> None:
    asked: list[tuple[str, Use]] = []

    def guard(path: RelativePath, use: Use) -> None:
        asked.append((str(path), use))
        if is_protected(path):
            raise PathRefused(f"{path} is protected", path=str(path), rule="protected")

    (app / ".git").mkdir()
    (app / ".git/config").write_bytes(b"[core]")
    (app / "harmless").symlink_to(".git/config")
    (app / "folder").symlink_to(".git")
    with Root(app, guard=guard) as root:
        for path in (".git/config", "harmless", "folder/config", ".git/none/deeper"):
            for operation in OPERATIONS:
                error = refused(root, operation, path)
                assert operation not in FOLLOWING or isinstance(error, PathRefused)
        assert (app / ".git/config").read_bytes() == b"[core]"
        asked.clear()
        (app / "link").symlink_to("src")
        assert read(root, "link/main.py") == b"main"
        root.write_file(parse_path("top.txt"), b"new")
        root.make_folders(parse_path("src/more"))
    assert asked == [
        ("link/main.py", "read"),
        ("src/main.py", "read"),
        ("top.txt", "write"),
        ("src/more", "write"),
    ]


def test_XP4_nothing_is_made_below_a_linked_parent_even_inside(root: Root, app: Path) -> None:
    (app / "link").symlink_to("src")
    for operation in sorted(MAKING):
        assert isinstance(refused(root, operation, "link/new"), OutsideRoot)
    assert "Name it 'src/new'" in refused(root, "write_file", "link/new").message
    assert sorted(os.listdir(app / "src")) == ["deep", "main.py"]
    root.write_file(parse_path("link/main.py"), b"changed")
    assert (app / "src/main.py").read_bytes() == b"changed"


def test_XP4_missing_parents_are_made_one_by_one(root: Root, app: Path) -> None:
    made = root.make_folders(parse_path("src/a/b/c"), 0o750)
    assert [str(path) for path in made] == ["src/a", "src/a/b", "src/a/b/c"]
    assert stat.S_IMODE((app / "src/a").stat().st_mode) == 0o750
    assert root.make_folders(parse_path("src/a/b/c")) == ()
    root.create_file(parse_path("src/a/b/c/new.py"), b"new")
    assert (app / "src/a/b/c/new.py").read_bytes() == b"new"


def test_XP4_a_folder_that_appears_meanwhile_is_entered(root: Root, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.mkdir

    def mkdir(name: str, mode: int, *, dir_fd: int) -> None:
        real(name, mode, dir_fd=dir_fd)
        real(name, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", mkdir)
    root.make_folders(parse_path("a/b"))
    assert (app / "a/b").is_dir()


def test_XP6_a_hard_link_is_replaced_by_name_and_reported(root: Root, app: Path) -> None:
    inside = app / "hard"
    os.link(app.parent / "outside/f", inside)
    report = root.write_file(parse_path("hard"), b"new")
    assert report.hard_linked
    assert not report.created
    assert inside.read_bytes() == b"new"
    assert (app.parent / "outside/f").read_bytes() == b"canary"
    assert not root.write_file(parse_path("hard"), b"newer").hard_linked


def test_writing_keeps_the_mode_and_replaces_at_once(root: Root, app: Path) -> None:
    script = app / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o4755)
    before = script.open("rb")
    report = root.write_file(parse_path("run.sh"), b"new")
    assert (report.created, report.hard_linked, str(report.resolved)) == (False, False, "run.sh")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert before.read() == b"old"
    before.close()
    root.write_file(parse_path("run.sh"), b"newer", mode=0o600)
    assert stat.S_IMODE(script.stat().st_mode) == 0o600
    assert sorted(os.listdir(app)) == ["run.sh", "src", "top.txt"]


@pytest.mark.skipif(not as_root, reason="only root can give files away")
def test_writing_keeps_the_owner_where_it_can(root: Root, app: Path) -> None:
    os.chown(app / "top.txt", 12345, 54321)
    root.write_file(parse_path("top.txt"), b"new")
    found = (app / "top.txt").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_new_files_get_the_mode_that_the_umask_leaves(root: Root, app: Path) -> None:
    before = os.umask(0o027)
    try:
        assert root.write_file(parse_path("one"), b"").created
        assert root.create_file(parse_path("two"), b"").created
    finally:
        os.umask(before)
    assert stat.S_IMODE((app / "one").stat().st_mode) == 0o640
    assert stat.S_IMODE((app / "two").stat().st_mode) == 0o640


def test_writing_through_a_link_replaces_its_target_never_the_link(root: Root, app: Path) -> None:
    (app / "link").symlink_to("src/deep/inner.py")
    report = root.write_file(parse_path("link"), b"new")
    assert report.resolved == parse_path("src/deep/inner.py")
    assert os.readlink(app / "link") == "src/deep/inner.py"
    assert (app / "src/deep/inner.py").read_bytes() == b"new"


@pytest.mark.parametrize("operation", ["write_file", "create_file", "remove_file", "open_file"])
def test_a_folder_is_no_file(root: Root, operation: str) -> None:
    error = refused(root, operation, "src")
    assert isinstance(error, FileExists if operation == "create_file" else NotAFile)
    assert operation == "create_file" or "folder" in error.message


def test_creating_is_exclusive(root: Root, app: Path) -> None:
    (app / "dangling").symlink_to("none")
    for taken in ("top.txt", "src", "dangling"):
        error = refused(root, "create_file", taken)
        assert isinstance(error, FileExists)
    assert (app / "top.txt").read_bytes() == b"top"
    report = root.create_file(parse_path("src/new"), b"new", mode=0o600)
    assert (report.created, str(report.resolved)) == (True, "src/new")
    assert stat.S_IMODE((app / "src/new").stat().st_mode) == 0o600


def test_removing(root: Root, app: Path) -> None:
    root.remove_file(parse_path("src/deep/inner.py"))
    root.remove_folder(parse_path("src/deep"))
    assert os.listdir(app / "src") == ["main.py"]
    error = refused(root, "remove_folder", "src")
    assert isinstance(error, FileSystemRefused)
    assert error.errno_name == "ENOTEMPTY"


def test_XP10_odd_names_are_listed_escaped_and_opened_but_not_made(root: Root, app: Path) -> None:
    odd = "a\u202eb:c"
    (app / odd).write_bytes(b"odd")
    assert root.list_folder()[0].shown == "a‹U+202E›b:c"
    assert read(root, odd) == b"odd"
    assert not root.write_file(parse_path(odd), b"changed").created
    for operation in sorted(MAKING):
        assert isinstance(refused(root, operation, f"src/{odd}"), PathRefused)
    (app / "odd\u200bfolder").mkdir()
    root.create_file(parse_path("odd\u200bfolder/plain"), b"")
    root.make_folders(parse_path("odd\u200bfolder/more"))


def test_XP10_a_name_that_is_not_utf8_is_listed(root: Root, app: Path) -> None:
    try:
        (app / os.fsdecode(b"bad\xff")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system has no such names")
    entry = root.list_folder()[0]
    assert entry.name == "bad\udcff"
    assert entry.shown == "bad‹U+DCFF›"


def test_pipes_sockets_and_devices_are_no_files(root: Root, app: Path) -> None:
    """XF1: at once, and without waking whoever waits at the other end of a pipe."""
    os.mkfifo(app / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(app)  # the path of a socket may have 108 bytes only
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        names = {"pipe": "pipe", "socket": "socket"}
        if as_root:
            os.mknod(app / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
            names["zero"] = "device"
        for name, word in names.items():
            for operation in ("open_file", "read_bytes", "write_file", "remove_file", "list_folder"):
                error = refused(root, operation, name)
                assert isinstance(error, NotAFile)
                assert word in error.message
        kinds = {entry.name: entry.kind for entry in root.list_folder()}
        assert {kinds[name] for name in names} == {"other"}


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_what_is_swapped_in_at_the_last_moment_is_no_file_either(app: Path, kind: str) -> None:
    """XF1: the descriptor is asked, not only the name."""
    looked_at = (app / "top.txt").stat()
    (app / "top.txt").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        if kind == "pipe":
            os.mkfifo(app / "top.txt")
        elif kind == "folder":
            (app / "top.txt").mkdir()
        else:
            here = os.getcwd()
            os.chdir(app)
            server.bind("top.txt")
            os.chdir(here)
        path = parse_path("top.txt")
        folder_fd = os.open(app, os.O_RDONLY)
        spot = Spot(folder_fd=folder_fd, name="top.txt", found=looked_at, resolved=path)
        try:
            with pytest.raises(NotAFile), os_errors("top.txt"):
                open_regular(spot, path)
        finally:
            os.close(folder_fd)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_an_endless_file_is_read_up_to_the_limit() -> None:
    """XF1, XF2: such a file says that it holds nothing, and never ends."""
    with Root("/proc/self") as proc, pytest.raises(FileTooLarge) as caught:
        proc.read_bytes(parse_path("status"), limit_bytes=100)
    assert caught.value.limit_bytes == 100
    assert "too much" in caught.value.message


@pytest.mark.parametrize("size", [0, 99, 100, 101, 3 << 20])
def test_the_limit_counts_the_bytes_that_were_read(root: Root, app: Path, size: int) -> None:
    """XF2: around the limit, and over several reads."""
    data = os.urandom(size)
    (app / "data").write_bytes(data)
    assert root.read_bytes(parse_path("data"), limit_bytes=size) == data
    assert root.read_bytes(parse_path("data"), limit_bytes=size + 1) == data
    if size:
        with pytest.raises(FileTooLarge) as caught:
            root.read_bytes(parse_path("data"), limit_bytes=size - 1)
        assert f"{size:,} bytes" in caught.value.message


def test_a_file_that_grows_after_the_check_is_bounded(root: Root, app: Path) -> None:
    """XF2: what it said when it was opened decides nothing."""
    with root.open_file(parse_path("top.txt")) as file:
        assert file.stat.st_size == 3
        with (app / "top.txt").open("ab") as writer:
            writer.write(b"x" * 1000)
        with pytest.raises(FileTooLarge):
            file.read(100)
        assert len(file.read(1003)) == 1003


def test_a_root_is_a_folder_that_exists(app: Path) -> None:
    with pytest.raises(FileMissing):
        Root(app / "none")
    with pytest.raises(NotAFile):
        Root(app / "top.txt")
    (app.parent / "alias").symlink_to("app")
    with Root(app.parent / "alias") as root:
        assert read(root, "top.txt") == b"top"


def test_a_closed_root_refuses_everything(app: Path) -> None:
    root = Root(app)
    root.close()
    root.close()
    for operation in OPERATIONS:
        error = refused(root, operation, "top.txt")
        assert isinstance(error, FileSystemRefused)
        assert error.errno_name == "EBADF"


def test_XF15_a_root_that_was_renamed_and_replaced_is_gone(root: Root, app: Path) -> None:
    app.rename(app.parent / "renamed")
    for there in ("nothing", "link", "folder"):
        if there == "link":
            app.symlink_to("outside")
        if there == "folder":
            app.unlink()
            app.mkdir()
        with pytest.raises(RootGone) as caught:
            root.write_file(parse_path("f"), b"new")
        assert caught.value.code == "root_gone"
        with pytest.raises(RootGone), root.handle():
            pass
        with pytest.raises(RootGone):
            root.make_folders(parse_path("g"))
    assert not (app.parent / "renamed/f").exists()
    app.rmdir()
    (app.parent / "renamed").rename(app)
    assert root.list_folder(names=["top.txt", "nothing"])[0].name == "top.txt"


def test_XF15_a_root_whose_name_may_not_be_looked_at_is_used(
    root: Root, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(type(app), "stat", refuse)
    assert read(root, "src/deep/inner.py") == b"inner"


def test_several_threads_share_a_root(root: Root) -> None:
    wrong: list[bytes] = []

    def work() -> None:
        wrong.extend(data for _ in range(200) if (data := read(root, "src/deep/inner.py")) != b"inner")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_XP14_a_root_without_links_follows_none_and_shares_the_folder(root: Root, app: Path) -> None:
    (app / "link.txt").symlink_to("top.txt")
    assert read(root, "link.txt") == b"top"
    strict = root.without_links()
    assert read(strict, "top.txt") == b"top"
    with pytest.raises(ToolrollError):
        read(strict, "link.txt")
    assert read(root, "link.txt") == b"top", "the first one follows links as before"


@needs_permissions
def test_a_closed_folder_is_refused_with_the_systems_word(root: Root, app: Path) -> None:
    """XF8: EACCES."""
    (app / "src").chmod(0)
    try:
        errors = [refused(root, operation, "src/deep/x") for operation in OPERATIONS]
    finally:
        (app / "src").chmod(0o755)
    assert {error.errno_name for error in errors if isinstance(error, FileSystemRefused)} == {"EACCES"}
    assert {type(error) for error in errors} == {FileSystemRefused}


@needs_permissions
def test_folders_that_may_be_passed_but_not_read_are_passed(root: Root, app: Path) -> None:
    (app / "src").chmod(0o311)
    try:
        assert read(root, "src/main.py") == b"main"
    finally:
        (app / "src").chmod(0o755)


def test_an_entry_that_cannot_be_looked_at_is_marked(root: Root, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XF8: one broken entry marks itself; a name that vanishes meanwhile is simply not there."""

    class Scan:
        def __init__(self, fd: int) -> None:
            self.names = ["gone", "broken"]

        def __enter__(self) -> Iterator["Scan.Found"]:
            return (Scan.Found(name) for name in self.names)

        def __exit__(self, *_: object) -> None: ...

        class Found:
            def __init__(self, name: str) -> None:
                self.name = name

            def stat(self, *, follow_symlinks: bool) -> os.stat_result:
                number = errno.ENOENT if self.name == "gone" else errno.EIO
                raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", Scan)
        listed = root.list_folder()
    assert listed == (Entry(name="broken", kind="other", problem="EIO"),)


def test_a_folder_with_too_many_names_is_refused(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ENTRIES", 2)
    assert len(root.list_folder()) == 2
    root.create_file(parse_path("third"), b"")
    with pytest.raises(FileSystemRefused, match="more than 2 names") as caught:
        root.list_folder()
    assert caught.value.errno_name == "EOVERFLOW"


def test_what_killed_writers_left_is_swept(root: Root, app: Path) -> None:
    for folder in (app, app / "src"):
        (folder / f".toolroll-{'0' * 32}.tmp").write_bytes(b"half")
    assert root.sweep_temporary() == 1
    assert root.sweep_temporary(parse_path("src")) == 1
    assert sorted(os.listdir(app / "src")) == ["deep", "main.py"]


def test_without_o_path_the_answers_are_the_same(app: Path) -> None:
    """What macOS has: every test that matters once more, with the flags that are left there."""
    script = (
        "import os, sys\n"
        "del os.O_PATH\n"
        "from toolroll.safe.paths import openat2, walk\n"
        "openat2.is_available = lambda: False\n"
        "from toolroll.safe.paths.root import Root\n"
        "from toolroll.safe.paths.names import parse_path\n"
        "from toolroll.errors import ToolrollError\n"
        "assert not walk.FOLDER_FLAGS & 0o10000000\n"
        "with Root(sys.argv[1]) as root:\n"
        "    root.make_folders(parse_path('a/b'))\n"
        "    root.create_file(parse_path('a/b/c'), b'made')\n"
        "    print(root.read_bytes(parse_path('link/c'), limit_bytes=9), [e.name for e in root.list_folder()])\n"
        "    for path in ('out/f', 'a/b/c/d', 'none/x'):\n"
        "        try: root.read_bytes(parse_path(path), limit_bytes=9)\n"
        "        except ToolrollError as error: print(error.code)\n"
    )
    (app / "link").symlink_to("a/b")
    (app / "out").symlink_to("../outside")
    done = subprocess.run([sys.executable, "-c", script, app], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "b'made' ['a', 'link', 'out', 'src', 'top.txt']",
        "outside_root",
        "not_a_file",
        "file_not_found",
    ]


def test_every_error_of_the_walk_is_about_the_path_as_given(root: Root, app: Path) -> None:
    (app / "out").symlink_to("../outside")
    for operation in OPERATIONS:
        error = refused(root, operation, "out/f")
        assert isinstance(error, FileProblem)
        assert error.path == "out/f"
        assert str(app) not in error.message


def test_a_link_that_became_something_else_is_an_error(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = os.stat_result((stat.S_IFLNK | 0o777, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    monkeypatch.setattr(walk, "_look", lambda *_: linked)
    error = refused(root, "read_bytes", "top.txt")
    assert isinstance(error, FileSystemRefused)
    assert "try again" in error.message


def test_XP17_a_root_with_another_guard_asks_that_one_and_shares_the_folder(root: Root) -> None:
    def guard(path: RelativePath, _use: Use) -> None:
        raise PathRefused("no", path=str(path), rule="denied")

    guarded = root.with_guard(guard)
    with pytest.raises(PathRefused):
        read(guarded, "top.txt")
    assert read(root, "top.txt") == b"top", "the first one is guarded as before"
