"""The packs that exist. What they hold can be listed at once; their tools are loaded when they are wanted.

Loading a tool means loading pydantic, four interpreter starts; a list of names must not cost that. So each pack says
here in plain words what it holds, and a test compares the words with the tools.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError

if TYPE_CHECKING:
    from toolroll.kernel.approval.request import Effect
    from toolroll.kernel.define.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """One tool in a list: its name, its effect, and the first sentence of its description."""

    name: str
    effect: "Effect"
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Tools that belong together: `tools` to list them, `load` to use them."""

    name: str
    summary: str
    tools: tuple[ToolSummary, ...]
    load: "Callable[[], tuple[Tool, ...]]"


def _load_standard() -> "tuple[Tool, ...]":
    from toolroll.packs.standard import TOOLS  # noqa: PLC0415 - see above

    return TOOLS


def _load_code() -> "tuple[Tool, ...]":
    from toolroll.packs.code.tools import TOOLS  # noqa: PLC0415 - see above

    return TOOLS


def _load_research() -> "tuple[Tool, ...]":
    from toolroll.packs.research.read_research import read_research  # noqa: PLC0415 - see above

    return (read_research,)


def _load_writing() -> "tuple[Tool, ...]":
    import os  # noqa: PLC0415 - see above

    from toolroll.home.keys import with_keys  # noqa: PLC0415 - see above
    from toolroll.packs.writing.tools.toolset import writing_tools  # noqa: PLC0415 - see above

    return writing_tools(with_keys(os.environ))


PACKS: Final = (
    Pack(
        name="standard",
        summary="Ending a run, and keeping a list of what is to be done.",
        tools=(
            ToolSummary(name="done", effect="reads", summary="End the run with a final message for the user."),
            ToolSummary(name="write_todos", effect="reads", summary="Write down the whole list of todos for this run."),
            ToolSummary(
                name="read_todos", effect="reads", summary="Read the list of todos with their ids and statuses."
            ),
        ),
        load=_load_standard,
    ),
    Pack(
        name="code",
        summary="Exploring and changing a project, with a person's approval.",
        tools=(
            ToolSummary(name="read_file", effect="reads", summary="Read a file of the project, with line numbers."),
            ToolSummary(
                name="list_files",
                effect="reads",
                summary="List the files and folders in a folder, with kind, size and date.",
            ),
            ToolSummary(
                name="search_files", effect="reads", summary="Search the text of files with a regular expression."
            ),
            ToolSummary(name="find_files", effect="reads", summary="Find files by name."),
            ToolSummary(
                name="find_definition",
                effect="reads",
                summary="Find where a symbol (function, class, variable, import) is defined.",
            ),
            ToolSummary(
                name="find_importers",
                effect="reads",
                summary="Find all files that import a module or symbol, with the statements.",
            ),
            ToolSummary(
                name="outline",
                effect="reads",
                summary="Show what a file defines, with lines and signatures, without its code.",
            ),
            ToolSummary(
                name="find_references",
                effect="reads",
                summary="Find every place where a name is used, with the function around it.",
            ),
            ToolSummary(
                name="repo_map",
                effect="reads",
                summary="Show what matters most in the project, in few tokens.",
            ),
            ToolSummary(
                name="edit_file", effect="writes", summary="Propose changes to a file by its complete new content."
            ),
            ToolSummary(
                name="create_file",
                effect="writes",
                summary="Propose a new file with the given content; folders that it needs are made.",
            ),
            ToolSummary(name="edit", effect="writes", summary="Propose to replace one passage of a file."),
            ToolSummary(
                name="apply_changes", effect="writes", summary="Propose several edits and files as one change."
            ),
        ),
        load=_load_code,
    ),
    Pack(
        name="research",
        summary="Exploring ideas with the web and with earlier research.",
        tools=(ToolSummary(name="read_research", effect="reads", summary="Read an existing research document."),),
        load=_load_research,
    ),
    Pack(
        name="writing",
        summary="Writing posts in a person's own voice.",
        tools=(
            ToolSummary(name="read_style_profile", effect="reads", summary="Read the user's style profile."),
            ToolSummary(name="update_style_profile", effect="writes", summary="Update the user's style profile."),
            ToolSummary(
                name="list_profiles",
                effect="reads",
                summary="Show all style profiles with their types and what they are like.",
            ),
            ToolSummary(
                name="read_past_posts",
                effect="reads",
                summary="Search the posts that were written and saved before for those on a topic.",
            ),
            ToolSummary(
                name="save_to_file",
                effect="writes",
                summary="Save the final version of a post as a Markdown file with its metadata.",
            ),
            ToolSummary(
                name="search_web",
                effect="external",
                summary="Search the web for fresh facts for a post: statistics, studies, trends.",
            ),
            ToolSummary(
                name="read_notion_page",
                effect="reads",
                summary="Read a Notion page and return its content as Markdown.",
            ),
            ToolSummary(
                name="write_to_notion",
                effect="external",
                summary='Save the finished post as a new page with the status "Draft" in the user\'s Notion database.',
            ),
            ToolSummary(
                name="track_feedback", effect="reads", summary="Write down the user's feedback on style, by category."
            ),
        ),
        load=_load_writing,
    ),
)
"""Every pack, in the order in which lists show them."""


def pack_named(name: str) -> Pack:
    """The pack of that name; `UsageError` with the nearest one where there is none."""
    known = {pack.name: pack for pack in PACKS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.casefold(), known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no pack {name[:64]!r}.{hint} Packs: {', '.join(known)}.")


def packs_holding(tool: str) -> tuple[Pack, ...]:
    """The packs that hold a tool of exactly this name."""
    return tuple(pack for pack in PACKS if any(line.name == tool for line in pack.tools))
