"""What the settings of the page and the server say to each other. Part of the one OpenAPI document."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Body(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


class SettingModel(_Body):
    """One setting: what counts, as TOML writes it, and where that is from."""

    name: str
    kind: str
    summary: str
    value: str | None
    words: tuple[str, ...]
    """The value as words, to be edited; a list has several."""
    usual: str | None
    variable: str
    origin: str
    place: str


class KeyModel(_Body):
    """A key that is used, and where it was found; never the key itself."""

    name: str
    use: str
    place: Literal["environment", "keyring", "file"] | None


class RuleModel(_Body):
    """Leave that a person gave with "always"."""

    id: str
    tool: str
    path: str
    workspace: str
    added: str


class TrustModel(_Body):
    """A file of a project that is trusted as it was."""

    workspace: str
    path: str


class ModelName(_Body):
    """A short name of a model, or a provider."""

    name: str
    stands_for: str


class PlaceModel(_Body):
    """Where something is kept."""

    name: str
    path: str


class ServerModel(_Body):
    """An MCP server whose tools agents use here."""

    name: str
    origin: str
    place: str
    tools: tuple[str, ...] | None
    """What it listed last; None where it was never asked, or did not answer."""
    accepted: int
    problem: str


class SettingsModel(_Body):
    """Everything that can be set, and what is remembered."""

    settings: tuple[SettingModel, ...]
    notes: tuple[str, ...]
    keys: tuple[KeyModel, ...]
    models: tuple[ModelName, ...]
    deny: tuple[str, ...]
    rules: tuple[RuleModel, ...]
    trusted: tuple[TrustModel, ...]
    servers: tuple[ServerModel, ...]
    places: tuple[PlaceModel, ...]


class SettingChange(_Body):
    """A setting and its new value, as words; without words it is no longer set."""

    name: str = Field(min_length=1, max_length=200)
    words: tuple[str, ...] | None = Field(max_length=200)


class KeyChange(_Body):
    """A key to store; without one it is deleted. It is never sent back."""

    name: str = Field(min_length=1, max_length=200)
    key: str | None = Field(min_length=1, max_length=10_000)


class RuleNamed(_Body):
    """A rule to forget."""

    id: str = Field(min_length=1, max_length=100)


class TrustNamed(_Body):
    """A file to trust no longer."""

    workspace: str = Field(min_length=1, max_length=5_000)
    path: str = Field(min_length=1, max_length=5_000)


class FindingModel(_Body):
    """What a look at one thing has found."""

    area: str
    name: str
    status: Literal["ok", "missing", "warning", "broken"]
    text: str
    fix: str


class DoctorModel(_Body):
    """Everything that was looked at."""

    findings: tuple[FindingModel, ...]
