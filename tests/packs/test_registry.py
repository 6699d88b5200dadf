"""The packs: what the list says is what is there, and listing loads nothing."""

import subprocess
import sys

import pytest

from toolroll.errors import UsageError
from toolroll.kernel.define.tool import Toolset
from toolroll.packs.registry import PACKS, Pack, first_sentence, pack_named, packs_holding, summarize


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_S3_a_pack_holds_what_its_list_says(pack: Pack) -> None:
    """The list is written from the tools: where this fails, run `make tools`."""
    assert pack.tools == summarize(pack)
    assert all(tool.description.startswith(one.summary) for tool, one in zip(pack.load(), pack.tools, strict=True))
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


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("Read it. Then more.", "Read it."),
        ("Read\n  it.\n\nMore. Of it.", "Read it."),
        ("No stop", "No stop"),
    ],
)
def test_S3_the_first_sentence_is_on_one_line(description: str, sentence: str) -> None:
    assert first_sentence(description) == sentence
