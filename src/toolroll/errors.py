"""Every error of the project, with a stable code each.

    ToolrollError
    ├── PathRefused              path_validation    a path that may not be named at all
    ├── FileProblem                                 something about one file
    │   ├── FileMissing          file_not_found
    │   ├── RootGone             root_gone          the folder itself was moved, removed or replaced
    │   ├── FileExists           file_exists
    │   ├── NotAFile             not_a_file
    │   ├── NotText              not_text           a file of bytes that no encoding of text explains
    │   ├── OutsideRoot          outside_root       a link that leads out, dangles, or loops
    │   ├── FileTooLarge         file_too_large
    │   ├── StaleFile            stale_edit         changed since it was read or shown
    │   ├── EditRefused          edit_refused       an edit that does not fit the file it is for
    │   └── FileSystemRefused    file_system        the system said no: EACCES, ENOSPC, EROFS, ...
    ├── ProfileProblem                              something about one style profile
    │   ├── ProfileMissing       profile_not_found
    │   ├── ProfileInvalid       profile_invalid    a file that breaks rules: `faults` has every one, and where
    │   ├── ProfileFixed         reference_profile  one that is not changed by feedback
    │   ├── ProfileNewer         profile_newer      of a newer format: read, never written
    │   └── ChangeRefused        validation_failed  a change that would break it; nothing was written
    ├── LockTimeout              lock_timeout
    ├── UrlRefused               url_refused
    ├── ServiceFailed            service            a service on the net did not do what it was asked
    ├── KeyringFailed            keyring            the system's keyring is missing, locked, or broken
    ├── JsonRefused              invalid_json       text that is not strict JSON
    ├── ArgumentsRefused         invalid_arguments  JSON that is not what the tool takes
    ├── DefinitionError          tool_definition    a tool that cannot be made
    ├── DependencyError          dependency
    │   └── DependencyCycle      dependency_cycle
    ├── PermitRefused            permit_refused     a call that reached a tool around the executor
    ├── DecisionRefused          decision_refused   an approval that is forged, late, or second
    ├── ToolFailure              tool_failed        raised by a tool: what the model should read
    │   ├── ToolTimeout          timeout
    │   └── McpServerFailed      mcp_server         an MCP server that cannot be reached, or ended
    ├── HookFailed               hook_failed        a hook of the program raised, or returned what it may not
    ├── JournalRefused           journal            a run that is missing, damaged, newer, or somebody else's
    ├── DatabaseFailed           database           a PostgreSQL that is not there, too old, or says no
    ├── ConversationRefused      conversation       messages that cannot be stored, or a text that holds none
    ├── OutputMissing            not_found          a kept output that is not there, or not for this run to read
    ├── OutputDamaged            output_damaged     a kept output whose bytes are no longer those that the tool gave
    ├── ModelError                                  a model could not be asked, or did not answer
    │   ├── AuthenticationFailed authentication
    │   ├── PermissionRefused    permission
    │   ├── QuotaExceeded        quota              spent: waiting does not help
    │   ├── RateLimited          rate_limit         too fast: waiting does
    │   ├── Overloaded           overloaded
    │   ├── ModelTimeout         model_timeout
    │   ├── NetworkFailed        network
    │   ├── RequestRefused       invalid_request
    │   ├── ContextTooLong       context_too_long
    │   ├── ContentRefused       content_policy
    │   ├── ProviderFailed       provider           its own fault, or an answer nobody can read
    │   └── AnswerTooLarge       answer_too_large   an answer without end, which was not read to it
    └── UsageError               usage              a command or setting that makes no sense

The code is for programs (`--json`, results, logs), the message for people: what happened, the value, what to do next.
"""

from typing import Any, ClassVar


class ToolrollError(Exception):
    """The root of the tree: catch it to catch all that the project raises on purpose."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PathRefused(ToolrollError):
    """A path that breaks a rule of naming; `rule` says which one. No file was touched."""

    code = "path_validation"

    def __init__(self, message: str, *, path: str, rule: str) -> None:
        super().__init__(message)
        self.path = path
        self.rule = rule


class FileProblem(ToolrollError):
    """Something is wrong with one file; `path` is relative to its root, as it may be shown."""

    code = "file"

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class FileMissing(FileProblem):
    """There is nothing of that name."""

    code = "file_not_found"


class RootGone(FileProblem):
    """The folder that is worked in was moved, removed or replaced by another one of its name."""

    code = "root_gone"


class FileExists(FileProblem):
    """The name is taken, and this operation never overwrites."""

    code = "file_exists"


class NotAFile(FileProblem):
    """A folder, FIFO, socket or device where a regular file was needed (or the other way round).

    `entries` is what is in the folder, where who raises it has looked.
    """

    code = "not_a_file"

    def __init__(self, message: str, *, path: str, entries: tuple[str, ...] = ()) -> None:
        super().__init__(message, path=path)
        self.entries = entries


class NotText(FileProblem):
    """A binary file where text was needed."""

    code = "not_text"


class OutsideRoot(FileProblem):
    """A link on the way leads out of the root, to nothing, or in circles."""

    code = "outside_root"


class FileTooLarge(FileProblem):
    """More bytes than the limit allows."""

    code = "file_too_large"

    def __init__(self, message: str, *, path: str, limit_bytes: int) -> None:
        super().__init__(message, path=path)
        self.limit_bytes = limit_bytes


class StaleFile(FileProblem):
    """The content is no longer the one that was read or shown; nothing was written."""

    code = "stale_edit"


class EditRefused(FileProblem):
    """An edit that does not fit its file, or would harm it; `rule` says why, `lines` where. Nothing was written."""

    code = "edit_refused"

    def __init__(self, message: str, *, path: str, rule: str, lines: tuple[int, ...] = ()) -> None:
        super().__init__(message, path=path)
        self.rule = rule
        self.lines = lines


class FileSystemRefused(FileProblem):
    """The operating system refused: `errno_name` is its word for it, such as ENOSPC."""

    code = "file_system"

    def __init__(self, message: str, *, path: str, errno_name: str) -> None:
        super().__init__(message, path=path)
        self.errno_name = errno_name


class ProfileProblem(ToolrollError):
    """Something is wrong with one style profile; `profile` is its name, as it may be shown."""

    code = "profile"

    def __init__(self, message: str, *, profile: str) -> None:
        super().__init__(message)
        self.profile = profile


class ProfileMissing(ProfileProblem):
    """There is no profile of that name; `available` are those that there are."""

    code = "profile_not_found"

    def __init__(self, message: str, *, profile: str, available: tuple[str, ...] = ()) -> None:
        super().__init__(message, profile=profile)
        self.available = available


class ProfileInvalid(ProfileProblem):
    """The file is no profile; `faults` says in words what each fault is, and where. It was left as it is.

    `file` names one that is not among the profiles: it was to be taken in.
    """

    code = "profile_invalid"

    def __init__(self, message: str, *, profile: str, faults: tuple[str, ...], file: str = "") -> None:
        super().__init__(message, profile=profile)
        self.faults = faults
        self.file = file


class ProfileFixed(ProfileProblem):
    """A reference profile: somebody else's voice, which feedback does not change."""

    code = "reference_profile"


class ProfileNewer(ProfileProblem):
    """Written by a newer version of the program: it can be read, and is not written."""

    code = "profile_newer"


class ChangeRefused(ProfileProblem):
    """A change that breaks rules; `fields` are the paths at fault, `faults` says how. Nothing was written."""

    code = "validation_failed"

    def __init__(self, message: str, *, profile: str, fields: tuple[str, ...], faults: tuple[str, ...]) -> None:
        super().__init__(message, profile=profile)
        self.fields = fields
        self.faults = faults


class LockTimeout(ToolrollError):
    """Another process held the lock for longer than we were willing to wait."""

    code = "lock_timeout"


class UrlRefused(ToolrollError):
    """An address that a model or a document may not make us connect to."""

    code = "url_refused"

    def __init__(self, message: str, *, url: str, rule: str) -> None:
        super().__init__(message)
        self.url = url
        self.rule = rule


class ServiceFailed(ToolrollError):
    """A service on the net could not be reached, or refused, or answered what nobody can read.

    `status` is its HTTP status, if it answered; `retry_after_s` how long it wants to be left alone.
    """

    code = "service"

    def __init__(self, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class KeyringFailed(ToolrollError):
    """The system's keyring could not be used; nothing of what it said is repeated, for it may quote a key."""

    code = "keyring"


class JsonRefused(ToolrollError):
    """Text that is not strict JSON: broken, duplicate keys, NaN, too deep, too large."""

    code = "invalid_json"


class ArgumentsRefused(ToolrollError):
    """Arguments that do not fit the tool; the message lists each fault with its place."""

    code = "invalid_arguments"


class DefinitionError(ToolrollError):
    """A tool that cannot be made as written; `parameter` is the one at fault, where there is one."""

    code = "tool_definition"

    def __init__(self, message: str, *, tool: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.parameter = parameter


class DependencyError(ToolrollError):
    """A dependency that cannot be provided."""

    code = "dependency"


class DependencyCycle(DependencyError):
    """Providers that need each other; `cycle` names them in order."""

    code = "dependency_cycle"

    def __init__(self, cycle: tuple[str, ...]) -> None:
        super().__init__("Dependencies form a cycle: " + " -> ".join(cycle) + ". Break it at one of them.")
        self.cycle = cycle


class PermitRefused(ToolrollError):
    """A tool was reached without a permit of the executor, or with one for something else."""

    code = "permit_refused"


class DecisionRefused(ToolrollError):
    """An answer to an approval request that is unknown, forged, late, or the second one."""

    code = "decision_refused"


class ToolFailure(ToolrollError):
    """Raise it in a tool to say: this failed, and that is what the model should read."""

    code = "tool_failed"

    def __init__(self, content: object, *, code: str | None = None) -> None:
        super().__init__(content if isinstance(content, str) else repr(content))
        self.content = content
        self.failure_code: str = code or self.code


class ToolTimeout(ToolFailure):
    """The tool took longer than it may."""

    code = "timeout"


class McpServerFailed(ToolFailure):
    """An MCP server could not be started or reached, or its connection ended."""

    code = "mcp_server"


class HookFailed(ToolrollError):
    """A hook raised an error or returned what it may not; `hook` names it, `point` names the method."""

    code = "hook_failed"

    def __init__(self, hook: str, point: str, reason: str) -> None:
        super().__init__(f"The hook {hook} failed in {point}: {reason}.")
        self.hook = hook
        self.point = point


class JournalRefused(ToolrollError):
    """A run log that is missing, damaged, written by a newer version, or in use by another process."""

    code = "journal"


class RunMissing(JournalRefused):
    """A run that is not in the run log."""


class RecordTooNew(JournalRefused):
    """A run or a job that a newer version wrote: this one leaves it as it is."""


class RecordsLost(JournalRefused):
    """A file with records that is there, and has lost all of them or the latest; nothing of it was overwritten."""

    code = "records_lost"


class DatabaseFailed(ToolrollError):
    """A PostgreSQL database that cannot be reached or refuses; `is_passing` says that waiting may help."""

    code = "database"

    def __init__(self, message: str, *, is_passing: bool = False) -> None:
        super().__init__(message)
        self.is_passing = is_passing


class ConversationRefused(ToolrollError):
    """Messages that cannot be written as JSON, or a text that is no conversation this version can read."""

    code = "conversation"


class OutputMissing(ToolrollError):
    """No output is kept under that reference for the run that asks; guessed and foreign ones read the same."""

    code = "not_found"


class OutputDamaged(ToolrollError):
    """A kept output whose bytes are no longer those that the tool gave."""

    code = "output_damaged"


class ModelError(ToolrollError):
    """A model could not be asked or did not answer.

    `retry_after_s` is what the provider asked for, if anything; `status` its HTTP status. Where the error ended a run,
    `result` is the result so far (a `RunResult`): you can continue from its `messages`. `is_starting` says that a
    server on this machine is not there yet, or still loads its model.
    """

    code = "model"
    is_retriable: ClassVar[bool] = False

    def __init__(self, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
        self.is_starting = False
        self.result: Any = None  # its type lives in a room above this one


class AuthenticationFailed(ModelError):
    """The key is missing, wrong or expired."""

    code = "authentication"


class PermissionRefused(ModelError):
    """The key is good, but not for this."""

    code = "permission"


class QuotaExceeded(ModelError):
    """Money or credit is spent; waiting does not help."""

    code = "quota"


class RateLimited(ModelError):
    """Too many requests; waiting helps."""

    code = "rate_limit"
    is_retriable = True


class Overloaded(ModelError):
    """The provider has too much to do."""

    code = "overloaded"
    is_retriable = True


class ModelTimeout(ModelError):
    """No answer in time."""

    code = "model_timeout"
    is_retriable = True


class NetworkFailed(ModelError):
    """The connection could not be made, or broke."""

    code = "network"
    is_retriable = True


class RequestRefused(ModelError):
    """The provider says that the request itself is wrong."""

    code = "invalid_request"


class ContextTooLong(ModelError):
    """The conversation no longer fits the model."""

    code = "context_too_long"


class ContentRefused(ModelError):
    """The provider will not answer this."""

    code = "content_policy"


class ProviderFailed(ModelError):
    """The provider failed by its own fault, or sent what nobody can read."""

    code = "provider"
    is_retriable = True


class AnswerTooLarge(ModelError):
    """The provider's answer has more bytes or parts than any answer of a model; it was not read to its end."""

    code = "answer_too_large"


class UsageError(ToolrollError):
    """A command line or a setting that makes no sense; the message says what would."""

    code = "usage"
