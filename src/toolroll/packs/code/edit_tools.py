"""The tools that change files: `edit_file`, `create_file`, `edit`, `apply_changes`.

Each makes a proposal in its preview; what a person then sees is what is written, compared with the file as it is at
that moment. The tool itself only carries out the proposal that was approved.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from toolroll.errors import ArgumentsRefused, ToolrollError
from toolroll.kernel.approval.request import Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import Answered, ToolResult
from toolroll.kernel.define.decorator import define_tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.diff.unified import unified_diff
from toolroll.packs.code.drafts import Drafter
from toolroll.packs.code.failures import CodeTool, tool_errors, tool_failure
from toolroll.packs.code.keys import CONTENTS, HISTORY, INDEX, is_by_person, see_workspace
from toolroll.packs.code.outcomes import find_outcome
from toolroll.packs.code.places import locate_paths
from toolroll.packs.code.seen_files import SeenFiles
from toolroll.safe.paths.names import quote_path
from toolroll.safe.text import one_line
from toolroll.workspace.changes.apply import AppliedChange, apply
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal, select_changes
from toolroll.workspace.edit.encoding import decode_exactly
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.text import split_lines
from toolroll.workspace.workspace import Workspace

MAX_CHANGES: Final = 500
"""In one proposal: more than a person can look through."""

MAX_QUOTED_CHARACTERS: Final = 60
"""Of a line in place of a reason: both lines fit on one of a terminal, nearly."""

Draft: TypeAlias = Callable[[Drafter, Mapping[str, Any]], None]


def _make_preview(draft: Draft) -> Callable[[Mapping[str, object], ToolContext, str | None], Any]:
    """Return the preview of a tool whose changes `draft` puts together."""

    async def preview(arguments: Mapping[str, object], ctx: ToolContext, edited: str | None) -> Preview:
        with tool_errors():
            # The history first: to open it puts right what a kill left half done, before anybody judges the files.
            await ctx.resolve(HISTORY)
            workspace = await see_workspace(ctx)
            index, contents = await ctx.resolve(INDEX), await ctx.resolve(CONTENTS)

        def propose() -> Proposal:
            drafting = Drafter(workspace, contents, ctx)
            draft(drafting, arguments)
            return drafting.proposal(str(arguments.get("description", "")), index)

        with tool_errors():
            whole = await asyncio.to_thread(propose)
            proposal = whole if edited is None else _apply_edits(whole, edited)
        if arguments.get("dry_run"):
            told_so = " ".join(["Nothing was changed.", *proposal.match_notes, "This is what would be:"])
            raise Answered(f"{told_so}\n{proposal.diff}")
        # Of all files, also of those that a person left out: what they decided on must not have moved.
        return replace(build_preview(proposal), base=whole.base, reports_edit=True)

    return preview


def build_preview(proposal: Proposal) -> Preview:
    """Return what a person sees; of several files they may take parts, by a diff with fewer hunks."""
    preview = proposal.preview()
    if len(proposal.changes) == 1 and proposal.edited is None:
        return preview
    texts = tuple((str(change.path), change.texts[1]) for change in proposal.changes if change.after is not None)
    return replace(preview, editable=preview.text if proposal.edited is None else proposal.edited, texts=texts)


def _apply_edits(proposal: Proposal, edited: str) -> Proposal:
    return select_changes(proposal, edited) if len(proposal.changes) > 1 else proposal.with_edited(edited)


PathOfFile = Annotated[str, Field(description="Path of the file from the project root.")]
Described = Annotated[str, Field(description="In a sentence: what changes, and why.")]
WhatFor = Annotated[str, Field(description="In a sentence: what the file is for.")]


def _ask_for_description(schema: dict[str, Any]) -> None:
    """Ask every model for a description; a call without one is not lost for that."""
    schema["properties"]["description"].pop("default", None)
    schema["required"] = [*schema["required"], "description"]


class EditFile(BaseModel):
    """What `edit_file` takes."""

    model_config = ConfigDict(json_schema_extra=_ask_for_description)
    path: PathOfFile
    content: Annotated[str, Field(description="The complete new content of the whole file.")]
    description: Described = ""


class CreateFile(BaseModel):
    """What `create_file` takes."""

    model_config = ConfigDict(json_schema_extra=_ask_for_description)
    path: Annotated[str, Field(description="Path of the new file from the project root.")]
    content: Annotated[str, Field(description="What the file will hold.")]
    description: WhatFor = ""


class Edit(BaseModel):
    """What `edit` takes."""

    path: PathOfFile
    old_string: Annotated[
        str, Field(description="The text to replace, exactly as it is in the file, without line numbers.")
    ]
    new_string: Annotated[str, Field(description="The text to put in its place, taken literally.")]
    replace_all: Annotated[bool, Field(description="Replace it wherever it is.")] = False
    expected_replacements: Annotated[
        int | None, Field(ge=1, description="How often old_string must be there; all are replaced.")
    ] = None
    expected_hash: Annotated[str | None, Field(description="The hash that the file must have, from read_file.")] = None
    dry_run: Annotated[bool, Field(description="Only show what would change.")] = False
    description: Annotated[str, Field(description="In a sentence: what changes, and why.")] = ""


class FileChange(BaseModel):
    """One of several changes: of a passage, of a whole file, or a new file."""

    path: PathOfFile
    old_string: Annotated[str | None, Field(description="The text to replace, as in edit.")] = None
    new_string: Annotated[str | None, Field(description="The text to put in its place.")] = None
    replace_all: Annotated[bool, Field(description="Replace it wherever it is.")] = False
    content: Annotated[str | None, Field(description="Instead of both: the complete new content of the file.")] = None
    create: Annotated[bool, Field(description="With content: the file is new.")] = False


class ApplyChanges(BaseModel):
    """What `apply_changes` takes."""

    changes: Annotated[list[FileChange], Field(min_length=1, max_length=MAX_CHANGES, description="In their order.")]
    description: Described


def _draft_edit(drafting: Drafter, given: Mapping[str, Any]) -> None:
    drafting.replace_text(
        given["path"],
        given["old_string"],
        given["new_string"],
        replace_all=given["replace_all"],
        expected_replacements=given["expected_replacements"],
        expected_hash=given["expected_hash"],
    )


def _draft_changes(drafting: Drafter, given: Mapping[str, Any]) -> None:
    drafting.create_hint = 'by its content and "create": true'
    for change in given["changes"]:
        _draft_one(drafting, FileChange.model_validate(change))


def _draft_one(drafting: Drafter, change: FileChange) -> None:
    old, new, content = change.old_string, change.new_string, change.content
    if content is not None and old is None and new is None:
        (drafting.create if change.create else drafting.replace_whole)(change.path, content)
    elif content is None and old is not None and new is not None:
        drafting.replace_text(change.path, old, new, replace_all=change.replace_all)
    else:
        needs = "either old_string and new_string, or content (with create for a new file)"
        raise ArgumentsRefused(f"A change of '{quote_path(change.path)}' needs {needs}.")


async def _carry_out(_given: BaseModel, ctx: ToolContext) -> ToolResult:
    with tool_errors():
        workspace, history, index = await see_workspace(ctx), await ctx.resolve(HISTORY), await ctx.resolve(INDEX)
    return await apply_proposal(workspace, history, index, await ctx.resolve(CONTENTS), ctx)


class ChangeTool(CodeTool):
    """A tool that changes files: a call without a description says what it changes, in place of a reason."""

    def why(self, arguments: object) -> str:
        """Return the description of the call, or what it changes where the model gave none."""
        given = self.fields(arguments)
        return str(given.get("description") or "").strip() or _describe_change(given)


def _describe_change(given: Mapping[str, object]) -> str:
    old, new, path = given.get("old_string"), given.get("new_string"), quote_path(str(given.get("path", "")))
    if isinstance(old, str) and isinstance(new, str):
        return f"Replaces {_quote(old)} with {_quote(new)}." if new else f"Removes {_quote(old)}."
    return f"Writes '{path}' anew." if path else ""


def _quote(text: str) -> str:
    """Return the first line that is not blank, and how many more there are."""
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    more = f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""
    return f"'{one_line(lines[0].strip(), MAX_QUOTED_CHARACTERS)}'{more}"


def _define_tool(name: str, description: str, shape: type[BaseModel], draft: Draft, path: str = "path") -> Tool:
    made = define_tool(
        name=name,
        description=description,
        input=shape,
        execute=_carry_out,
        effect="writes",
        brings=("private", "untrusted"),
        paths=[path],
        why="description",
        preview=_make_preview(draft),
        locate=locate_paths,
        outcome=find_outcome,
    )
    return ChangeTool(made)


edit_file: Final = _define_tool(
    "edit_file",
    "Propose changes to a file by its complete new content. The person sees the difference, and must approve it before "
    "it is written. Use it to fix bugs, add features or restructure code where much of a file changes. IMPORTANT: give "
    "the complete content of the whole file, no part of it and no placeholder for what stays, and read it whole first.",
    EditFile,
    lambda drafting, given: drafting.replace_whole(given["path"], given["content"]),
)

create_file: Final = _define_tool(
    "create_file",
    "Propose a new file with the given content; folders that it needs are made. The person must approve it. Use it for "
    "new components, modules and settings. It never overwrites a file.",
    CreateFile,
    lambda drafting, given: drafting.create(given["path"], given["content"]),
)

edit: Final = _define_tool(
    "edit",
    "Propose to replace one passage of a file. The person sees the difference, and must approve it. old_string must be "
    "there exactly once: add lines around it until it is, or set replace_all. Read the file first.",
    Edit,
    _draft_edit,
)

apply_changes: Final = _define_tool(
    "apply_changes",
    "Propose several edits and files as one change. The person sees all of it at once, and all that they take happens, "
    "or nothing. Use it where changes belong together, such as a rename in several files.",
    ApplyChanges,
    _draft_changes,
    "changes.path",
)


async def apply_proposal(
    workspace: Workspace, history: History, index: Index, contents: ContentCache, ctx: ToolContext
) -> ToolResult:
    """Write the proposal that was approved, and return what the model reads about it."""
    preview = ctx.preview
    if preview is None or not isinstance(preview.payload, Proposal):
        raise tool_failure("Nobody has approved this. Nothing was written.", code="needs_approval")
    proposal = preview.payload
    with tool_errors():
        make = partial(apply, workspace, proposal, history, run_id=ctx.run_id, call_id=ctx.call_id, batch=ctx.batch)
        applied = await asyncio.to_thread(make)
    await asyncio.to_thread(_refresh_index, index, proposal, ctx)
    await asyncio.to_thread(_note_seen, SeenFiles(ctx.run), contents, proposal)
    notes = (*proposal.match_notes, *proposal.doubts, *applied.notes, *_merge_notes(proposal))
    text = "\n".join([_summary(proposal, applied, ctx), *notes, *_difference(proposal)])
    return ToolResult.of_text(text, _facts(proposal, applied))


def _refresh_index(index: Index, proposal: Proposal, ctx: ToolContext) -> None:
    """Refresh an index that is complete; one that is not will get there by itself."""
    try:
        if index.is_ready:
            index.refresh([change.path for change in proposal.changes])
    except ToolrollError as error:  # the change is made: an index that fails is no reason to say otherwise
        ctx.logger.warning("the index could not be brought up to date: %s", error.message)


def _summary(proposal: Proposal, applied: AppliedChange, ctx: ToolContext) -> str:
    """Return what was written. How to undo it is for a person: a small model that reads of it does it."""
    files = ", ".join(f"{quote_path(str(change.path))} ({_counts(change)})" for change in proposal.changes)
    return f"Written: {files}.{f' Undo it with change id {applied.id}.' if is_by_person(ctx) else ''}"


def _facts(proposal: Proposal, applied: AppliedChange) -> dict[str, object]:
    signs = Counter(line[0] for change in proposal.changes for line in change.diff[2:])
    return {
        "added": signs["+"],
        "removed": signs["-"],
        "change": applied.id,
        "files": len(proposal.changes),
        "is_edited": proposal.edited is not None,
    }


def _counts(change: Change) -> str:
    signs = Counter(line[0] for line in change.diff[2:])
    return f"{'new, ' if change.before is None else ''}+{signs['+']} -{signs['-']}"


def _merge_notes(proposal: Proposal) -> Iterator[str]:
    for path in proposal.merged:
        yield f"What had changed in {quote_path(path)} since you read it is kept. Read it before you replace it whole."


def _difference(proposal: Proposal) -> list[str]:
    """Return, as a diff from the old content, what the person wrote or took instead of what the model proposed."""
    if proposal.edited is None:
        return []
    told_so = "The person did not take all of it as proposed. This is what was changed:"
    return [told_so, *(_change_text(change) for change in proposal.changes)]


def _change_text(change: Change) -> str:
    before, after = change.texts
    return "".join(unified_diff(before, after, path=str(change.path))).rstrip("\n")


def _note_seen(seen: SeenFiles, contents: ContentCache, proposal: Proposal) -> None:
    """Note that the model knows what it wrote itself; of a file that it had seen in part, it still knows a part."""
    for change in proposal.changes:
        path, data = str(change.path), change.after or b""
        total = len(split_lines(decode_exactly(data).text))
        known = seen.get(path)
        contents.keep(data)
        if change.before is None or (known is not None and known.is_whole and path not in proposal.merged):
            seen.add_whole(path, content_hash(data), total)
        else:
            seen.add(path, content_hash(data), total, [])
