"""Run a tool, in the only way there is: parse, validate, policy, approval, intent, run, outcome, serialize.

`admit` does what needs no waiting: it answers with a permit, with a failure, with the arguments a person must see, or
with a call whose paths have to be followed first: `judge_located` does that, and rules then judge where they lead.
`show` makes the request for that person, `settle` turns the answer into a permit, `run_call` takes the permit to the
tool. Permits are written in this module alone.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolroll.errors import ArgumentsRefused, JsonRefused
from toolroll.kernel.approval.ask_person import Unanswered
from toolroll.kernel.approval.permit import _MINT, Grant, Permit, make_seal
from toolroll.kernel.approval.policy import Policy, Verdict
from toolroll.kernel.approval.request import (
    ApprovalRequest,
    Decision,
    Effect,
    Preview,
    Reject,
    Target,
    rejection_text,
    unique_paths,
)
from toolroll.kernel.call.context import Ledger, ToolContext
from toolroll.kernel.call.error_result import handle_error, shape_failure
from toolroll.kernel.call.events import ApprovalDecided
from toolroll.kernel.call.result import Done, ToolResult, to_result
from toolroll.kernel.data.labels import ALL_LABELS, EXPOSED, Labels, collect_labels, is_exposed, is_outward
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_plain, to_plain_unfiltered
from toolroll.kernel.failures import is_being_cancelled, log_failure

if TYPE_CHECKING:
    from toolroll.kernel.define.tool import Tool

_DEFAULT_POLICY: Final = Policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A valid call that must be shown to a person first; `seal` is the hash of its arguments as they were checked."""

    tool: "Tool"
    core: "Tool"
    arguments: object
    effect: Effect
    seal: str
    is_exposed: bool = False
    """Whether it would send something out of a run that holds private text."""
    beyond: str = ""
    """Why no consent covers it, where there is one."""
    targets: tuple[Target, ...] = ()
    """Where its paths led when it was judged."""

    @property
    def changes(self) -> bool:
        """Return whether it changes anything."""
        return self.effect != "reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locating:
    """A valid call of a tool that can tell where its paths lead, which rules must know before they judge it."""

    tool: "Tool"
    core: "Tool"
    arguments: object
    effect: Effect
    paths: tuple[str, ...]
    siblings: Sequence["Tool"] = ()


async def execute(tool: "Tool", raw: str, ctx: ToolContext) -> ToolResult:
    """Run one call, from its JSON text to its result. Never raises, cancellation aside."""
    admitted = admit(tool, raw, ctx)
    if isinstance(admitted, Locating):
        admitted = await judge_located(admitted, ctx)
    if isinstance(admitted, Asking):
        admitted = await _ask_about(admitted, ctx)
    if isinstance(admitted, Permit):
        admitted = await run_call(tool, raw, admitted, ctx)
    return shape_failure(admitted, tool)


async def _ask_about(asking: Asking, ctx: ToolContext) -> Permit | ToolResult:
    request = await show(asking, ctx)
    if isinstance(request, ToolResult):
        return request
    [decision] = await ctx.run.ask([request])
    return await settle(asking, request, decision, ctx)


def admit(
    tool: "Tool", raw: str, ctx: ToolContext, siblings: Sequence["Tool"] = ()
) -> Permit | Asking | Locating | ToolResult:
    """Parse, validate and judge a call, without running, asking or waiting for anything.

    `siblings` are the tools of all calls of the turn: what they bring in counts, whichever of them ends first.
    """
    try:
        if not isinstance(raw, str):
            raise JsonRefused(f"The arguments must be JSON text (a str), not {type(raw).__name__}.")
        arguments = tool.validate(raw)
        core = tool.core
        effect = core.effect
        if effect == "reads":
            effect = tool.effect  # a wrapper can only make it stricter
        if effect == "reads" and ctx.run.policy is None and not (tool.asks or tool.has_condition):
            return Permit(_MINT, core, arguments, ctx)
        paths = _paths(tool, core, arguments)
        if paths and core.locates:
            return Locating(tool=tool, core=core, arguments=arguments, effect=effect, paths=paths, siblings=siblings)
        return _judge(tool, core, arguments, effect, paths, (), ctx, siblings)
    except (JsonRefused, ArgumentsRefused) as error:
        return ToolResult.failure(error.message, code=error.code)
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a validator or wrapper raises
        return handle_error(error, tool, ctx)


async def judge_located(call: Locating, ctx: ToolContext) -> Permit | Asking | ToolResult:
    """Follow the paths of a call once, then judge it by their names and by where they lead."""
    try:
        ctx.targets = targets = await _locate(call.core, call.paths, ctx)
        paths = unique_paths((*call.paths, *(target.resolved for target in targets)))
        judged = _judge(call.tool, call.core, call.arguments, call.effect, paths, targets, ctx, call.siblings)
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a tool raises
        return handle_error(error, call.tool, ctx)
    if isinstance(judged, Permit) and judged.granted == "policy" and judged.changes:
        return await _ask_if_doubted(call, judged, ctx)
    return judged


async def _ask_if_doubted(call: Locating, permit: Permit, ctx: ToolContext) -> Permit | Asking:
    """Return the call as one to ask about if the program doubts the change: a rule is a general yes, given before."""
    try:
        preview = await _preview(call.tool, call.arguments, ctx)
    except Exception:  # noqa: BLE001 - it is made again when the call's turn comes, and answered for there
        return permit
    if not preview.doubts:
        return permit
    permit.expire()
    return Asking(
        tool=call.tool,
        core=call.core,
        arguments=call.arguments,
        effect=call.effect,
        seal=make_seal(call.arguments),
        targets=permit.targets,
    )


async def _locate(core: "Tool", paths: tuple[str, ...], ctx: ToolContext) -> tuple[Target, ...]:
    # The tool that will run knows where its paths lead, whatever a wrapper says.
    found = await core.locate(paths, ctx)
    return tuple(Target(name=name, resolved=resolved) for name, resolved in zip(paths, found, strict=True))


def _judge(
    tool: "Tool",
    core: "Tool",
    arguments: object,
    effect: Effect,
    paths: tuple[str, ...],
    targets: tuple[Target, ...],
    ctx: ToolContext,
    siblings: Sequence["Tool"],
) -> Permit | Asking | ToolResult:
    policy = ctx.run.policy or _DEFAULT_POLICY
    needed = tool.needs_approval(arguments, ctx)
    verdict = policy.judge(tool.name, effect=effect, paths=paths, asks=bool(needed), core=core.name)
    if needed is False and verdict.action == "ask" and not verdict.by_rule:
        verdict = Verdict(action="allow", because=f"{tool.name} needs no approval for this call", by_rule=True)
    ctx.unasked_paths = policy.unasked_paths(tool.name, paths, core.name)
    ctx.denied_paths = (*policy.denied_paths(tool.name, core.name), *ctx.unasked_paths)
    if verdict.action == "deny":
        return _denied_failure(tool, verdict)
    if _could_leak(tool, ctx.run.labels, siblings):
        beyond = ctx.run.take_consent(ctx.call_id, arguments) if verdict.action == "allow" else ""
        if beyond is not None:
            return _judge_outward(tool, core, arguments, targets, policy, beyond)
    if verdict.action == "allow" and not verdict.by_rule and not paths:
        return Permit(_MINT, core, arguments, ctx)  # nothing of the arguments was judged
    seal = make_seal(arguments)
    if verdict.action == "ask":
        return Asking(tool=tool, core=core, arguments=arguments, effect=effect, seal=seal, targets=targets)
    granted: Grant = "policy" if verdict.by_rule else "effect"
    return Permit(_MINT, core, arguments, ctx, granted, seal, targets=targets)


def _could_leak(tool: "Tool", held: Labels, siblings: Sequence["Tool"]) -> bool:
    own = collect_labels(tool)
    if not (siblings or is_exposed(held, own)) or not is_outward(tool):
        return False
    return is_exposed(held.union(*map(_labels_brought, siblings)), own)


def _labels_brought(sibling: "Tool") -> Labels:
    """Return the labels of a tool's results; all of them where a wrapper breaks over it, as its own call will."""
    try:
        return collect_labels(sibling)
    except BaseException as error:
        if is_being_cancelled(error):
            raise
        return ALL_LABELS


def _judge_outward(
    tool: "Tool", core: "Tool", arguments: object, targets: tuple[Target, ...], policy: Policy, beyond: str
) -> Asking | ToolResult:
    """Judge a call that could carry private text out, and that no consent covers: no rule is enough."""
    if policy.outward == "ask":
        seal = make_seal(arguments)
        return Asking(
            tool=tool,
            core=core,
            arguments=arguments,
            effect="external",
            seal=seal,
            is_exposed=True,
            targets=targets,
            beyond=beyond,
        )
    text = (
        f"{tool.name} was not run. {EXPOSED} No rule allows that. Do without it and tell the user, who can do it "
        "themselves, or in a new run that reads nothing private."
    )
    return ToolResult.failure(text, code="blocked_by_policy")


def _paths(tool: "Tool", core: "Tool", arguments: object) -> tuple[str, ...]:
    # Those of the tool that will run count, whatever a wrapper says; one may know of more.
    return unique_paths((*core.paths(arguments), *tool.paths(arguments)))


async def show(asking: Asking, ctx: ToolContext, edited: str | None = None) -> ApprovalRequest | ToolResult:
    """Return what a person has to see before this call may run, or why there is nothing to approve."""
    tool, arguments = asking.tool, asking.arguments
    try:
        preview = await _preview(tool, arguments, ctx, edited)
        why = tool.why(arguments)
        return ApprovalRequest(
            run_id=ctx.run_id,
            call_id=ctx.call_id,
            tool=tool.name,
            effect=asking.effect,
            arguments=to_plain_unfiltered(arguments),
            why=" ".join(part for part in (EXPOSED, asking.beyond, why) if part) if asking.is_exposed else why,
            preview=preview,
            paths=_paths(tool, asking.core, arguments),
            fingerprint=tool.describe().fingerprint,
            is_exposed=asking.is_exposed,
            targets=asking.targets,
        )
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a preview raises
        return handle_error(error, tool, ctx, preview=True)


async def _preview(tool: "Tool", arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
    preview: object = await tool.preview(arguments, ctx, edited)
    if not isinstance(preview, Preview):
        raise TypeError(f"it returned {type(preview).__name__}, not a Preview")
    return preview


async def settle(
    asking: Asking, request: ApprovalRequest, decision: Decision | Unanswered, ctx: ToolContext
) -> Permit | ToolResult:
    """Turn an answer into a permit, if it is a yes to what would happen now."""
    if isinstance(decision, Unanswered):
        if ctx.run.approver is not None:
            ctx.run.report(ApprovalDecided(request=request, decision=Reject(decision.because)))
        text = f"{asking.tool.name} needs a person's approval, and {decision.because}. Nothing was done."
        if asking.is_exposed:
            text = f"{text} {EXPOSED} Do without it, and tell the user."
        return ToolResult.failure(text, code="needs_approval")
    if isinstance(decision, Reject):
        ctx.run.report(ApprovalDecided(request=request, decision=decision))
        return ToolResult.failure(rejection_text(decision), code="rejected")
    now = await _check_unchanged(asking, request, decision.edited, ctx)
    if decision.arguments is not None and not isinstance(now, ToolResult):
        asking, now = await _change_arguments(asking, decision.arguments, ctx)
    bound = request if isinstance(now, ToolResult) else now
    ctx.run.report(ApprovalDecided(request=bound, decision=decision))
    if isinstance(now, ToolResult):
        return now
    ctx.has_unread_edit = decision.edited is not None
    ctx.batch = decision.batch
    return Permit(_MINT, asking.core, asking.arguments, ctx, "person", asking.seal, now.preview, targets=asking.targets)


async def _check_unchanged(
    asking: Asking, request: ApprovalRequest, edited: str | None, ctx: ToolContext
) -> ApprovalRequest | ToolResult:
    """Return the request as it is at this moment; a failure if it is no longer what the person saw."""
    if (moved := await _check_targets(asking, ctx)) is not None:
        return moved
    # Without the edit first: a preview that names no base would let a person's text overwrite newer work.
    now = await show(asking, ctx)
    if isinstance(now, ToolResult):
        return now
    if now.digest != request.digest or make_seal(asking.arguments) != asking.seal:
        return _stale_failure(asking)
    return now if edited is None else await _check_edit(asking, request, edited, ctx)


async def _check_targets(asking: Asking, ctx: ToolContext) -> ToolResult | None:
    """Return a failure if a path of the call leads elsewhere than when it was judged."""
    try:
        paths = tuple(target.name for target in asking.targets)
        if not paths or await _locate(asking.core, paths, ctx) == asking.targets:
            return None
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a tool raises
        return handle_error(error, asking.tool, ctx)
    return _stale_failure(asking)


async def _check_edit(
    asking: Asking, request: ApprovalRequest, edited: str, ctx: ToolContext
) -> ApprovalRequest | ToolResult:
    """Return the request with the person's own text in place of the proposed one."""
    if request.preview.editable is None:
        return _not_editable_failure(asking)
    now = await show(asking, ctx, edited)
    if isinstance(now, ToolResult):
        return now
    # All that must not have moved is what it is based on.
    seen = replace(now, preview=replace(request.preview, base=now.preview.base))
    if seen.digest != request.digest or make_seal(asking.arguments) != asking.seal:
        return _stale_failure(asking)
    if now.preview.editable != edited:  # it would do something else than the person wrote
        return _not_editable_failure(asking)
    return now


async def _change_arguments(
    asking: Asking, arguments: Mapping[str, object], ctx: ToolContext
) -> tuple[Asking, ApprovalRequest | ToolResult]:
    """Return the call with the arguments of the person: checked, judged and previewed as those of a model are."""
    try:
        raw = dump_plain(to_plain_unfiltered(arguments))
        changed = asking.tool.validate(raw)
        paths = _paths(asking.tool, asking.core, changed)
        targets = await _locate(asking.core, paths, ctx) if paths and asking.core.locates else ()
        judged = unique_paths((*paths, *(target.resolved for target in targets)))
        policy = ctx.run.policy or _DEFAULT_POLICY
        verdict = policy.judge(asking.tool.name, effect=asking.effect, paths=judged, core=asking.core.name)
    except (JsonRefused, ArgumentsRefused) as error:
        text = f"The arguments that the person gave do not fit. Nothing was done. {error.message}"
        return asking, ToolResult.failure(text, code="invalid_edit")
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a validator or wrapper raises
        return asking, handle_error(error, asking.tool, ctx)
    if verdict.action == "deny":
        return asking, _denied_failure(asking.tool, verdict)
    made = replace(asking, arguments=changed, seal=make_seal(changed), targets=targets)
    ctx.edited_arguments = raw
    return made, await show(made, ctx)


def _denied_failure(tool: "Tool", verdict: Verdict) -> ToolResult:
    text = f"{tool.name} is not allowed here ({verdict.because}). Do without it, or ask the user to change that."
    return ToolResult.failure(text, code="denied")


def _doubted_failure(tool: "Tool", preview: Preview) -> ToolResult:
    text = (
        f"{' '.join(preview.doubts)} A rule allows {tool.name}, but no such change unseen. Nothing was done. Propose "
        "it again, by itself, and a person is asked."
    )
    return ToolResult.failure(text, code="needs_approval")


def _stale_failure(asking: Asking) -> ToolResult:
    text = (
        f"What {asking.tool.name} would change is no longer what was shown for approval. Nothing was done. "
        "Read it again and propose the change anew."
    )
    return ToolResult.failure(text, code="stale_approval")


def _not_editable_failure(asking: Asking) -> ToolResult:
    text = f"What {asking.tool.name} proposes cannot be edited, only taken or left. Nothing was done."
    return ToolResult.failure(text, code="not_editable")


def run_call(tool: "Tool", raw: str, permit: Permit, ctx: ToolContext) -> Awaitable[ToolResult]:
    """Take the permit to the tool, with the intent written down before and the outcome after."""
    if permit.granted == "policy" and permit.changes:
        return _show_and_run(tool, raw, permit, ctx)
    return _run_recorded(tool, raw, permit, ctx)


async def _show_and_run(tool: "Tool", raw: str, permit: Permit, ctx: ToolContext) -> ToolResult:
    # When its turn comes, as calls before it may have changed what it is about. Nobody sees this preview, but the tool
    # does what it says: a change that a rule allows must be the one that a person would have been shown.
    try:
        preview = await _preview(tool, permit.arguments, ctx)
        if preview.doubts:  # only since calls before it in the turn have run, or it would have been asked about
            permit.expire()
            return _doubted_failure(tool, preview)
        permit.show(_MINT, preview)
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a preview raises
        permit.expire()
        return handle_error(error, tool, ctx, preview=True)
    return await _run_recorded(tool, raw, permit, ctx)


def _run_recorded(tool: "Tool", raw: str, permit: Permit, ctx: ToolContext) -> Awaitable[ToolResult]:
    if ctx.run.ledger is None:
        return _invoke(tool, permit, ctx)
    call = ToolCall(id=ctx.call_id, name=tool.name, arguments=ctx.edited_arguments or raw)
    return _invoke_on_record(tool, call, permit, ctx, ctx.run.ledger)


async def _invoke_on_record(
    tool: "Tool", call: ToolCall, permit: Permit, ctx: ToolContext, ledger: Ledger
) -> ToolResult:
    try:
        await ledger.intent(call)
    except BaseException as error:  # noqa: BLE001 - what cannot be recorded does not run
        return handle_error(error, tool, ctx)
    result = await _invoke(tool, permit, ctx)
    try:
        await ledger.outcome(call, result)
    except Exception as error:  # noqa: BLE001 - the call has happened, and its result must be told
        log_failure(ctx.logger, error, "the outcome of %s could not be recorded", tool.name)
    return result


async def _invoke(tool: "Tool", permit: Permit, ctx: ToolContext) -> ToolResult:
    try:
        try:
            result = to_result(await tool.invoke(permit, ctx))
        except Done as done:
            result = to_result(done)
        if ctx.has_unread_edit and not result.is_error:
            result = _edit_ignored_failure(tool)
    except BaseException as error:  # noqa: BLE001 - the executor answers for whatever a tool raises
        result = handle_error(error, tool, ctx)
    finally:
        permit.expire()
    if ctx.run.outflow is not None and "private" in collect_labels(tool):
        ctx.run.outflow.private.add(result.text)
    return result


def _edit_ignored_failure(tool: "Tool") -> ToolResult:
    text = (
        f"{tool.name} ran, but never looked at the text that the person wrote in place of the proposed one. What it "
        "changed may be the proposal instead. Look at the outcome, and tell the user."
    )
    return ToolResult.failure(text, code="edit_ignored")
