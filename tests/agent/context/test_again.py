"""Trimmed runs, resumed from disk and played again: the same references, the same requests."""

import re
from pathlib import Path
from typing import Any

from tests.agent.context.counted import Counted, results_in
from tests.agent.stage import Notes
from tests.agent.tape import Tape

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.history.replay import replay
from toolroll.journal.records import CallEnded, OutputsTrimmed
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import OutputRef
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call
from toolroll.outputs.store import OutputStore

STEPS = 6
RULES = ContextRules(window_tokens=40_000, outputs_tokens=20_000)


class Files:
    """Files that grow when they are told to."""

    def __init__(self) -> None:
        self.rows = 3_000

        @tool
        async def read(n: int) -> str:
            """Read a file."""
            return "".join(f"file {n}, row {row}: nothing\n" for row in range(self.rows))

        self.read = read


def script(number: int, request: ModelRequest) -> str | Call:
    if number <= STEPS:
        return Call("read", {"n": number})
    if number == STEPS + 1:
        first = re.search(r"ref=(\w+)", str(results_in(request.messages)[0].content))
        assert first is not None
        return Call("tool_output_cache_grep", {"ref_id": first[1], "pattern": "row 2999"})
    return str(results_in(request.messages)[-1].content)


def agent_with(model: Counted, files: Files, folder: Path, **options: Any) -> Agent[Any]:
    usual = {"tools": [files.read], "stop_when": step_count_is(STEPS + 5), "context": RULES, "outputs": folder}
    return Agent(model=model.model, **{**usual, **options})


async def test_K52_D2_a_trimmed_run_goes_on_from_anywhere_with_the_same_requests(tmp_path: Path) -> None:
    tape, counted, files = Tape(), Counted(script), Files()
    whole = await agent_with(counted, files, tmp_path, journal=tape, make_id=lambda: "run").run("go")
    assert "file 1, row 2999" in whole.text
    assert "trimmed" in tape.kinds("run")
    ended = [number for number, (_, records) in enumerate(tape.writes) if isinstance(records[-1], CallEnded)]
    trimmed = [number for number, (_, records) in enumerate(tape.writes) if isinstance(records[-1], OutputsTrimmed)]
    for count in sorted({ended[3] + 1, trimmed[0] + 1, trimmed[-1] + 2, len(tape.writes) - 2}):
        cut = await tape.cut(count)
        rest = Counted(script)
        rest.number = paid = cut.paid("run")
        result = await agent_with(rest, files, tmp_path, journal=cut).resume("run")
        assert result.text == whole.text
        assert rest.model.requests[0] == counted.model.requests[paid]


async def test_K51_D3_references_are_the_same_when_a_run_is_played_again(tmp_path: Path) -> None:
    """They are a part of what the model has read; and its own outputs are not written over."""
    journal, files = SqliteJournal(tmp_path / "runs.db"), Files()
    options: dict[str, Any] = {"journal": journal, "make_id": lambda: "run"}
    agent = Agent(
        model=Counted(script).model, tools=[files.read], stop_when=step_count_is(STEPS + 5), context=RULES, **options
    )
    whole = await agent.run("go")
    kept = sorted((tmp_path / "outputs").rglob("*"))
    report = await replay(agent, "run")
    assert report.differences == ()
    assert report.result is not None
    assert report.result.text == whole.text
    assert kept == sorted((tmp_path / "outputs").rglob("*"))
    files.rows = 2_900
    changed = await replay(agent, "run")
    assert {difference.what for difference in changed.differences} >= {"result"}
    journal.close()


async def test_K51_D3_what_is_not_run_again_is_read_where_it_was_kept(tmp_path: Path) -> None:
    """A call with an effect is answered from the record; the model reads on in the output of then."""

    @tool(effect="writes")
    async def build() -> str:
        """Build it."""
        return "".join(f"built {row}\n" for row in range(10_000))

    def turns(number: int, request: ModelRequest) -> str | Call:
        if number == 1:
            return Call("build")
        if number == 2:
            ref = results_in(request.messages)[0].output_ref
            assert isinstance(ref, OutputRef)
            return Call("tool_output_cache", {"ref_id": ref.id, "offset": 9_999})
        return str(results_in(request.messages)[-1].content)

    journal = SqliteJournal(tmp_path / "runs.db")
    agent = Agent(model=Counted(turns).model, tools=[build], journal=journal, approver=Notes(), make_id=lambda: "run")
    assert "built 9999" in (await agent.run("go")).text
    report = await replay(agent, "run")
    assert report.differences == ()
    journal.close()


async def test_K50_D3_a_reference_from_nowhere_is_not_found_in_a_replay_either(tmp_path: Path) -> None:
    """And an output that was not kept then is not kept now."""

    def turns(number: int, _request: ModelRequest) -> str | Call:
        if number == 1:
            return Call("read", {"n": 1})
        return Call("tool_output_cache", {"ref_id": "0" * 32}) if number == 2 else "Done."

    taken = tmp_path / "taken"
    taken.write_text("in the way")
    tape, files = Tape(), Files()
    agent = agent_with(Counted(turns), files, taken / "outputs", journal=tape, make_id=lambda: "run")
    await agent.run("go")
    report = await replay(agent, "run")
    assert report.differences == ()
    [_, missing] = results_in(report.result.messages if report.result else ())
    assert missing.is_error


async def test_K50_outputs_are_let_go_when_the_run_ends(tmp_path: Path) -> None:
    files = Files()
    result = await agent_with(Counted(script), files, tmp_path).run("go")
    [ref] = [one.output_ref for one in results_in(result.messages)[:1]]
    assert ref is not None
    with OutputStore(tmp_path, run_id=result.run_id) as store:
        assert store.open(ref.id).ref == ref
