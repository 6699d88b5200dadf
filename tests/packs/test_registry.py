"""The packs: what the list says is what is there, and listing loads nothing."""

import subprocess
import sys

import pytest

from toolroll.errors import UsageError
from toolroll.kernel.define.toolset import Toolset
from toolroll.packs.registry import PACKS, Pack, pack_named, packs_holding


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_S3_a_pack_holds_what_its_list_says(pack: Pack) -> None:
    loaded = {tool.name: tool for tool in pack.load()}
    assert [line.name for line in pack.tools] == list(loaded)
    for line in pack.tools:
        assert loaded[line.name].effect == line.effect
        assert loaded[line.name].description.startswith(line.summary)
    assert pack.summary.endswith(".")


def test_K4_all_packs_fit_into_one_set() -> None:
    assert len(Toolset(tool for pack in PACKS for tool in pack.load())) == sum(len(pack.tools) for pack in PACKS)


def test_S6_the_list_of_packs_loads_no_pydantic() -> None:
    code = "import sys, toolroll.packs.registry; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_a_pack_is_found_by_name() -> None:
    assert pack_named("standard").name == "standard"
    assert [pack.name for pack in packs_holding("done")] == ["standard"]
    assert packs_holding("Done") == ()


def test_an_unknown_pack_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"There is no pack 'Standart'\. Did you mean standard\? Packs: standard"):
        pack_named("Standart")
    with pytest.raises(UsageError, match=r"There is no pack 'xyz'\. Packs: standard"):
        pack_named("xyz")
