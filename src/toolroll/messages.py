"""Messages as data: each has a key, a template and values, so that any surface can write it in any language.

An error carries a `Text`: a string in English that remembers how it was made. A surface in another language looks up
the key and fills the same values into its own template; nothing ever searches or compares the English words.

This module holds the messages that people in every application can meet: about files, JSON and models.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


class Text(str):
    """A message in English that knows its template and its values."""

    __slots__ = ("_advice", "template", "values")

    template: "Template"
    values: Mapping[str, object]

    def __new__(cls, template: "Template", values: Mapping[str, object]) -> "Text":
        """Fill the values into the template; the advice for a model is part of the text."""
        text = super().__new__(cls, _join(template.text, template.advice).format_map(values))
        text.template, text.values = template, values
        return text

    def __getnewargs__(self) -> tuple["Template", Mapping[str, object]]:  # type: ignore[override]  # of a str
        return self.template, self.values

    @property
    def key(self) -> str:
        """Return the key that translations know this message by."""
        return self.template.key

    @property
    def for_person(self) -> str:
        """Return the message with the advice that a person can follow, instead of the one for a model."""
        template = self.template
        advice = template.advice if template.person_advice is None else template.person_advice
        return _join(template.text, advice).format_map(self.values)


@dataclass(frozen=True, slots=True)
class Template:
    """The English text of a message, with `{placeholders}`.

    `advice` says what to do next. Where a model and a person can do different things, `person_advice` is the person's.
    """

    key: str
    text: str
    advice: str = ""
    person_advice: str | None = None

    def __call__(self, **values: object) -> Text:
        """Return the message with these values."""
        return Text(self, values)


def _join(text: str, advice: str) -> str:
    return f"{text} {advice}" if advice else text


def for_person(message: str) -> str:
    """Return a message as a person should read it: without advice that only a model can follow."""
    return message.for_person if isinstance(message, Text) else message


# Files and folders

FILE_MISSING: Final = Template("file_missing", "There is no '{path}'.", "List its folder to see what there is.", "")
ROOT_GONE: Final = Template(
    "root_gone",
    "The folder '{path}' was moved, removed or replaced while it was in use.",
    "Start again in the folder that is meant.",
)
FILE_EXISTS: Final = Template(
    "file_exists", "'{path}' exists already.", "Choose another name, or change the existing file."
)
FILE_IS_LINK: Final = Template("file_is_link", "'{path}' is or became a link.", "Name the file it leads to.")
WRONG_KIND_ON_PATH: Final = Template(
    "wrong_kind_on_path", "'{path}' is, or goes through, something of the wrong kind.", "List its folder.", ""
)
WRONG_KIND: Final = Template("wrong_kind", "'{path}' is {kind}, and {needed} is needed.")
LINK_ABSOLUTE: Final = Template(
    "link_absolute", "'{path}' is, or goes through, a link with an absolute target.", "Name the file itself."
)
LINK_DANGLING: Final = Template(
    "link_dangling",
    "'{path}' is a link to something that does not exist.",
    "Remove the link, or create what it names.",
)
LINK_LOOP: Final = Template(
    "link_loop",
    "'{path}' is a link that leads in circles, or through too many other links.",
    "Name the file itself.",
)
LINK_TOO_DEEP: Final = Template(
    "link_too_deep", "'{path}' leads through too many folders.", "Name the file it leads to."
)
LINK_OUTSIDE: Final = Template(
    "link_outside", "'{path}' leads out of the root folder.", "Only what is in that folder can be used."
)
LINK_ON_PATH: Final = Template(
    "link_on_path", "'{path}' goes through the link '{link}'.", "Name the folder it leads to."
)
LINK_TO_NEW_FILE: Final = Template(
    "link_to_new_file", "'{path}' goes through a link, and nothing is created through links.", "Name it '{other}'."
)
_READ_AGAIN: Final = "Read it again first."
_LOOK_AGAIN: Final = "See what is there now, then run the command again."

FILE_CHANGED: Final = Template(
    "file_changed", "'{path}' has changed since it was read. Nothing was written.", _READ_AGAIN, _LOOK_AGAIN
)
FILE_GONE: Final = Template(
    "file_gone", "'{path}' is gone since it was read. Nothing was written.", _READ_AGAIN, _LOOK_AGAIN
)
CHANGE_STALE: Final = Template(
    "change_stale",
    "'{path}' is no longer what the change was made from. Nothing was written.",
    f"{_READ_AGAIN}{{difference}}",
    f"{_LOOK_AGAIN}{{difference}}",
)
CHANGE_DIFFERENCE: Final = Template("change_difference", " What changed:\n{diff}")
FILE_NOT_TEXT: Final = Template(
    "file_not_text", "'{path}' is binary: it cannot be read as text.", "List its folder for its size and date.", ""
)
FILE_TOO_LARGE: Final = Template(
    "file_too_large",
    "'{path}' holds {size}, and the limit is {limit} bytes.",
    "Read a part of it, or search it.",
)
FILE_LOCKED: Final = Template(
    "file_locked", "'{path}' is locked by {holder} for more than {seconds} s.", "Wait for it, or end it."
)
FOLDER_NOT_PRIVATE: Final = Template(
    "folder_not_private",
    "Other users can change the folder '{path}', which is for private data.",
    "Make it yours alone (chmod 700).",
)
SYSTEM_REFUSED: Final = Template("system_refused", "The system refused '{path}': {reason} ({code}).", "{advice}")
SYSTEM_ADVICE: Final = {
    "EACCES": Template("system_eacces", "Check the permissions of it and of the folders above it.")(),
    "EDQUOT": Template("system_edquot", "The quota is used up: free some space, then try again.")(),
    "EINVAL": Template("system_einval", "It changed meanwhile, or this file system cannot do that: try again.")(),
    "EIO": Template("system_eio", "The disk or the network behind it may be failing: check it before you try again.")(),
    "EMFILE": Template(
        "system_emfile", "This process has too many files open: close some, or raise the limit (ulimit -n)."
    )(),
    "ENAMETOOLONG": Template("system_enametoolong", "Use a shorter name.")(),
    "ENFILE": Template("system_enfile", "The system has too many files open: try again later.")(),
    "ENOSPC": Template("system_enospc", "The disk is full: free some space, then try again.")(),
    "ENOTEMPTY": Template("system_enotempty", "The folder is not empty.")(),
    "EOVERFLOW": Template("system_eoverflow", "Name one of its files, or a folder in it.")(),
    "EPERM": Template("system_eperm", "Check its owner and its flags.")(),
    "EROFS": Template("system_erofs", "It is mounted read-only.")(),
    "EXDEV": Template("system_exdev", "Both names must be on the same file system: copy it instead.")(),
}
"""What to do about an error of the system, by its name."""

SYSTEM_ADVICE_OTHERWISE: Final = Template("system_other", "Try again, or look at the system's log.")()
PATH_REFUSED: Final = Template("path_refused", "Path '{path}' {rule}")

BYTES: Final = Template("bytes", "{count} bytes")
TOO_MUCH_AT_ONCE: Final = Template("too_much_at_once", "too much to read at once")
PROCESS: Final = Template("process", "process {number}")
ANOTHER_PROCESS: Final = Template("another_process", "another process")

A_FILE: Final = Template("a_file", "a file")()
A_FOLDER: Final = Template("a_folder", "a folder")()
A_LINK: Final = Template("a_link", "a link")()
A_PIPE: Final = Template("a_pipe", "a pipe")()
A_SOCKET: Final = Template("a_socket", "a socket")()
A_DEVICE: Final = Template("a_device", "a device")()

# JSON

JSON_TOO_LARGE: Final = Template(
    "json_too_large", "The JSON text is larger than {limit} bytes.", "Send less at once.", ""
)
JSON_INVALID: Final = Template("json_invalid", "Invalid JSON: {reason}.")
JSON_INVALID_AT: Final = Template("json_invalid_at", "Invalid JSON: {reason}.")
JSON_DUPLICATE_KEY: Final = Template("json_duplicate_key", "Invalid JSON: the key {name} stands twice in one object.")
JSON_NUMBER_TOO_LARGE: Final = Template("json_number_too_large", "Invalid JSON: the number {number} is too large.")
JSON_NOT_UTF8: Final = Template("json_not_utf8", "Invalid JSON: byte {position} is not UTF-8 ({reason}).")
JSON_BYTE_ORDER_MARK: Final = Template(
    "json_byte_order_mark", "Invalid JSON: the text begins with a byte order mark.", "Send it without."
)
JSON_HALF_CHARACTER: Final = Template("json_half_character", "Invalid JSON: the text holds half of a surrogate pair.")

# Services

SERVICE_TIMEOUT: Final = Template("service_timeout", "{service} did not answer within {seconds} seconds.")
SERVICE_UNREACHABLE: Final = Template("service_unreachable", "{service} could not be reached: {reason}.")
SERVICE_CONNECTION: Final = Template("service_connection", "The connection to {service} failed ({reason}).")
SERVICE_TOO_LARGE: Final = Template("service_too_large", "{service} sent more than {limit} bytes.")
SERVICE_UNREADABLE: Final = Template("service_unreadable", "{service} sent an answer that cannot be read.")
SERVICE_STATUS: Final = Template("service_status", "{service} answered with status {status}.")
SERVICE_STATUS_DETAIL: Final = Template("service_status_detail", "{service} answered with status {status}. {detail}")
SERVICE_REDIRECT: Final = Template(
    "service_redirect", "{service} redirects the request to another server, which is not followed."
)
SERVICE_REDIRECT_LOOP: Final = Template("service_redirect_loop", "{service} redirects the request in circles.")

# Models

KEY_MISSING: Final = Template(
    "key_missing",
    "There is no key for {provider}. Set {variable}, or store it: toolroll config key set {variable}\n"
    "Another model may need none: 'ollama:NAME' runs on this machine.\n"
    "Without a model, 'toolroll demo' shows an agent at work, and 'toolroll call' calls a tool.",
)
KEY_MALFORMED: Final = Template("key_malformed", "{variable} holds characters that no key has.", "Copy the key again.")
MODEL_ADDRESS_INVALID: Final = Template(
    "model_address_invalid", "{url} is no address of a model server.", "It must begin with https://."
)
MODEL_ADDRESS_PLAIN: Final = Template(
    "model_address_plain",
    "{url} would send the key unencrypted.",
    "Use https://, or allow plain HTTP in the settings.",
)
MODEL_UNKNOWN: Final = Template("model_unknown", "Unknown model {name}.", "Use one of: {known}.")
MODEL_NEEDS_ADDRESS: Final = Template(
    "model_needs_address", "{name} needs an address: openai-compatible:NAME@https://host/v1."
)
MODEL_OPTION_REFUSED: Final = Template("model_option_refused", "{option} in {name} makes no sense there.", "{known}.")
MODEL_TIMEOUT_CONNECT: Final = Template(
    "model_timeout_connect",
    "The model's server could not be reached within {seconds} seconds.",
    "Check the connection, or wait longer: timeouts.connect_seconds.",
)
REQUEST_TOO_LONG: Final = Template(
    "request_too_long",
    "The request has about {needed} tokens with its tools and instructions, and the window is taken to have {window}.",
    "Send less at once, use fewer tools, or choose a model with a larger window.",
)
MODEL_NOT_READY: Final = Template(
    "model_not_ready",
    "The model's server on this machine was not ready within {seconds} seconds.",
    "Start it, or wait longer: timeouts.start_seconds.",
)
MODEL_TIMEOUT_FIRST_BYTE: Final = Template(
    "model_timeout_first_byte",
    "The model did not begin to answer within {seconds} seconds.",
    "Ask again, or wait longer: timeouts.first_byte_seconds.",
)
MODEL_TIMEOUT_GAP: Final = Template(
    "model_timeout_gap",
    "The model stopped in the middle of its answer and sent nothing for {seconds} seconds.",
    "Ask again, or wait longer: timeouts.gap_seconds.",
)
MODEL_TIMEOUT_CONTENT: Final = Template(
    "model_timeout_content",
    "The model's server has sent no content for {seconds} seconds.",
    "Ask again, or wait longer: timeouts.content_seconds.",
)
MODEL_TIMEOUT_TURN: Final = Template(
    "model_timeout_turn",
    "The model did not complete its answer within {seconds} seconds.",
    "Ask for less at once, or wait longer: timeouts.turn_seconds.",
)
MODEL_ANSWER_TOO_LARGE: Final = Template(
    "model_answer_too_large", "The provider's answer has more than {limit} bytes.", "Nothing of it was run."
)
MODEL_EVENT_TOO_LARGE: Final = Template(
    "model_event_too_large",
    "The provider's stream holds an event of more than {limit} bytes.",
    "Nothing of it was run.",
)
MODEL_CALL_TOO_LARGE: Final = Template(
    "model_call_too_large",
    "The provider sent a call whose arguments have more than {limit} characters.",
    "Nothing of the answer was run.",
)
MODEL_TOO_MANY_BLOCKS: Final = Template(
    "model_too_many_blocks", "The provider's answer has more than {limit} parts.", "Nothing of it was run."
)
MODEL_REDIRECT: Final = Template(
    "model_redirect",
    "The model's address answered with a redirect ({status}), which is not followed: the key would go along.",
    "Check the address of the model.",
)
MODEL_PAGE: Final = Template(
    "model_page",
    "The model's address answered with a web page (HTML) instead of an answer of a model.",
    "Check the address of the model, and whether a proxy or a login page is in between.",
)
SCRIPT_TOO_LARGE: Final = Template("script_too_large", "The script '{path}' is larger than {limit} bytes.")
SCRIPT_INVALID: Final = Template("script_invalid", "The script '{path}' cannot be played: {place}: {reason}.")
WHOLE_FILE: Final = Template("whole_file", "the whole file")()
SCRIPT_CODE_UNKNOWN: Final = Template("script_code_unknown", "A script cannot fail with {code}.", "Codes: {known}.")
SCRIPT_MISSING: Final = Template("script_missing", "There is no file '{path}'.")
SCRIPT_IS_FOLDER: Final = Template(
    "script_is_folder", "'{path}' is a folder.", "Name the file with the script: {prefix}FILE."
)
