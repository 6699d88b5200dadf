"""All outputs, for people: by reference or its beginning, whatever the run."""

from itertools import count
from pathlib import Path

import pytest

from toolroll.errors import OutputMissing, UsageError
from toolroll.outputs.browse import all_outputs, find_output
from toolroll.outputs.store import OutputStore, inherit_outputs


def keep(folder: Path, run_id: str, *ids: str, is_short: bool = True) -> None:
    made, times = iter(ids), count(len(run_id))
    with OutputStore(folder, run_id=run_id, make_id=lambda: next(made), clock=lambda: float(next(times))) as store:
        for one in ids:
            store.keep("call", "tool", one if is_short else one * 5_000)


def test_outputs_of_all_runs_are_listed_the_latest_first(tmp_path: Path) -> None:
    keep(tmp_path, "a", "abcd1", "abcd2", is_short=False)
    keep(tmp_path, "a much later one", "xyz")
    (tmp_path / "file").write_text("")
    [run] = [one.parent for one in tmp_path.glob("*/abcd1")]
    (run / ".new-half").mkdir()
    (run / "broken").mkdir()
    assert [one.meta.id for one in all_outputs(tmp_path)] == ["xyz", "abcd2", "abcd1"]
    assert all_outputs(tmp_path / "nothing") == []


def test_an_output_is_found_by_the_beginning_of_its_reference(tmp_path: Path) -> None:
    keep(tmp_path, "a", "abcd1", "abcd22", "abcd2", "q")
    assert find_output(tmp_path, "abcd1").content() == "abcd1"
    assert find_output(tmp_path, "abcd2").content() == "abcd2"
    assert find_output(tmp_path, "q").content() == "q"
    with pytest.raises(UsageError, match="3 outputs begin with 'abcd'"):
        find_output(tmp_path, "abcd")
    for given in ("abc", ""):
        with pytest.raises(UsageError, match=r"too short\. Write 4 characters of the reference, or more"):
            find_output(tmp_path, given)
    for given in ("../abcd1", "zzz", "zzzz", "\x1b[2J"):
        with pytest.raises(OutputMissing, match="See 'toolroll outputs list'"):
            find_output(tmp_path, given)


@pytest.mark.parametrize("is_short", [True, False])
def test_a_forked_run_has_the_same_outputs_and_they_are_found(tmp_path: Path, is_short: bool) -> None:
    keep(tmp_path, "first", "abcd1", is_short=is_short)
    assert inherit_outputs(tmp_path, of_run="first", to_run="second", named={"abcd1"}) == 1
    for given in ("abcd1", "abcd"):
        assert find_output(tmp_path, given).content() in ("abcd1", "abcd1" * 5_000)
    keep(tmp_path, "a later one", "abcd1", is_short=False)
    assert find_output(tmp_path, "abcd").meta.runs == ("a later one",)


def test_what_is_not_whole_is_not_there(tmp_path: Path) -> None:
    keep(tmp_path, "a", "abcd1", is_short=False)
    [data] = tmp_path.glob("*/abcd1/data")
    data.write_text("half")
    with pytest.raises(OutputMissing, match=r"There is no output 'abcd1'\. See 'toolroll outputs list'"):
        find_output(tmp_path, "abcd1")
