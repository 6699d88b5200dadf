"""A sandbox: found only where it works, and in it nothing of the user's but one folder."""

import os
import socket
from pathlib import Path
from shutil import which

import pytest

from toolroll.safe.programs.run import DEFAULT_PATH, ProgramResult, run_program
from toolroll.safe.programs.sandbox import SandboxFolder, find_sandbox, sandbox_command, sandbox_environment

SANDBOX = find_sandbox(os.environ)
PYTHON = which("python3", path=DEFAULT_PATH)
needs_sandbox = pytest.mark.skipif(not (SANDBOX and PYTHON), reason="needs bubblewrap and the system's own Python")


def fake(folder: Path, script: str) -> str | None:
    """What is found where this script is the only bubblewrap."""
    program = folder / "bwrap"
    program.write_text(script)
    program.chmod(0o755)
    return find_sandbox({"PATH": str(folder)})


def test_S13_a_sandbox_is_used_only_where_it_works(tmp_path: Path) -> None:
    assert find_sandbox({"PATH": str(tmp_path)}) is None
    folders = [tmp_path / name for name in ("works", "fails", "broken")]
    for folder in folders:
        folder.mkdir()
    assert fake(folders[0], "#!/bin/sh\nexit 0\n") == str(folders[0] / "bwrap")
    assert fake(folders[1], "#!/bin/sh\nexit 1\n") is None
    assert fake(folders[2], "#!/no/such/interpreter\n") is None


def test_S13_the_words_of_the_program_come_last_and_as_they_are(tmp_path: Path) -> None:
    folder = SandboxFolder(
        root=tmp_path, hidden_files=["/p/.env"], hidden_folders=["/p/.git"], read_only=["/p/.vscode"]
    )
    words = sandbox_command("/bin/bwrap", ["echo", "--bind", "; ls"], folder, cwd=tmp_path / "sub")
    assert words[-4:] == ["--", "echo", "--bind", "; ls"]
    assert words[words.index("--chdir") + 1] == str(tmp_path / "sub")
    assert sandbox_environment({"HOME": "/home/me", "API_KEY": "x", "PATH": "/bin"}) == {
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "PATH": "/bin",
    }


async def _run(code: str, folder: SandboxFolder) -> ProgramResult:
    assert SANDBOX
    assert PYTHON
    command = sandbox_command(SANDBOX, [PYTHON, "-c", code], folder, cwd=folder.root)
    env = sandbox_environment(os.environ)
    return await run_program(command, timeout_s=20, limit_output_bytes=10_000, env=env)


@needs_sandbox
async def test_S13_in_a_sandbox_there_is_no_network_no_home_and_nothing_hidden(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside.txt"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text("secret")
    (root / ".env").write_text("secret")
    (root / "a.txt").write_text("tea")
    outside.write_text("secret")
    (root / "link").symlink_to(outside)
    folder = SandboxFolder(root=root, hidden_files=[str(root / ".env")], hidden_folders=[str(root / ".git")])
    code = f"""
import os, socket
print(open('a.txt').read(), os.listdir('.git'), os.path.exists({str(outside)!r}), os.listdir(os.environ['HOME']))
for name in ('.env', 'link'):
    try: print(open(name).read())
    except OSError: print('refused')
try: open('new.txt', 'w')
except OSError: print('read-only')
try: socket.create_connection(('127.0.0.1', PORT), 5)
except OSError: print('no network')
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = await _run(code.replace("PORT", str(server.getsockname()[1])), folder)
    lines = result.stdout.decode().splitlines()
    home = [] if not str(tmp_path).startswith("/tmp/") else [tmp_path.parts[2]]
    assert lines[0] == f"tea [] False {home}", result.stderr
    assert lines[1:] == ["refused", "refused", "read-only", "no network"]


@needs_sandbox
async def test_S13_a_writable_folder_keeps_what_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    folder = SandboxFolder(root=tmp_path, writable=True, read_only=[str(tmp_path / ".vscode")])
    code = """
open('new.txt', 'w').write('tea')
try: open('.vscode/tasks.json', 'w')
except OSError: print('refused')
"""
    result = await _run(code, folder)
    assert (result.stdout, (tmp_path / "new.txt").read_text()) == (b"refused\n", "tea")
    assert list((tmp_path / ".vscode").iterdir()) == []
