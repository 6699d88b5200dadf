"""Following symbols: definitions, importers, outlines, references, a map; at once, and when all is indexed."""

import asyncio
import threading
from pathlib import Path

import pytest
from tests.packs.code.conftest import FORMAT, Coder, coding, refuse_data

from toolroll.kernel.call.events import Progress
from toolroll.outputs.cut import CONTEXT_BYTES
from toolroll.packs.code import symbol_tools as symbols
from toolroll.packs.code.keys import INDEX, WORKSPACE
from toolroll.testing import recorded_events
from toolroll.workspace.symbols.index import Index


async def test_C14_a_definition_with_kind_signature_and_context(coder: Coder, project: Path) -> None:
    await coder.ok("repo_map")
    assert (await coder.ok("find_definition", symbol="DatabaseService")).split("\n")[:4] == [
        "src/services/DatabaseService.js:4  class DatabaseService",
        "  export class DatabaseService  -- The board in one JSON file.",
        "    4\texport class DatabaseService {",
        "    5\t  constructor({ path }) {",
    ]
    assert "scripts/teaboard/board.py" in await coder.ok("find_definition", symbol="load_debts", type="function")
    assert "DatabaseService.js:15  method DatabaseService.save" in (
        await coder.ok("find_definition", symbol="DatabaseService.save")
    )


async def test_C14_the_kind_narrows_it_down(coder: Coder, project: Path) -> None:
    await coder.ok("repo_map")
    assert "No definition of 'DatabaseService'" in (
        await coder.ok("find_definition", symbol="DatabaseService", type="function")
    )
    text = await coder.ok("find_definition", symbol="DatabaseService", type="import")
    assert "src/main.js:2" in text
    result = await coder("find_definition", symbol="DatabaseService", type="module")
    assert (result.code, "function" in result.text) == ("invalid_arguments", True)


@pytest.mark.parametrize(
    ("symbol", "place"),
    [
        ("os", "a.py:1  import os"),
        ("np", "a.py:2  import np"),
        ("y", "a.py:3  import y"),
        ("z", "a.py:3  import z"),
        ("fs", "b.js:1  import fs"),
        ("ns", "b.js:2  import ns"),
        ("r", "b.js:3  import r"),
        ("u", "b.js:4  import u"),
    ],
)
async def test_C14_an_import_is_found_by_the_name_that_its_file_knows(
    coder: Coder, folder: Path, symbol: str, place: str
) -> None:
    (folder / "a.py").write_text("import os\nimport numpy as np\nfrom x import y as z\n")
    (folder / "b.js").write_text(
        "import fs from 'fs';\nimport * as ns from './c';\nimport {q as r} from './c';\nconst {u} = require('./c');\n"
    )
    await coder.ok("find_importers", modulePath="os")
    for more in ({"type": "import"}, {}):
        text = await coder.ok("find_definition", symbol=symbol, **more)
        assert place in text.split("\n")


async def test_C14_C42_a_name_of_another_kind_is_told_with_its_place(coder: Coder, folder: Path) -> None:
    (folder / "a.py").write_text("def helper():\n    pass\n")
    (folder / "b.py").write_text("helper = 1\n\n\ndef aide():\n    pass\n")
    await coder.ok("repo_map")
    heading, *lines = (await coder.ok("find_definition", symbol="helper", type="class")).split("\n")
    assert heading == "No definition of 'helper' is of type class. It is defined as function and variable:"
    assert [line for line in lines if not line.startswith(" ")] == [
        "a.py:1  function helper",
        "b.py:1  variable helper",
    ]
    assert (await coder.ok("find_definition", symbol="aide", type="import")).startswith(
        "No definition of 'aide' is of type import. It is defined as function:\nb.py:4  function aide\n"
    )
    assert (await coder.ok("find_definition", symbol="help", type="class")) == (
        "No definition of 'help' was found. Did you mean helper?"
    )


async def test_C14_C22_before_the_index_is_complete_a_search_answers(
    coder: Coder, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Index, "start", lambda *_: None)
    monkeypatch.setattr(Index, "wait", lambda *_: False)
    text = await coder.ok("find_definition", symbol="DatabaseService")
    assert "src/services/DatabaseService.js:4" in text
    assert "[The index is not complete yet: this comes from a search" in text
    text = await coder.ok("find_importers", modulePath=FORMAT)
    assert text.endswith("[the index is not complete yet: there may be more]")
    assert (await coder.refused("repo_map"))[0] == "no_symbols"


async def test_C23_a_map_of_a_part_says_so(coder: Coder, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not complete" not in await coder.ok("repo_map")
    monkeypatch.setattr(Index, "is_ready", False)
    assert (await coder.ok("repo_map")).endswith("[the index is not complete yet: ask again later for all of it]")


async def test_C14_C42_what_is_not_there_leads_on(coder: Coder, project: Path) -> None:
    await coder.ok("repo_map")
    assert await coder.ok("find_definition", symbol="formatCup") == (
        "No definition of 'formatCup' was found. Did you mean formatCups?"
    )
    assert (await coder.ok("find_definition", symbol="Zebra")) == (
        "No definition of 'Zebra' was found. Try search_files for other mentions of it."
    )


@pytest.mark.parametrize("name", ["", " ", "a\0b", "a\nb", "\x1b[2J", "a\u202eb"])
async def test_C14_C42_what_is_no_name_is_refused(name: str, coder: Coder) -> None:
    for tool, argument in (
        ("find_definition", "symbol"),
        ("find_references", "symbol"),
        ("find_importers", "modulePath"),
    ):
        code, message = await coder.refused(tool, **{argument: name})
        assert code == "invalid_arguments"
        assert "is no name" in message


async def test_C15_importers_with_their_statements(coder: Coder, project: Path) -> None:
    (project / "src/lazy.js").write_text('export * from "./services/format.js";\nimport("./services/format.js");\n')
    (project / "src/far.js").write_text('import { formatCups } from "./lazy.js";\n')
    text = await coder.ok("find_importers", modulePath="../services/format")
    heading, *lines = text.split("\n")
    assert heading == "6 imports in 5 files"
    assert 'src/components/App.jsx:1  import { formatCups } from "../services/format.js";' in lines
    marked = {line.split("  ")[0]: line.rpartition("  [")[2] for line in lines if line.endswith("]")}
    assert marked["src/far.js:1"] == "through src/lazy.js]"
    assert "dynamic" in marked["src/lazy.js:2"]
    assert "scripts/teaboard/report.py" in await coder.ok("find_importers", modulePath="teaboard.board")


async def test_C15_C42_no_importers_is_explained(coder: Coder, project: Path) -> None:
    text = await coder.ok("find_importers", modulePath="src/main.js")
    assert text == "No importers of 'src/main.js' were found. Nothing imports it (src/main.js)."
    text = await coder.ok("find_importers", modulePath="nothing/here")
    assert "There is nothing of that name here." in text
    assert "Name a file, a dotted module, or a relative path such as '../services/X'." in text


async def test_C23_an_outline_is_nested_as_the_code_is(coder: Coder, project: Path) -> None:
    assert (await coder.ok("outline", path="src/services/DatabaseService.js")).split("\n")[:3] == [
        "src/services/DatabaseService.js:",
        "4-23  export class DatabaseService  -- The board in one JSON file.",
        "  5-8  constructor({ path })",
    ]
    assert await coder.ok("outline", path="README.md") == (
        "README.md defines nothing that is known here. Read it with read_file."
    )
    assert (await coder.refused("outline", path="src"))[0] == "not_a_file"
    (project / "made.py").write_text("# @generated\ndef f(): ...\n")
    assert await coder.ok("outline", path="made.py") == (
        "What made.py defines is not known: it is generated. Read it with read_file, or search in it."
    )


async def test_C23_references_by_file_with_what_is_around_them(coder: Coder, project: Path) -> None:
    lines = (await coder.ok("find_references", symbol="formatCups")).split("\n")
    assert lines[0] == "8 places in 4 files"
    assert lines[1:3] == ["src/components/App.jsx", '  1: import { formatCups } from "../services/format.js";']
    assert lines[3].endswith("[in App]")
    assert any(line.endswith("[definition]") for line in lines)
    text = await coder.ok("find_references", symbol="nobody")
    assert text == "'nobody' is used nowhere in code. Try search_files for text and comments."


async def test_C23_a_map_within_its_budget(coder: Coder, project: Path) -> None:
    whole, small = await coder.ok("repo_map"), await coder.ok("repo_map", budget=100)
    assert whole.startswith("src/services/DatabaseService.js (imported by 3)")
    assert len(small) < len(whole)
    assert (await coder("repo_map", budget=99)).code == "invalid_arguments"


async def test_C23_C42_a_folder_without_code_has_no_map(coder: Coder) -> None:
    code, message = await coder.refused("repo_map")
    assert (code, "list_files" in message) == ("no_symbols", True)


async def test_C14_C15_C23_every_answer_stays_below_what_is_cut(coder: Coder, folder: Path) -> None:
    names = ", ".join(f"name{number}" for number in range(100))
    for number in range(210):
        place = folder / ("d" * 200) / ("e" * 200) / f"f{number:03}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            f"from hub import target, {names}\n\n\ndef twice({names}):\n    '''{'漢' * 150}'''\n    target()\n"
        )
    (folder / "hub.py").write_text("def target(): pass\n" + "def another_one(first, second): pass\n" * 2_000)
    texts = [
        await coder.ok("find_importers", modulePath="hub"),
        await coder.ok("find_definition", symbol="twice"),
        await coder.ok("find_references", symbol="target"),
        await coder.ok("outline", path="hub.py"),
    ]
    assert all(len(text.encode()) < CONTEXT_BYTES for text in texts)
    importers, definitions, references, outline = texts
    assert importers.startswith("210 imports in 210 files")
    for text, total, row in (
        (importers, 210, "  from hub"),
        (definitions, 210, "  function twice"),
        (references, 421, ": "),
    ):
        shown = sum(row in line for line in text.split("\n"))
        assert text.endswith(f"...and {total - shown} more"), text[-200:]
    shown = sum("  def " in line for line in outline.split("\n"))
    assert outline.endswith(f"[{2_001 - shown:,} more: search in the file for them]")


async def test_C21_progress_is_told_while_the_index_is_built(coder: Coder, project: Path) -> None:
    await coder.ok("find_importers", modulePath=FORMAT)
    told = [event.message for event in recorded_events(coder.run, Progress)]
    assert "parsed 14 of 14 files" in told


async def test_C21_who_stops_waiting_gets_the_thread_back(coder: Coder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that takes minutes does not hold a call that was cancelled."""
    waiting, seen = threading.Event(), list[bool]()

    def wait(_: Index, seconds: float) -> bool:
        waiting.set()
        threading.Event().wait(seconds)
        return False

    def is_ready(_: Index) -> bool:
        seen.append(True)
        return True

    await coder.run.context().resolve(INDEX)
    monkeypatch.setattr(Index, "start", lambda *_: None)
    monkeypatch.setattr(Index, "wait", wait)
    monkeypatch.setattr(Index, "is_ready", property(is_ready))
    monkeypatch.setattr(symbols, "WAIT_STEP_S", 0.001)
    call = asyncio.ensure_future(coder("find_importers", modulePath="x"))
    await asyncio.to_thread(waiting.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await coder.run.aclose()  # waits for the thread
    assert len(seen) <= 1


async def test_C14_a_place_that_cannot_be_read_any_more_is_still_an_answer(
    coder: Coder, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await coder.ok("repo_map")
    monkeypatch.setattr(Index, "start", lambda *_: None)
    monkeypatch.setattr(Index, "_check", lambda *_: False)
    (project / FORMAT).unlink()
    assert (await coder.ok("find_definition", symbol="formatCups")).startswith(f"{FORMAT}:2")


async def test_C14_C42_without_a_data_folder_symbols_are_found_and_the_reason_is_told(
    project: Path, tmp_path: Path
) -> None:
    refuse_data(tmp_path)
    note = "[the index cannot be kept on disk (File name too long): it is made for this run alone, which takes longer]"
    async with coding(project) as coder:
        for name, arguments, found in (
            ("find_definition", {"symbol": "DatabaseService"}, "DatabaseService.js:4  class DatabaseService"),
            ("find_importers", {"modulePath": FORMAT}, "3 imports"),
            ("outline", {"path": FORMAT}, "formatCups"),
            ("find_references", {"symbol": "formatCups"}, "definition"),
            ("repo_map", {}, "imported by 3"),
        ):
            text = await coder.ok(name, **arguments)
            assert found in text
            assert text.endswith("\n" + note)
            assert str(tmp_path) not in text


async def test_C14_on_a_full_disk_a_definition_is_found_and_the_reason_is_told(coder: Coder, folder: Path) -> None:
    (folder / "a.py").write_text("def price(): pass\n")
    index = await coder.run.context().resolve(INDEX)
    db = index._store._db
    db.execute(f"pragma max_page_count = {db.execute('pragma page_count').fetchone()[0]}")
    (folder / "b.py").write_text("".join(f"def cost_{number}(): pass\n" for number in range(2_000)))
    text = await coder.ok("find_definition", symbol="price")
    assert text.startswith("a.py:1  function price")
    assert "[the index cannot be kept on disk (database or disk is full): " in text


async def test_C14_a_reason_without_words_is_told_by_its_name(coder: Coder, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "home/data/workspaces").mkdir(parents=True)
    workspace = await coder.run.context().resolve(WORKSPACE)
    workspace.state.chmod(0o770)
    (folder / "a.py").write_text("def price(): pass\n")
    assert "[the index cannot be kept on disk (EPERM): " in await coder.ok("find_definition", symbol="price")


async def test_XP3_the_index_follows_no_link_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def secret(): pass\n")
    (folder / "inside.py").symlink_to(tmp_path / "outside.py")
    (folder / "up").symlink_to("..")
    (folder / "own.py").write_text("def own(): pass\n")
    async with coding(folder) as coder:
        assert await coder.ok("repo_map") == "own.py\n  1: def own()\n"
        assert "secret" not in (await coder.ok("find_definition", symbol="secret")).replace("'secret'", "")
        assert (await coder.refused("outline", path="inside.py"))[0] == "outside_root"
