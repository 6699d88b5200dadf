"""What `toolroll outputs` does: it lists, shows and searches the full outputs of tools."""

import asyncio
import json
import os
from codecs import getincrementaldecoder
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from toolroll.apps.run_log import open_archive
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.errors import UsageError
from toolroll.home.folders import find_folders
from toolroll.outputs.archive import restore_all
from toolroll.outputs.browse import MIN_ID_CHARACTERS, all_outputs, find_output
from toolroll.outputs.cut import PAGE_TOOL
from toolroll.outputs.reader import PAGE_LINES, StoredOutput, number_lines, read_page
from toolroll.outputs.run_folder import outputs_folder
from toolroll.outputs.search import MATCHES_LIMIT, find_matches, show_matches
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.text import one_line, terminal_safe

ID_CHARACTERS: Final = 12
"""Of a reference in a list: 48 random bits are enough to tell them apart."""
MAX_TOOL_CHARACTERS: Final = 24
MAX_RUN_CHARACTERS: Final = 64
"""Of a run, which other commands are given: whole, as we make them; whoever makes their own may make them longer."""
_CHUNK_BYTES: Final = 1 << 20


def list_outputs(session: Session, *, run_id: str | None, limit: int) -> int:
    """List the latest outputs; return the exit code."""
    with open_archive(os.environ) as archive:
        if archive is not None:
            restore_all(archive, _folder())
    found = [one for one in all_outputs(_folder()) if run_id is None or one.meta.runs[-1].startswith(run_id)][:limit]
    if session.json:
        session.write_json({"outputs": [_fields(one) for one in found]})
    elif found:
        session.show("\n".join(map(_line_of, found)))
    else:
        notify(_none(run_id))
    return DONE


def show_output(session: Session, /, ref_id: str, *, offset: int, limit: int | None, column: int, raw: bool) -> int:
    """Show an output; return the exit code."""
    if raw and session.json:
        raise UsageError("--raw writes bytes and --json writes JSON. Use one of them.")
    if raw and (offset or limit or column):
        raise UsageError("--raw writes all of it. Leave out --offset, --limit and --column, or --raw.")
    kept = _find(ref_id)
    if raw:
        return _write_raw(session, kept)
    page = read_page(kept, offset=offset, limit=limit if limit and limit < PAGE_LINES else None, column=column)
    if session.json:
        onward = {"offset": page.next.offset, "column": page.next.column} if page.next else None
        lines = {"offset": offset, "lines": list(page.lines), "start": page.start, "end": page.end, "next": onward}
        session.write_json(_fields(kept) | lines)
    else:
        session.write(_for_people(number_lines(kept, page)))
    return DONE


def search_output(
    session: Session, /, ref_id: str, pattern: str, *, regex: bool, before: int, after: int, max_matches: int
) -> int:
    """Search an output; return the exit code: 1 when no line matches."""
    kept = _find(ref_id)
    wanted = min(max_matches, MATCHES_LIMIT)
    matches = asyncio.run(find_matches(kept, pattern, regex=regex, max_matches=wanted))
    if session.json:
        places = [{"line": one.line + 1, "start": one.start, "column": one.column} for one in matches.first]
        session.write_json(_fields(kept) | {"total": matches.total, "matches": places})
    else:
        session.write(_for_people(show_matches(kept, matches, before=before, after=after)))
    return DONE if matches.total else FAILED


def _for_people(text: str) -> str:
    """An answer that ends in the call that reads on, with the command that does so instead."""
    # Only in the last line, which is ours: the output itself may have such words, too.
    lines, end, last = text.rpartition("\n")
    told, found, call = last.partition(f" {PAGE_TOOL} ")
    if not found:
        return text
    given = json.loads(call.removesuffix("]"))
    options = " ".join(f"--{name} {value}" for name, value in given.items() if name != "ref_id")
    return f"{lines}{end}{told} toolroll outputs show {given['ref_id']} {options}]"


def _find(ref_id: str) -> StoredOutput:
    """Return the output; one that another machine stored is fetched first."""
    with open_archive(os.environ) as archive:
        if archive is not None and len(ref_id) >= MIN_ID_CHARACTERS:
            restore_all(archive, _folder(), given=ref_id)
    return find_output(_folder(), ref_id)


def _folder() -> Path:
    folder = outputs_folder(find_folders(os.environ))
    with os_errors(str(folder)), suppress(FileNotFoundError):  # nothing was kept yet
        os.scandir(folder).close()
    return folder


def _fields(kept: StoredOutput) -> dict[str, object]:
    meta = kept.meta
    return {
        "ref_id": meta.id,
        "run_id": meta.runs[-1],
        "call_id": meta.call_id,
        "tool": meta.tool,
        "made": meta.made,
        "kind": meta.kind,
        "byte_size": meta.byte_size,
        "line_count": meta.line_count,
        "path": str(kept.path),
    }


def _none(run_id: str | None) -> str:
    if run_id is None:
        return "There are no outputs. They are kept while an agent runs."
    return f"No run that begins with '{one_line(run_id, MAX_RUN_CHARACTERS)}' has outputs. See 'toolroll runs list'."


def _word(one: str, number: int) -> str:
    """As wide for one as for many: what follows stands in a column."""
    return f"{one} " if number == 1 else f"{one}s"


def _line_of(kept: StoredOutput) -> str:
    meta = kept.meta
    made = datetime.fromtimestamp(meta.made, UTC).astimezone()
    size = (
        f"{meta.byte_size:>13,} {_word('byte', meta.byte_size)} {meta.line_count:>9,} {_word('line', meta.line_count)}"
    )
    tool, run = one_line(meta.tool, MAX_TOOL_CHARACTERS), one_line(meta.runs[-1], MAX_RUN_CHARACTERS)
    return f"{meta.id[:ID_CHARACTERS]:<{ID_CHARACTERS}}  {made:%Y-%m-%d %H:%M}  {size}  {tool} in {run}"


def _write_raw(session: Session, kept: StoredOutput) -> int:
    """Byte for byte into a file or a pipe; at a terminal as text that it does not obey."""
    out, decoder = session.out, getincrementaldecoder("utf-8")("backslashreplace")
    with kept.open_data() as data:
        for start in range(0, data.byte_size, _CHUNK_BYTES):
            chunk = data.read(start, _CHUNK_BYTES)
            if out.isatty():
                out.write(terminal_safe(decoder.decode(chunk)))
            else:
                out.buffer.write(chunk)
    out.flush()
    return DONE
