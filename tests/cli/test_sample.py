"""The tool of the demo, on its own."""

from pathlib import Path

from toolroll.cli.sample import put_item, read_list
from toolroll.kernel.context import Run
from toolroll.kernel.policy import Policy, Rule
from toolroll.safe.root import Root


def test_a_list_that_was_never_written_is_empty(tmp_path: Path) -> None:
    with Root(tmp_path) as root:
        assert read_list(root) == ""


async def test_K44_without_an_approved_preview_it_writes_nothing(tmp_path: Path) -> None:
    """A rule that allows the call does not make up for what nobody has seen."""
    run = Run(deps={"folder": tmp_path}, policy=Policy((Rule(action="allow", tool="put_item"),)))
    result = await put_item.execute_raw('{"item": "tea", "amount": 1}', run.context())
    assert (result.is_error, result.text) == (True, "The list has changed meanwhile. Read it again.")
    assert list(tmp_path.iterdir()) == []
