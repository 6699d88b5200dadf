"""What a program chooses for one run of an agent, and what of it must be chosen again when the run is resumed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from typing_extensions import TypedDict

from toolroll.agent.hooks import Hook, make_hooks
from toolroll.agent.options import Setup, check_model, check_names, check_overrides, check_waiting, find_model
from toolroll.agent.stop import Condition, conditions, name_of
from toolroll.errors import UsageError
from toolroll.journal.journal import Recording
from toolroll.journal.records import Record, RunBegan
from toolroll.kernel.approval.request import Approver, check_approver
from toolroll.kernel.data.labels import Label, read_labels
from toolroll.kernel.depends.dependency import Overrides, get_name
from toolroll.kernel.depends.overrides import read_overrides
from toolroll.models.model import Model
from toolroll.models.settings import SettingsLike, check_settings, make_settings, merge_settings


class RunOptions(TypedDict, total=False):
    """What may be chosen for one run, beside its prompt; everything else is as the agent says."""

    deps: Mapping[str, object]
    """Values for `ctx.deps`, added to those of the agent."""
    overrides: Overrides
    """Providers that replace others, added to those of the agent."""
    model: Model | str
    """The model of this run."""
    settings: SettingsLike
    """What is asked of the model, over what the agent or the record of the run says."""
    stop_when: "Condition | Collection[Condition]"
    """The stop conditions of this run, instead of those of the agent."""
    approver: Approver | None
    """Who is asked in this run; None if nobody can be."""
    labels: "Label | Collection[Label]"
    """What the prompt of this run holds: `private` data, `untrusted` text, or both."""
    hooks: Iterable[Hook]
    """Objects that take part in this run, after those of the agent."""


_MAPPINGS: Final = ("deps", "overrides")


def choose(setup: Setup, options: RunOptions) -> Setup:
    """Return the setup with what was chosen for one run; mistakes raise `UsageError`."""
    if not options:
        return setup
    changed = _read(setup, dict(options))
    made = replace(setup, **changed)
    made = with_settings(replace(made, chosen=_describe(changed, setup)), options.get("settings"))
    check_names(made)
    check_overrides(made)
    check_waiting(made)
    return made


def with_settings(setup: Setup, given: SettingsLike | None) -> Setup:
    """Return the setup with more settings over its own; what the model does not take is refused here."""
    merged = merge_settings(setup.settings, given)
    tokens = None if merged is None else merged.max_output_tokens
    check_settings(setup.model, merged, setup.model.origin.model)
    return replace(setup, settings=merged, max_output_tokens=tokens or setup.max_output_tokens)


def with_recorded_settings(setup: Setup, recording: Recording, given: SettingsLike | None) -> Setup:
    """Return the setup with the settings that a run began with, and those that are given now over them.

    A record of an earlier version has none: then those of the agent count.
    """
    began = next((record for _, record in recording if isinstance(record, RunBegan)), None)
    if began is None or began.model_settings is None:
        return setup
    bare = replace(setup, settings=make_settings(began.model_settings))
    made = with_settings(bare, given)
    check_names(made)
    return made


def _read(setup: Setup, given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the setup that change."""
    _check_known(given)
    changed: dict[str, Any] = {}
    if (deps := _mapping(given, "deps")) is not None:
        changed["deps"] = {**(setup.deps or {}), **deps}
    if (overrides := _mapping(given, "overrides")) is not None:
        changed["overrides"] = {**(setup.overrides or {}), **read_overrides(overrides)}
    if given.get("model") is not None:
        check_model(given["model"])
        changed["model"] = find_model(given["model"], setup.timeouts)
    if given.get("stop_when") is not None:
        changed["stop_when"] = conditions(given["stop_when"])
    if "approver" in given:
        changed["approver"] = given["approver"]
        if given["approver"] is not None:
            check_approver(given["approver"])
    if given.get("hooks") is not None:
        changed["hooks"] = make_hooks(given["hooks"], setup.hooks)
    if "labels" in given:
        changed["labels"] = setup.labels | _labels(given["labels"])
    return changed


def _check_known(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in RunOptions.__annotations__:
            raise UsageError(f"A run has no option {name!r}. It takes: {', '.join(RunOptions.__annotations__)}.")


def _mapping(given: Mapping[str, Any], name: str) -> Mapping[Any, Any] | None:
    found = given.get(name)
    if found is not None and not isinstance(found, Mapping):
        raise UsageError(f"{name} is a mapping, not {found!r}.")
    return found


def _labels(given: Any) -> frozenset[Label]:
    found = read_labels(given)
    if len(found) != (1 if isinstance(given, str) else len(set(given))):
        raise UsageError(f"labels is 'private', 'untrusted' or both, not {given!r}.")
    return found


def _describe(changed: Mapping[str, Any], agents: Setup) -> dict[str, tuple[str, ...]]:
    """Return what a resumed run would miss, in words that go on record: names, never values."""
    found: dict[str, tuple[str, ...]] = {}
    for name in _MAPPINGS:
        known = getattr(agents, name) or {}
        added = [get_name(key) for key in changed.get(name, ()) if key not in known]
        if added:
            found[name] = tuple(sorted(added))
    if "model" in changed:
        found["model"] = (changed["model"].origin.model,)
    if "stop_when" in changed:
        found["stop_when"] = tuple(name_of(one) for one in changed["stop_when"])
    if changed.get("hooks") is not None and changed["hooks"] is not agents.hooks:
        known = () if agents.hooks is None else agents.hooks.all
        found["hooks"] = tuple(hook.name for hook in changed["hooks"].all[len(known) :])
    return found


def check_chosen(began: Record | None, setup: Setup) -> None:
    """Refuse to resume a run without what was chosen for it: it would go on with something else, or not at all."""
    if not isinstance(began, RunBegan):
        return
    missing = {name: value for name, value in began.chosen.items() if name not in setup.chosen}
    for name in _MAPPINGS:
        known = {get_name(key) for key in getattr(setup, name) or ()}
        if name in missing and known.issuperset(missing[name]):
            del missing[name]
    if missing:
        said = "; ".join(f"{name} ({', '.join(value)})" for name, value in missing.items())
        again = ", ".join(f"{name}=..." for name in missing)
        raise UsageError(f"This run was started with options of its own: {said}. Give them again: {again}.")
