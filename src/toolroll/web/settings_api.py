"""The settings of the page: models, keys, rules, trust, and what the doctor finds. A key is never sent back."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from toolroll.apps.mcp_servers import NamedServer, find_servers
from toolroll.apps.settings_view import check_setting, find_keys, shown_value, usual_value
from toolroll.apps.surface import Surface
from toolroll.home.folders import find_folders
from toolroll.home.keys import KeyBook
from toolroll.home.mcp_listings import ListingBook
from toolroll.home.mcp_pins import PinBook
from toolroll.home.rules import RememberedRule, RuleBook
from toolroll.home.settings import Settings, read_settings, settings_path
from toolroll.home.settings_file import set_setting, unset_setting
from toolroll.home.settings_schema import Setting, all_settings, format_value
from toolroll.home.tokens import Token
from toolroll.home.trust import TrustBook
from toolroll.kernel.approval.request import content_hash
from toolroll.models.catalog import ALIASES, PROVIDERS
from toolroll.packs.keys import check_key_name
from toolroll.safe.secrets.redact import redact_shown
from toolroll.web.models import Operation
from toolroll.web.problems import Problem
from toolroll.web.routing import read_body
from toolroll.web.settings_models import (
    DoctorModel,
    FindingModel,
    KeyChange,
    KeyModel,
    ModelName,
    PlaceModel,
    RuleModel,
    RuleNamed,
    ServerModel,
    SettingChange,
    SettingModel,
    SettingsModel,
    TrustModel,
    TrustNamed,
)


class SettingsApi:
    """The operations on settings."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        doctor: Callable[[], Sequence[Mapping[str, str]]],
    ) -> None:
        self._folder, self._environment, self._doctor = folder, environment, doctor

    async def show_settings(self, _request: Request, _person: Token) -> Response:
        """Show everything that can be set, and what is remembered."""
        return self._answer()

    async def change_setting(self, request: Request, _person: Token) -> Response:
        """Set a setting in the user's own file, or remove it from there."""
        asked = await read_body(request, SettingChange)
        if asked.words is not None:
            set_setting(self._environment, asked.name, asked.words, check=check_setting)
        elif not unset_setting(self._environment, asked.name):
            raise Problem(409, "not_set", f"'{asked.name}' is not in your settings.")
        return self._answer()

    async def change_key(self, request: Request, _person: Token) -> Response:
        """Store a key in the system's keyring, or delete it there."""
        asked = await read_body(request, KeyChange)
        check_key_name(asked.name)
        book = KeyBook.from_environment(self._environment)
        if asked.key is not None:
            await asyncio.to_thread(book.put, asked.name, asked.key)  # a keyring may ask for its password
        elif not await asyncio.to_thread(book.delete, asked.name):
            raise Problem(409, "not_set", f"{asked.name} is not in the keyring.")
        return self._answer()

    async def forget_rule(self, request: Request, _person: Token) -> Response:
        """Forget leave that was given with "always": from now on it is asked again."""
        asked = await read_body(request, RuleNamed)
        book = RuleBook.from_environment(self._environment)
        found = next((rule for rule in book.rules() if _rule_id(rule) == asked.id), None)
        if found is None or not book.remove(found):
            raise Problem(409, "not_set", "There is no such rule any more.")
        return self._answer()

    async def forget_trust(self, request: Request, _person: Token) -> Response:
        """Trust a file of a project no longer."""
        asked = await read_body(request, TrustNamed)
        if not TrustBook.from_environment(self._environment).remove(asked.workspace, asked.path):
            raise Problem(409, "not_trusted", "This file is not trusted any more.")
        return self._answer()

    async def run_doctor(self, _request: Request, _person: Token) -> Response:
        """Look at everything, as `toolroll doctor` does, without a network."""
        found = await asyncio.to_thread(self._doctor)
        return _respond(DoctorModel(findings=tuple(FindingModel.model_validate(one) for one in found)))

    def _servers(self, settings: Settings, told: list[str]) -> Iterator[ServerModel]:
        """Yield the MCP servers that are used in the folder; why others are not is added to `told`."""
        surface = Surface(environment=self._environment, notify=lambda note: told.append(note.text))
        for one in find_servers(self._folder, settings, surface):
            yield _server(one, self._environment)

    def _answer(self) -> Response:
        settings = read_settings(self._environment, root=self._folder)
        folders = find_folders(self._environment)
        told: list[str] = []
        servers = tuple(self._servers(settings, told))
        places = {"settings": settings_path(self._environment), "data": folders.data, "cache": folders.cache}
        return _respond(
            SettingsModel(
                settings=tuple(_setting(one, settings) for one in all_settings()),
                notes=(*map(str, settings.notes), *told),
                keys=tuple(
                    KeyModel.model_validate({"name": name, "use": use, "place": place})
                    for name, use, place in find_keys(self._environment)
                ),
                models=tuple(_model_names()),
                deny=settings.code.deny,
                rules=tuple(map(_rule, RuleBook.from_environment(self._environment).rules())),
                trusted=tuple(
                    TrustModel(workspace=one.workspace, path=one.path)
                    for one in TrustBook.from_environment(self._environment).files()
                ),
                servers=servers,
                places=tuple(PlaceModel(name=name, path=str(path)) for name, path in places.items()),
            )
        )


def _server(one: NamedServer, environment: Mapping[str, str]) -> ServerModel:
    listing = ListingBook.from_environment(environment).find(one.spec.identity)
    is_known = listing is not None and not listing.problem
    return ServerModel(
        name=one.spec.name,
        origin=one.origin,
        place=redact_shown(one.spec.place),
        tools=tuple(str(tool.get("name")) for tool in listing.tools) if listing is not None and is_known else None,
        accepted=len(PinBook.from_environment(environment).find(one.spec.identity)),
        problem="" if listing is None else listing.problem,
    )


def _model_names() -> list[ModelName]:
    aliases = [ModelName(name=name, stands_for=str(meant)) for name, meant in ALIASES.items()]
    return [*aliases, *(ModelName(name=f"{provider}:NAME", stands_for=provider) for provider in PROVIDERS)]


def _setting(one: Setting, settings: Settings) -> SettingModel:
    value, usual, origin = shown_value(one, settings), usual_value(one), settings.origin(one.name)
    words = tuple(map(str, value)) if isinstance(value, tuple | list) else () if value is None else (str(value),)
    return SettingModel(
        name=one.name,
        kind=one.kind,
        summary=one.summary,
        value=None if value is None else format_value(value),
        words=words,
        usual=None if usual is None else format_value(usual),
        variable=one.variable,
        origin=origin.kind,
        place=origin.place or "",
    )


def _rule(rule: RememberedRule) -> RuleModel:
    return RuleModel(
        id=_rule_id(rule),
        tool=rule.tool,
        path=rule.path or "whatever it is given",
        workspace=rule.workspace,
        added=rule.added.isoformat(),
    )


def _rule_id(rule: RememberedRule) -> str:
    parts = (rule.tool, rule.fingerprint, rule.place, rule.path or "", rule.workspace)
    return content_hash("\0".join(parts).encode())


def _respond(model: BaseModel) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")


def _change(name: str, summary: str, path: str, body: type[BaseModel]) -> Operation:
    given: dict[str, Any] = {"problems": (409, 415)}
    return Operation(
        method="POST", path=path, name=name, summary=summary, scope="page", body=body, answer=SettingsModel, **given
    )


SETTINGS_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/api/settings",
        name="show_settings",
        summary="Settings, keys by name, rules and trust",
        scope="page",
        answer=SettingsModel,
    ),
    _change("change_setting", "Set or remove a setting", "/api/settings", SettingChange),
    _change("change_key", "Store or delete a key", "/api/settings/keys", KeyChange),
    _change("forget_rule", "Forget a remembered rule", "/api/settings/rules/forget", RuleNamed),
    _change("forget_trust", "Trust a file no longer", "/api/settings/trust/forget", TrustNamed),
    Operation(
        method="POST",
        path="/api/settings/doctor",
        name="run_doctor",
        summary="Look at everything",
        scope="page",
        answer=DoctorModel,
    ),
)
