"""What agents reach: models and their keys, search, GitHub, Notion, the keyring, tracing. Names of keys, never keys."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Final

from toolroll.cli.actions.doctor.findings import Finding, Status
from toolroll.cli.tracing import install_hint, missing_exporters, requested_exporters
from toolroll.errors import ToolrollError
from toolroll.home.keys import KeyBook, find_keyring, with_keys
from toolroll.models.catalog import CHAT_PROVIDERS, parse_model
from toolroll.models.connect import OLLAMA_URL, connect
from toolroll.packs.keys import all_keys
from toolroll.packs.search.settings import SearchSettings
from toolroll.safe.paths.names import quote_path

OLLAMA_SECONDS: Final = 2.0
_AREA: Final = "services"
_NEEDS: Final = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
    **{name: one.key_variable for name, one in CHAT_PROVIDERS.items() if one.key_variable and one.needs_key},
}


def check_services(environment: Mapping[str, str], *, model: str | None, online: bool) -> Iterator[Finding]:
    """Yield all that is reached over a network; the network itself only with `online`."""
    places = key_places(environment)
    yield _model(environment, model, places)
    for provider, name in (("Anthropic", "ANTHROPIC_API_KEY"), ("OpenAI", "OPENAI_API_KEY")):
        yield _keyed(provider, name, places)
    for one in CHAT_PROVIDERS.values():
        if one.key_variable in places:  # of the others nobody wants to read a line each
            yield _keyed(one.title, one.key_variable, places)
    yield _ollama(online=online)
    yield _search(environment)
    yield _keyed("GitHub", "GITHUB_TOKEN", places, without="public repositories work without, slowly")
    yield _notion(environment, places)
    yield _keyring(environment)
    yield _tracing(environment)


def key_places(environment: Mapping[str, str]) -> dict[str, str]:
    """Return where each key that there is was found."""
    try:
        kept = KeyBook.from_environment(environment).names()
    except ToolrollError:
        kept = ()
    if kept and find_keyring().why:  # which is a finding of its own
        kept = ()
    found = dict.fromkeys(_names_in_file(environment), "your private file of keys") | dict.fromkeys(kept, "the keyring")
    return found | {name: "the environment" for name in all_keys() if environment.get(name, "").strip()}


def _names_in_file(environment: Mapping[str, str]) -> Iterable[str]:
    try:
        return KeyBook.from_environment(environment).file.read()
    except ToolrollError:
        return ()


def _model(environment: Mapping[str, str], model: str | None, places: Mapping[str, str]) -> Finding:
    choose = "toolroll config set model sonnet"
    if model is None:
        return _found("model", "none is chosen; name one with --model", "missing", choose)
    if model.startswith("scripted:"):
        return _found("model", f"{quote_path(model)} is played from a file")
    needed = _NEEDS.get(find_provider(model), "")
    try:
        connect(model, environment=with_keys(environment))
    except ToolrollError as error:
        fix = f"toolroll config key set {needed}" if needed and needed not in places else choose
        return _found("model", f"{quote_path(model)} cannot be asked: {error.message}", "broken", fix)
    return _found("model", f"{quote_path(model)} can be asked")


def find_provider(model: str) -> str:
    """Return whose model it is; empty where nobody knows."""
    try:
        return parse_model(model).provider
    except ToolrollError:
        return ""


def _keyed(title: str, name: str, places: Mapping[str, str], without: str = "") -> Finding:
    if name in places:
        return _found(title, f"{name} is in {places[name]}")
    text = f"there is no {name}" + (f"; {without}" if without else "")
    in_keyring = "" if find_keyring().why else f" or: toolroll config key set {name}"
    return _found(title, text, "missing", f"export {name}=...{in_keyring}")


def _ollama(*, online: bool) -> Finding:
    if not online:
        return _found("Ollama", "was not looked for (--online does)")
    import httpx2  # noqa: PLC0415 - eleven interpreter starts: only with --online

    try:
        answer = httpx2.get(f"{OLLAMA_URL}/models", timeout=OLLAMA_SECONDS, trust_env=False)
        names = [str(one["id"]) for one in answer.raise_for_status().json()["data"]]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return _found("Ollama", f"does not answer at {OLLAMA_URL}", "missing", "ollama serve")
    return _found("Ollama", f"answers at {OLLAMA_URL}, with {quote_path(', '.join(names)) or 'no models'}")


def _search(environment: Mapping[str, str]) -> Finding:
    try:
        names = SearchSettings.from_environment(with_keys(environment)).names
    except ToolrollError as error:
        return _found("search", error.message, "broken", "correct or unset that variable")
    return _found("search", f"asked in this order: {', '.join(names)}")


def _notion(environment: Mapping[str, str], places: Mapping[str, str]) -> Finding:
    found = _keyed("Notion", "NOTION_TOKEN", places)
    if found.status == "ok" and not environment.get("NOTION_DATABASE_ID", "").strip():
        text = f"{found.text}, and NOTION_DATABASE_ID is not set: pages are read, none is written"
        return _found("Notion", text, "missing", "export NOTION_DATABASE_ID=...")
    return found


def _keyring(environment: Mapping[str, str]) -> Finding:
    try:
        kept = KeyBook.from_environment(environment).names()
    except ToolrollError as error:
        return _found("keyring", error.message, "broken")
    found = find_keyring()
    if found.name:
        return _found("keyring", f"{quote_path(found.name)}, with {', '.join(kept) or 'no keys of ours'}")
    if kept:
        return _found(
            "keyring", f"{', '.join(kept)} should be there, but {found.why}", "broken", "set them as variables"
        )
    return _found("keyring", f"{found.why}; keys are read from the environment", "missing")


def _tracing(environment: Mapping[str, str]) -> Finding:
    asked = requested_exporters(environment)
    if not asked:
        return _found("tracing", "off (set OTEL_TRACES_EXPORTER or OTEL_EXPORTER_OTLP_ENDPOINT)")
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        return _found("tracing", "is asked for, and not installed", "warning", "pip install 'toolroll[otel]'")
    if missing := missing_exporters(asked, environment):
        text = f"to {quote_path(', '.join(missing))} is asked for, and no such exporter is installed"
        return _found("tracing", text, "warning", install_hint(environment) if "otlp" in missing else "")
    return _found("tracing", f"to {quote_path(', '.join(asked))}")


def _found(name: str, text: str, status: Status = "ok", fix: str = "") -> Finding:
    return Finding(area=_AREA, name=name, status=status, text=text, fix=fix)
