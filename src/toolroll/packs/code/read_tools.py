"""The four tools that look around: `read_file`, `list_files`, `search_files`, `find_files`.

Their names, parameters and what of them is required are fixed; parameters that were added are optional. `filePattern`
is spelled as a model is told it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeVar

from pydantic import Field

from toolroll.errors import PathRefused
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.define.decorator import tool
from toolroll.packs.code.answers import (
    add_unasked,
    fits_in_answer,
    format_all_matches,
    format_file,
    format_found,
    format_listing,
    format_search,
)
from toolroll.packs.code.failures import tool_errors
from toolroll.packs.code.keys import InWorkspace, WithContents, is_by_person
from toolroll.packs.code.places import locate_paths, resolve_place
from toolroll.packs.code.seen_files import SeenFiles
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.read import read_lines
from toolroll.workspace.search.find import find_files as find_in
from toolroll.workspace.search.listing import list_folder
from toolroll.workspace.search.search import search
from toolroll.workspace.workspace import Workspace

_Named = TypeVar("_Named")


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_paths)
async def read_file(
    path: Annotated[
        str, Field(description="Path of the file from the project root, such as 'src/components/App.jsx'.")
    ],
    workspace: InWorkspace,
    contents: WithContents,
    ctx: ToolContext,
    offset: Annotated[int, Field(ge=1, description="The first line to read, counted from 1.")] = 1,
    limit: Annotated[int | None, Field(ge=1, description="How many lines to read; 2,000 if not given.")] = None,
    column: Annotated[int, Field(ge=0, description="Of a line too long to show: the first character to read.")] = 0,
) -> ToolResult:
    """Read a file of the project, with line numbers. Use it to understand code, and always before you change a file.

    Says how many lines there are, where to go on, and the hash of the content.
    """
    with tool_errors():
        place = resolve_place(workspace, _parse(workspace.path, path), ctx, written=path)
        exact = workspace.without_links()
        reading = await asyncio.to_thread(read_lines, exact, place, offset=offset, limit=limit, column=column)
        if not is_by_person(ctx):
            await asyncio.to_thread(contents.keep, reading.data)
    page = format_file(reading, workspace.limits.read_bytes)
    SeenFiles(ctx.run).add(str(place), reading.hash, reading.total_lines, page.seen)
    return ToolResult.of_text(page.text, page.facts)


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_paths)
async def list_files(
    path: Annotated[str, Field(description="Path of the folder from the project root; '.' is the root.")],
    workspace: InWorkspace,
    ctx: ToolContext,
    recursive: Annotated[bool, Field(description="List the files of all folders below it, too.")] = False,  # noqa: FBT002 - a model names it
    offset: Annotated[int, Field(ge=0, description="How many entries to skip, for the next page.")] = 0,
) -> ToolResult:
    """List the files and folders in a folder, with kind, size and date. Use it to see how a project is laid out."""
    with tool_errors(instead="Name the folder that it is in; read_file reads a file."):
        folder = _resolve_folder(workspace, path, ctx)
        listing = await list_folder(workspace.without_links(), folder, recursive=recursive, offset=offset)
    text = add_unasked(format_listing(listing, f"{folder}/" if folder else "./"), ctx.unasked_paths)
    return ToolResult.of_text(text, {"entries": listing.total})


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_paths)
async def search_files(
    pattern: Annotated[str, Field(description="The regular expression to search for, in each line.")],
    workspace: InWorkspace,
    ctx: ToolContext,
    path: Annotated[
        str, Field(description="Only below this folder, or in this file; the whole project if not given.")
    ] = ".",
    filePattern: Annotated[  # noqa: N803 - the name that models know
        str | None, Field(description="Only files whose names fit this glob, such as '*.js' or 'src/**/*.py'.")
    ] = None,
) -> ToolResult:
    """Search the text of files with a regular expression. Gives files, line numbers and lines.

    Use it to find calls, uses of a variable, or any pattern.
    """
    with tool_errors():
        folder, limits = _resolve_folder(workspace, path, ctx), workspace.limits
        most = max(limits.matches, limits.kept_matches)
        exact = workspace.without_links()
        result = await search(exact, pattern, folder=folder, file_pattern=filePattern, max_matches=most)
    text = add_unasked(format_search(result, pattern, most=limits.matches), ctx.unasked_paths)
    answer = ToolResult.of_text(text, {"matches": result.total, "files": result.matching_files})
    is_whole = fits_in_answer(result, most=limits.matches)
    return answer if is_whole else replace(answer, whole=format_all_matches(result, pattern))


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_paths)
async def find_files(
    pattern: Annotated[str, Field(description="A part of the name, or a pattern with *, ? and **.")],
    workspace: InWorkspace,
    ctx: ToolContext,
    path: Annotated[str, Field(description="Only below this folder; the whole project if not given.")] = ".",
) -> ToolResult:
    """Find files by name. Use it when you know a part of a file's name, but not where it is."""
    with tool_errors():
        folder = _resolve_folder(workspace, path, ctx)
        found = await find_in(workspace.without_links(), pattern, folder=folder)
    text = add_unasked(format_found(found, pattern), ctx.unasked_paths)
    return ToolResult.of_text(text, {"files": len(found.paths) + found.more})


def _resolve_folder(workspace: Workspace, path: str, ctx: ToolContext) -> RelativePath | None:
    """Return the folder or file that a search is about, without links; None is the workspace."""
    found = resolve_place(workspace, _parse(workspace.folder, path), ctx, written=path)
    return found if found.parts else None


def _parse(parse: Callable[[str], _Named], path: str) -> _Named:
    """Return what a path names; `src/` and `./src`, as lists and shells show it, are refused with a hint."""
    try:
        return parse(path)
    except PathRefused as error:
        plain = path.strip().removeprefix("./").removesuffix("/") or "."
        if error.rule not in {"dot", "trailing_slash"} or plain.endswith("/") or not _is_accepted(parse, plain):
            raise
        raise PathRefused(
            f"{error.message} Here that is '{quote_path(plain)}'.", path=error.path, rule=error.rule
        ) from None


def _is_accepted(parse: Callable[[str], object], path: str) -> bool:
    try:
        parse(path)
    except PathRefused:
        return False
    return True
