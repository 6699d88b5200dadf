"""The tools for profiles and feedback: `read_style_profile`, `update_style_profile`, `list_profiles`, `track_feedback`.

Each answers `{success: true, ...}` or `{success: false, error, message, ...}`.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, Literal, TypeGuard

from pydantic import Field, JsonValue, StringConstraints

from toolroll.errors import ProfileMissing, ToolrollError
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.packs.writing.profiles.feedback import Category, FeedbackStore
from toolroll.packs.writing.profiles.names import DEFAULT, SUFFIX, profile_file
from toolroll.packs.writing.profiles.schema import ProfileFields
from toolroll.packs.writing.profiles.store import FOLDER, INIT_HINT, ProfileListing, ProfileStore
from toolroll.packs.writing.texts.messages import language_of, say
from toolroll.packs.writing.tools.dependencies import FEEDBACK, PROFILES, check_visible, keep_visible
from toolroll.packs.writing.tools.errors import tool_errors, tool_failure

MAX_REASON_CHARACTERS: Final = 500
"""It goes into the history of the profile, which a model reads with each draft."""

ReadProfiles = dict[str, ProfileFields]

READ_PROFILES: Final[DependencyKey[ReadProfiles]] = DependencyKey("writing.read_profiles", dict, scope="run")
"""The profiles that were read in this run: one turn reads each of them once (W10)."""

WithProfiles = Annotated[ProfileStore, Depends(PROFILES)]
WithFeedback = Annotated[FeedbackStore, Depends(FEEDBACK)]
WithReadProfiles = Annotated[ReadProfiles, Depends(READ_PROFILES)]
ProfileName = Annotated[str, Field(description="The profile's name.")]


def profile_answer(fields: ProfileFields) -> dict[str, object]:
    """Return the answer of `read_style_profile`."""
    return {"success": True, "profile": fields}


@tool(brings=("private", "untrusted"))
def read_style_profile(
    store: WithProfiles, remembered: WithReadProfiles, ctx: ToolContext, profile_name: ProfileName = DEFAULT
) -> dict[str, object]:
    """Read the user's style profile. ALWAYS call it before you write or rewrite content, without exception. To mix two
    profiles, call it twice, with both names. What was read in this turn need not be read again.
    """
    with tool_errors(language_of(ctx.deps)):
        _check_profile(profile_name, ctx)
        if profile_name not in remembered:
            remembered[profile_name] = _read_profile(store, profile_name, ctx)
    return profile_answer(remembered[profile_name])


def _read_profile(store: ProfileStore, name: str, ctx: ToolContext) -> ProfileFields:
    try:
        return store.read(name).fields
    except ProfileMissing as error:
        available = tuple(one for one in error.available if keep_visible([_profile_path(one)], ctx))
        raise ProfileMissing(error.message, profile=error.profile, available=available) from None


def _check_profile(name: str, ctx: ToolContext) -> None:
    if ctx.denied_paths:
        check_visible(_profile_path(name), ctx)


def _profile_path(name: str) -> str:
    return f"{FOLDER}/{profile_file(name)}"


@tool(brings=("private", "untrusted"))
def list_profiles(store: WithProfiles, ctx: ToolContext) -> dict[str, object]:
    """Show all style profiles with their types and what they are like. Use it when the user wants to see or to choose a
    profile, or when it is not clear which ones there are.
    """
    with tool_errors(language_of(ctx.deps)):
        return listing_answer(_keep_visible_profiles(store.listing(), ctx))


def _keep_visible_profiles(listing: ProfileListing, ctx: ToolContext) -> ProfileListing:
    return replace(
        listing,
        profiles=tuple(one for one in listing.profiles if keep_visible([f"{FOLDER}/{one.name}{SUFFIX}"], ctx)),
        unreadable=tuple(one for one in listing.unreadable if keep_visible([f"{FOLDER}/{one.file}"], ctx)),
    )


def listing_answer(listing: ProfileListing) -> dict[str, object]:
    """Return the answer of `list_profiles`, with files that cannot be read, and a hint where there are no profiles."""
    answer: dict[str, object] = {
        "success": True,
        "profiles": [asdict(one) for one in listing.profiles],
        "total": len(listing.profiles),
    }
    if listing.unreadable:
        answer["unreadable"] = [one.fields for one in listing.unreadable]
    if listing.is_damaged:
        answer["hint"] = say("profiles_damaged", "en", files=", ".join(listing.damaged))
    elif not listing.profiles and not listing.unreadable:
        answer["hint"] = f"There are no profiles yet. {INIT_HINT}"
    return answer


# Ghostpen allows it by a rule, as it changes only the program's own count: no person is asked about it there.
@tool(effect="writes")
def track_feedback(
    category: Annotated[Category, Field(description="The category of the feedback.")],
    raw_feedback: Annotated[str, Field(description="What the user said, in their own words.")],
    store: WithFeedback,
    ctx: ToolContext,
) -> dict[str, object]:
    """Write down the user's feedback on style, by category. When a category has come up three times, propose to update
    the style profile. Not for a single concrete edit ("replace the third sentence"), and not when the user accepts the
    draft.
    """
    try:
        tracked = store.track(category, raw_feedback, now=ctx.now())
    except ToolrollError as error:
        # The person sees nothing of this: a count is no reason to disturb them.
        ctx.logger.warning("feedback was not written down: %s", error.message)
        raise tool_failure(error.code, f"{error.message} Go on without it.") from error
    return {
        "success": True,
        "category": tracked.category,
        "count": tracked.count,
        "threshold_reached": tracked.threshold_reached,
        "suggestion": tracked.suggestion,
    }


async def _preview_update(arguments: Mapping[str, Any], ctx: ToolContext, _edited: str | None) -> Preview:
    store = await ctx.resolve(PROFILES)
    with tool_errors(language_of(ctx.deps)):  # reads one file, and waits for nobody
        _check_profile(arguments["profile_name"], ctx)
        proposed = store.propose(arguments["profile_name"], arguments["changes"])
    versions = {"old": proposed.version - 1, "new": proposed.version}
    title = say("update_preview", language_of(ctx.deps), name=arguments["profile_name"], **versions)
    changes = [f"{one.path}\n{mark_lines('-', one.old)}\n{mark_lines('+', one.new)}" for one in proposed.differences]
    return Preview.of_text("\n\n".join([title, *changes]), base=proposed.base)


def mark_lines(sign: Literal["-", "+"], value: object) -> str:
    """Return a value with the sign before each of its lines, so that none of them can pass for another field."""
    if isinstance(value, list) and value:
        lines = [one if _is_line(one) else dump_json(one) for one in value]  # a line for each entry, never two
    else:
        lines = value.split("\n") if isinstance(value, str) and value else [dump_json(value)]
    return "\n".join(f"{sign} {line}" for line in lines)


def _is_line(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and "\n" not in value


@tool(effect="writes", brings=("private", "untrusted"), why="reason", preview=_preview_update)
def update_style_profile(
    *,
    profile_name: ProfileName = DEFAULT,
    changes: Annotated[
        dict[str, JsonValue],
        Field(description='New values by dot path: {"voice.formality": "casual", "voice.hooks": ["..."]}.'),
    ],
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_REASON_CHARACTERS, pattern=r"\S"),
        Field(description="Why it is changed, for the history of the profile."),
    ],
    store: WithProfiles,
    feedback: WithFeedback,
    remembered: WithReadProfiles,
    ctx: ToolContext,
) -> dict[str, object]:
    """Update the user's style profile. Use it ONLY after the user has explicitly agreed. Reference profiles are never
    updated by feedback, only personal ones. Each update makes a new version by itself, with an entry in the history.
    """
    approved = ctx.preview
    assert approved is not None  # the executor runs nothing that writes without one
    with tool_errors(language_of(ctx.deps)):
        updated = store.update(profile_name, changes, reason=reason, now=ctx.now(), base=approved.base)
    remembered[profile_name] = updated.fields
    try:
        feedback.resolve(updated.paths, reason)
    except ToolrollError as error:  # the profile is changed: a count that stays is no reason to say otherwise
        ctx.logger.warning("the feedback that the update answers is still counted: %s", error.message)
    return {
        "success": True,
        "version": updated.entry["version"],
        "changes_applied": list(updated.paths),
        "changelog_entry": updated.entry,
    }


PROFILE_TOOLS: Final[tuple[Tool, ...]] = (read_style_profile, update_style_profile, list_profiles, track_feedback)
"""In the order in which a model sees them."""
