"""Outputs that a fork takes over: by name, only what the other run could read, and independent of it from then on."""

import os
from pathlib import Path

import pytest

from toolroll.errors import OutputMissing
from toolroll.kernel.data.messages import ImagePart, TextPart
from toolroll.outputs.run_folder import folder_name, remove_folder
from toolroll.outputs.store import OutputStore, inherit_outputs


def test_D4_only_named_outputs_of_that_run_are_handed_on(tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="old") as old:
        first, second = old.keep("c1", "read", "first"), old.keep("c2", "read", "second")
        child = old.child("old.c3").keep("c4", "read", "of a part")
    assert first is not None
    assert second is not None
    assert child is not None
    named = {first.id, child.id, "f" * 32}
    assert inherit_outputs(tmp_path, of_run="old", to_run="new", named=named) == 2
    assert inherit_outputs(tmp_path, of_run="old.c3", to_run="new", named=named) == 0
    assert remove_folder(tmp_path / folder_name("old"))
    with OutputStore(tmp_path, run_id="new") as new:
        assert (new.open(first.id).content(), new.open(child.id).content()) == ("first", "of a part")
        with pytest.raises(OutputMissing):
            new.open(second.id)


def test_D4_what_a_part_of_a_run_may_not_read_is_not_handed_on_either(tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="old") as old:
        ref = old.keep("c1", "read", "mine")
    assert ref is not None
    (tmp_path / folder_name("part")).symlink_to(tmp_path / folder_name("old"))
    assert inherit_outputs(tmp_path, of_run="part", to_run="new", named={ref.id}) == 0


@pytest.mark.parametrize("has_links", [True, False])
def test_D4_parts_are_handed_on_also_without_hard_links(
    has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> None:
        raise PermissionError("no links here")

    content = (TextPart(text="A picture:"), ImagePart(data=b"\x89PNG", media_type="image/png"))
    with OutputStore(tmp_path, run_id="old") as old:
        ref = old.keep("c1", "draw", content)
    assert ref is not None
    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    assert inherit_outputs(tmp_path, of_run="old", to_run="new", named={ref.id}) == 1
    with OutputStore(tmp_path, run_id="new") as new:
        kept = new.open(ref.id)
    assert kept.content() == content
    assert all(one.stat().st_mode & 0o077 == 0 for one in kept.path.iterdir())


def test_D4_an_output_that_cannot_be_taken_over_leaves_nothing_half_done(tmp_path: Path) -> None:
    with OutputStore(tmp_path, run_id="old") as old, OutputStore(tmp_path, run_id="new") as new:
        ref = old.keep("c1", "read", "text " * 1_000)
        assert ref is not None
        assert inherit_outputs(tmp_path, of_run="old", to_run="new", named={ref.id}) == 1
        with pytest.raises(OSError, match="not empty"):
            inherit_outputs(tmp_path, of_run="old", to_run="new", named={ref.id})
        assert [one.name for one in (tmp_path / folder_name("new")).iterdir()] == [ref.id]
        assert new.open(ref.id).content() == "text " * 1_000


def test_D4_a_run_without_outputs_hands_on_none(tmp_path: Path) -> None:
    assert inherit_outputs(tmp_path, of_run="old", to_run="new", named={"a"}) == 0
    assert list(tmp_path.iterdir()) == []
