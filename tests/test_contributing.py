"""The worked examples of CONTRIBUTING.md, followed in a copy of the tree.

```python              with `# append to: PATH` in its first line: is added to the end of that file
```diff                with `--- PATH` in its first line: the lines with ' ' and '-' become those with ' ' and '+'
```console             each `$ command` runs in an empty project; the lines below it are its output
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"^### (.+)$", PAGE.partition("## Worked examples")[2].partition("\n## ")[0], re.MULTILINE)
LIST_TOOLS = "from toolroll.packs.registry import write_list; write_list()"  # what `make tools` runs


def section(title: str) -> str:
    return re.split(r"^##", PAGE.partition(f"### {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def append(tree: Path, block: str) -> None:
    first, _, code = block.partition("\n")
    path = tree / first.removeprefix("# append to: ")
    path.write_text(path.read_text(encoding="utf-8") + code, encoding="utf-8")


def change(tree: Path, block: str) -> None:
    first, *lines = block.splitlines()
    path = tree / first.removeprefix("--- ")
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name} does not have these lines once:\n{old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def environment(tree: Path, home: Path) -> dict[str, str]:
    """The commands of the copy: scripts of the same names that run its modules."""
    scripts = tree / "scripts"
    scripts.mkdir(exist_ok=True)
    for name in ("toolroll", "ghostpen"):
        script = scripts / name
        script.write_text(f"#!{sys.executable}\nfrom toolroll.cli.entry import {name}\n{name}()\n")
        script.chmod(0o755)
    path = os.pathsep.join([str(scripts), os.environ["PATH"]])
    return {"PATH": path, "PYTHONPATH": str(tree / "src"), "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1"}


def run_console(block: str, folder: Path, env: dict[str, str]) -> None:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=120
        )
        assert done.stdout == expected, done.stderr


def test_there_are_three_examples() -> None:
    assert EXAMPLES == ["Add a code tool", "Add a provider", "Add a field to the style profile"]


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_works_as_shown(title: str, tmp_path: Path) -> None:
    tree, folder, home = tmp_path / "tree", tmp_path / "project", tmp_path / "home"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    folder.mkdir()
    home.mkdir()
    (folder / "notes.txt").write_text("one\ntwo\n")
    env = environment(tree, home)
    for language, block in BLOCK.findall(section(title)):
        match language:
            case "python":
                append(tree, block)
            case "diff":
                change(tree, block)
            case _:
                subprocess.run([sys.executable, "-c", LIST_TOOLS], env=env, check=True, timeout=120)
                run_console(block, folder, env)
