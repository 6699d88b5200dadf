"""`toolroll completion`: the script works in a real shell, for commands and for names of tools."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.project import Calling
from tests.cli.pseudo import environment

BASH = shutil.which("bash")
ZSH = shutil.which("zsh")
FISH = shutil.which("fish")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_S6_the_script_says_how_to_install_it(call: Calling, shell: str) -> None:
    told = call("completion", shell)
    assert (told.code, told.err) == (0, "")
    assert f"# Completion of toolroll for {shell}. To install it:\n#   toolroll completion {shell} > " in told.out
    assert "_TOOLROLL_COMPLETE" in told.out
    as_json = json.loads(call("completion", shell, "--json").out)
    assert (as_json["shell"], as_json["script"]) == (shell, told.out)
    assert as_json["install"].startswith(f"toolroll completion {shell} > ")


def test_S6_zsh_knows_the_file_by_its_first_line(call: Calling) -> None:
    assert call("completion", "zsh").out.startswith("#compdef toolroll\n# Completion")


def test_S2_another_shell_is_2(call: Calling) -> None:
    told = call("completion", "tcsh")
    assert (told.code, "'tcsh' is not one of 'bash', 'zsh', 'fish'" in told.err) == (2, True)


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["toolroll", "comp"], ["completion"]),
        (["toolroll", "config", "un"], ["unset"]),
        (["toolroll", "config", "set", "code.max"], ["code.max_steps"]),
        (["toolroll", "config", "key", "set", "NOT"], ["NOTION_TOKEN"]),
        (["toolroll", "call", "read_f"], ["read_file"]),
        (["toolroll", "doctor", "--onl"], ["--online"]),
        (["toolroll", "completion", "f"], ["fish"]),
    ],
)
def test_S6_bash_completes_commands_options_and_tools(
    call: Calling, tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    script = tmp_path / "toolroll.bash"
    script.write_text(call("completion", "bash").out)
    program = tmp_path / "bin" / "toolroll"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom toolroll.cli.main import main\nmain()\n")
    program.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    code = (
        f"source '{script}'\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        "name=$(complete -p toolroll | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
        f"$name toolroll '{words[-1]}' '{words[-2]}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    )
    env = environment(tmp_path / "home")
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    done = subprocess.run([BASH or "", "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (expected, "")


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_S6_the_shell_can_read_its_script(call: Calling, shell: str, program: str | None) -> None:
    if program is None:
        pytest.skip(f"needs {shell}")
    script = call("completion", shell).out
    subprocess.run([program, "-n"], input=script, text=True, check=True, capture_output=True)
