"""What `toolroll doctor` does: it runs all checks, and shows what they found."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from toolroll.cli.actions.doctor.findings import Finding
from toolroll.cli.actions.doctor.machine import check_machine
from toolroll.cli.actions.doctor.services import check_services
from toolroll.cli.actions.doctor.settings import check_project, check_settings
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.errors import ToolrollError
from toolroll.home.settings import read_settings

_MARKS: Final = {"ok": "ok", "missing": "-", "warning": "!", "broken": "BROKEN"}
_TEXT_COLUMN: Final = 9
"""Where the words of a finding begin, behind its mark."""


def check_everything(session: Session, *, root: Path | None, online: bool) -> int:
    """Run all checks and show what they found; return the exit code: 1 when something is broken."""
    findings = list(find_everything(root or Path.cwd(), online=online))
    broken = [one for one in findings if one.status == "broken"]
    if session.json:
        session.write_json({"ok": not broken, "findings": [_fields(one) for one in findings]})
    else:
        session.show("\n".join(_lines(findings)), hang=_TEXT_COLUMN)
    return FAILED if broken else DONE


def describe_everything(root: Path) -> list[dict[str, str]]:
    """Run all checks that need no network, and return what they found as plain fields."""
    return [_fields(one) for one in find_everything(root, online=False)]


def find_everything(root: Path, *, online: bool) -> Iterator[Finding]:
    """Run all checks, and yield what they find."""
    known = list(check_machine(os.environ))
    yield from known
    if any(one.name == "folders" for one in known):
        return  # nobody knows where the rest is
    yield from check_settings(os.environ)
    yield from check_services(os.environ, model=_model(root), online=online)
    yield from check_project(root, os.environ)


def _model(root: Path) -> str | None:
    try:
        return read_settings(os.environ, root=root).model
    except ToolrollError:  # which is a finding of its own
        return None


def _fields(one: Finding) -> dict[str, str]:
    return {"area": one.area, "name": one.name, "status": one.status, "text": one.text, "fix": one.fix}


def _lines(findings: list[Finding]) -> Iterator[str]:
    area = ""
    for one in findings:
        if one.area != area:
            yield f"{'' if not area else chr(10)}{one.area.capitalize()}"
            area = one.area
        yield f"  {_MARKS[one.status]}".ljust(_TEXT_COLUMN) + f"{one.name}: {one.text}"
        if one.fix:
            yield " " * _TEXT_COLUMN + f"fix: {one.fix}"
    broken = sum(one.status == "broken" for one in findings)
    yield ""
    if any(one.name == "model" and one.status != "ok" for one in findings):
        yield "Nothing can run yet: there is no model to ask. 'toolroll code' at a terminal sets one up."
    yield f"{broken} broken." if broken else "Nothing is broken."
