"""Tracing at the command line: by the standard variables, and nothing of it without them (S42)."""

import json
import logging
import os
import re
import sys
from collections import OrderedDict
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from tests.support.project import Project, lines

from toolroll.cli.span_export import make_exporter
from toolroll.cli.startup import find_shared_folder, is_home_shared, prepare
from toolroll.cli.tracing import requested_exporters, set_up_tracing

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
EXPORTER = """
from opentelemetry.sdk.trace.export import ConsoleSpanExporter
import os
class Exporter(ConsoleSpanExporter):
    def __init__(self, timeout=None):
        super().__init__(out=open(os.environ["SPANS"], "a"), formatter=lambda span: span.name + "\\n")
"""


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, ()),
        (ENDPOINT, ("otlp",)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "x"}, ("otlp",)),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ("console", "otlp")),
        ({"OTEL_TRACES_EXPORTER": "none", **ENDPOINT}, ()),
        ({"OTEL_SDK_DISABLED": "TRUE", **ENDPOINT}, ()),
    ],
)
def test_S42_the_standard_variables_decide(environment: dict[str, str], asked: Sequence[str]) -> None:
    assert requested_exporters(environment) == asked


def test_S42_spans_go_to_stderr_and_the_answer_stays_alone(project: Project) -> None:
    model = project.script({"calls": [{"name": "list_files", "arguments": {"path": "."}}]}, "Done.")
    plain = project.call("code", "Go.", "--model", model, "--json")
    assert "invoke_agent" not in plain.stderr
    traced = project.call("code", "Go.", "--model", model, "--json", OTEL_TRACES_EXPORTER="console")
    assert [event["event"] for event in lines(traced)] == [event["event"] for event in lines(plain)]
    names = re.findall(r'"name": "((?:chat|execute_tool|invoke_agent).*)"', traced.stderr)
    assert names == [
        "chat scripted:script.json",
        "execute_tool list_files",
        "chat scripted:script.json",
        "invoke_agent",
    ]
    assert '"service.name": "toolroll"' in traced.stderr
    called = project.call("code", "Go.", "--model", model, OTEL_TRACES_EXPORTER="console", OTEL_SERVICE_NAME="mine")
    assert '"service.name": "mine"' in called.stderr
    listed = project.call("tools", "list", OTEL_TRACES_EXPORTER="nothing")
    assert (listed.returncode, listed.stderr) == (0, "")


_PIP = "pip install opentelemetry-exporter-otlp-proto-"


def exporter_package(folder: Path, name: str, code: str) -> dict[str, str]:
    """What a program must know to find an exporter of that name."""
    packages = folder / "packages"
    (packages / "mine-1.dist-info").mkdir(parents=True)
    (packages / "mine-1.dist-info" / "METADATA").write_text("Name: mine\nVersion: 1\n")
    entry = f"[opentelemetry_traces_exporter]\n{name} = mine_exporter:Exporter\n"
    (packages / "mine-1.dist-info" / "entry_points.txt").write_text(entry)
    (packages / "mine_exporter.py").write_text(code)
    return {"PYTHONPATH": str(packages), "SPANS": str(folder / "spans")}


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"OTEL_TRACES_EXPORTER": "mine"}, "mine"),
        (ENDPOINT, "otlp_proto_http"),
        (ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp_proto_grpc"),
    ],
)
def test_S42_an_exporter_that_is_installed_is_used(
    project: Project, tmp_path: Path, environment: dict[str, str], name: str
) -> None:
    env = environment | exporter_package(tmp_path, name, EXPORTER)
    done = project.call("code", "Go.", "--model", project.script("Done."), **env)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert (tmp_path / "spans").read_text() == "chat scripted:script.json\ninvoke_agent\n"


FAILING = """
import logging, os
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
class Exporter(SpanExporter):
    def __init__(self, timeout=None):
        open(os.environ["SPANS"], "w").write(str(timeout))
    def export(self, spans):
        logger = logging.getLogger("opentelemetry.exporter.otlp")
        logger.warning("Transient error at http://me:canary@collector")
        logger.error("Failed to export to http://me:canary@collector")
        logger.error("Failed again")
        return SpanExportResult.FAILURE
"""


@pytest.mark.parametrize(("more", "timeout"), [({}, "3.0"), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "10"}, "None")])
def test_S42_spans_that_nobody_takes_are_told_of_once(
    project: Project, tmp_path: Path, more: dict[str, str], timeout: str
) -> None:
    """In our words, at the end, and after a short wait: the library's own have the address, and what is in it."""
    env = exporter_package(tmp_path, "otlp_proto_http", FAILING) | ENDPOINT | more
    done = project.call("code", "Go.", "--model", project.script("Done."), **env)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert done.stderr.splitlines()[-1] == (
        "Warning: The spans could not be sent where the OTEL_ variables say. The command itself is not affected."
    )
    assert ("canary" in done.stderr, "Failed again" in done.stderr) == (False, False)
    assert (tmp_path / "spans").read_text() == timeout


def test_S42_losses_are_told_of_in_this_process_too(capsys: pytest.CaptureFixture[str]) -> None:
    from toolroll.cli import tracing as telemetry

    logger = logging.getLogger("opentelemetry")
    handlers, propagate = list(logger.handlers), logger.propagate
    telemetry._report_failures_once()
    try:
        for _ in range(2):
            logging.getLogger("opentelemetry.exporter").error("canary")
        told = capsys.readouterr().err
    finally:
        logger.handlers[:], logger.propagate = handlers, propagate
    assert (told.count("could not be sent"), "canary" in told) == (1, False)


def test_S42_what_cannot_be_used_is_told_and_the_work_is_done(project: Project) -> None:
    model = project.script("Done.")
    for environment, told in (
        (ENDPOINT, "'otlp': there is no such exporter installed. Install one: pip install opentelemetry-exporter"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "Nothing is traced to 'zipkin': there is no such exporter installed.\n"),
    ):
        done = project.call("code", "Go.", "--model", model, **environment)
        assert (done.returncode, done.stdout, told in done.stderr) == (0, "Done.\n", True)


def test_S42_without_the_library_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr("toolroll.cli.tracing.find_spec", missing)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    set_up_tracing()
    told = "Warning: Nothing is traced: OpenTelemetry is not installed. Install it: pip install 'toolroll[otel]'.\n"
    assert capsys.readouterr().err == told


def test_S42_in_this_process_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same in the process of the tests, where what it does can be looked at."""
    made: list[TracerProvider] = []
    monkeypatch.setattr(trace, "set_tracer_provider", made.append)
    prepare(["tools", "list"], {"OTEL_TRACES_EXPORTER": "console"})
    prepare(["--version"], {"OTEL_TRACES_EXPORTER": "console"})
    prepare(["code", "x"], {})
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    prepare(["code", "x"], {"OTEL_TRACES_EXPORTER": "console"})
    assert made == []
    monkeypatch.setenv("OTEL_SDK_DISABLED", "false")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console,nothing")
    prepare(["--debug", "code", "x"], os.environ)
    [provider] = made
    with provider.get_tracer("x").start_as_current_span("one"):
        pass
    provider.shutdown()
    told = capsys.readouterr().err
    assert '"name": "one"' in told
    assert "Nothing is traced to 'nothing'" in told


def test_S42_OTLP_is_found_by_its_protocol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from toolroll.cli import tracing as telemetry

    assert telemetry._names("otlp", os.environ) == ("otlp_proto_http", "otlp_proto_grpc")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    assert telemetry._names("otlp", os.environ) == ("otlp_proto_http",)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json")
    assert telemetry._names("otlp", os.environ) == ("http/json",)
    assert telemetry.install_hint({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}) == _PIP + "grpc"
    assert (telemetry.install_hint({}), telemetry.missing_exporters(("console", "otlp"), {})) == (
        _PIP + "http",
        ("otlp",),
    )
    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info" / "METADATA").write_text("Name: mine\nVersion: 1\n")
    entry = "[opentelemetry_traces_exporter]\nmine = collections:OrderedDict\n"
    (tmp_path / "mine-1.dist-info" / "entry_points.txt").write_text(entry)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    entry_point = telemetry._find_exporter("mine")
    assert entry_point is not None
    assert isinstance(make_exporter(entry_point), OrderedDict)


def test_XF9_a_home_that_is_not_there_is_not_shared(tmp_path: Path) -> None:
    assert not is_home_shared({})
    assert not is_home_shared({"TOOLROLL_HOME": str(tmp_path / "nothing")})
    tmp_path.chmod(0o720)
    assert is_home_shared({"TOOLROLL_HOME": str(tmp_path)})


def test_XF9_a_folder_above_ours_that_others_can_write_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, share = tmp_path / "me", tmp_path / "me" / ".local" / "share"
    ours = share / "toolroll"
    ours.mkdir(parents=True)
    for folder in (home, share.parent, share, ours):
        folder.chmod(0o755)
    user = {"HOME": str(home)}
    assert (find_shared_folder(user, own=True), find_shared_folder({"HOME": "me"}, own=True)) == (None, None)
    for folder in (home, share.parent, share):
        folder.chmod(0o757)
        assert find_shared_folder(user, own=False) == f"'{folder}'"
        prepare(["tools"], user)
        assert f"Warning: other users can write to '{folder}', where your" in capsys.readouterr().err
        folder.chmod(0o755)
    ours.chmod(0o777)
    assert (find_shared_folder(user, own=True), find_shared_folder(user, own=False)) == (f"'{ours}'", None)
    assert find_shared_folder({**user, "XDG_DATA_HOME": str(tmp_path)}, own=True) is None
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    assert find_shared_folder({"TOOLROLL_HOME": str(tmp_path)}, own=True) == f"'{data}'"


def test_XF9_a_group_of_ones_own_is_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o770)
    real = os.stat(tmp_path)
    for group, shared in ((real.st_uid, None), (real.st_uid + 1, f"'{tmp_path}'")):
        fields = [*real]
        fields[5] = group
        monkeypatch.setattr("toolroll.cli.startup._status", lambda _place, told=fields: os.stat_result(told))
        assert find_shared_folder({"HOME": str(tmp_path), "XDG_DATA_HOME": "/x"}, own=False) == shared


def test_S42_the_json_of_a_span_is_json(project: Project) -> None:
    done = project.call("code", "Go.", "--model", project.script("Done."), OTEL_TRACES_EXPORTER="console")
    first = done.stderr[done.stderr.index("{") :]
    span, _ = json.JSONDecoder().raw_decode(first)
    assert span["attributes"]["gen_ai.operation.name"] == "chat"
