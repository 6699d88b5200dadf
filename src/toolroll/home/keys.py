"""Where keys come from: the environment first, then the system's keyring where the user has put one there (S41).

Where there is no keyring, a person can have a key kept in a private file instead.

`with_keys(environment)` is what models, search, GitHub and Notion are handed: the environment, in which a key that only
the keyring has is found too. The names of keys in the keyring are kept in a file, the keys never: a keyring
cannot be listed, and asking it for what is not there makes some systems ask a person for a password.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from toolroll.errors import FileMissing, KeyringFailed, ToolrollError, UsageError
from toolroll.home.folders import find_folders
from toolroll.home.key_file import KeyFile
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.root import Root
from toolroll.safe.secrets.named_secrets import variable_names_a_secret
from toolroll.safe.secrets.redact import remember_secret, secret_values

KEYS: Final[Mapping[str, str]] = {
    "ANTHROPIC_API_KEY": "models and search of Anthropic",
    "OPENAI_API_KEY": "models of OpenAI",
    "OPENAI_COMPATIBLE_API_KEY": "models at an address of your own",
    "AZURE_OPENAI_API_KEY": "models of OpenAI at Azure",
    "DEEPSEEK_API_KEY": "models of DeepSeek",
    "FIREWORKS_API_KEY": "models at Fireworks AI",
    "GEMINI_API_KEY": "models of Google Gemini",
    "GROQ_API_KEY": "models at Groq",
    "MISTRAL_API_KEY": "models of Mistral",
    "OPENROUTER_API_KEY": "models at OpenRouter",
    "TOGETHER_API_KEY": "models at Together AI",
    "VLLM_API_KEY": "models at your own vLLM",
    "XAI_API_KEY": "models of xAI",
    "GITHUB_TOKEN": "research in a repository",
    "NOTION_TOKEN": "pages in Notion",
}
"""The keys of models and services, by their variables, with what each is for. `packs.keys` adds those of search."""

MAX_KEY_CHARACTERS: Final = 4_096

_SERVICE: Final = "toolroll"
_NAMES_FILE: Final = RelativePath(parts=("keyring-names.txt",))
_LOCK: Final = "keyring-names.lock"
_MAX_NAMES_BYTES: Final = 65_536
_UNUSABLE: Final = ("keyring.backends.fail", "keyring.backends.null")
"""What the keyring library has where there is no keyring: one that fails, and one that forgets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyringBackend:
    """The keyring of this system; `name` is empty and `why` says the reason where there is none."""

    name: str = ""
    why: str = ""


def find_keyring() -> KeyringBackend:
    """Find the keyring of this system."""
    if find_spec("keyring") is None:
        return KeyringBackend(why="the keyring library is not installed (pip install 'toolroll[keyring]')")
    try:
        found = import_module("keyring").get_keyring()
    except (ImportError, AttributeError, ValueError, TypeError, OSError) as error:
        # What PYTHON_KEYRING_BACKEND or a file of the library names is imported, whatever it is.
        return KeyringBackend(
            why=f"the one that is configured (PYTHON_KEYRING_BACKEND) does not load: {type(error).__name__}"
        )
    if type(found).__module__ in _UNUSABLE:
        return KeyringBackend(why="this system has no keyring that works")
    return KeyringBackend(name=str(getattr(found, "name", type(found).__name__)))


class KeyBook:
    """The keys that the user has put into the keyring."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "KeyBook":
        """Open the key book in the user's configuration."""
        return cls(find_folders(environment).config)

    def names(self) -> tuple[str, ...]:
        """Return the names of the keys in the keyring."""
        with os_errors(str(self._folder)):
            if not (self._folder / _NAMES_FILE.name).exists():
                return ()
        with closing(Root(private_folder(self._folder))) as root:
            return self._read(root)

    @property
    def file(self) -> KeyFile:
        """Return the file for keys of a user who has no keyring, and wants one."""
        return KeyFile(self._folder)

    def get(self, name: str) -> str | None:
        """Return the key; None where there is none. A ToolrollError says that the keyring cannot be read."""
        if name not in self.names():
            return self._from_file(name)
        with _open_keyring("read") as keyring:
            found: str | None = keyring.get_password(_SERVICE, name)
        if found is not None:
            remember_secret(found)
        return found

    def _from_file(self, name: str) -> str | None:
        found = self.file.read().get(name)
        if found is not None:
            remember_secret(found)
        return found

    def put(self, name: str, key: str) -> None:
        """Put a key into the keyring, in the place of an older one."""
        check_key(name, key)
        with _open_keyring("written") as keyring:
            keyring.set_password(_SERVICE, name, key)
        self._note(name, is_there=True)

    def delete(self, name: str) -> bool:
        """Take a key out of the keyring and the file; whether there was one."""
        is_in_file = name in self.file.read()
        if is_in_file:
            self.file.put(name, None)
        if name not in self.names():
            return is_in_file
        with _open_keyring("changed") as keyring:
            if keyring.get_password(_SERVICE, name) is not None:  # somebody may have taken it out by other means
                keyring.delete_password(_SERVICE, name)
        self._note(name, is_there=False)
        return True

    def _note(self, name: str, *, is_there: bool) -> None:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            names = {*self._read(root)} - {name} | ({name} if is_there else set())
            root.write_file(_NAMES_FILE, "".join(f"{one}\n" for one in sorted(names)).encode(), mode=0o600)

    def _read(self, root: Root) -> tuple[str, ...]:
        try:
            text = root.read_bytes(_NAMES_FILE, limit_bytes=_MAX_NAMES_BYTES).decode("ascii", "replace")
        except FileMissing:
            return ()
        return tuple(line for line in text.splitlines() if is_key_name(line))


def check_key(name: str, key: str) -> None:
    """Refuse with UsageError what is no name of a key, or no key."""
    if not is_key_name(name):
        raise UsageError(f"'{quote_path(name)}' is not the name of a key, such as ANTHROPIC_API_KEY.")
    if not key or len(key) > MAX_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise UsageError("That is no key: it is empty, too long, or has characters that no key has. Copy it again.")


class _KeyringEnvironment(Mapping[str, str]):
    """An environment in which keys of the keyring are found too; each is asked for when it is needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    @property
    def _book(self) -> KeyBook:
        # When it is needed: finding the folder costs an interpreter start.
        return KeyBook.from_environment(self._environment)

    def __getitem__(self, name: str) -> str:
        value = self._environment.get(name)
        if not is_key_name(name) or (value is not None and value.strip()):
            return self._environment[name]
        found = self._book.get(name)
        return self._environment[name] if found is None else found

    def __iter__(self) -> Iterator[str]:
        kept = {*self._book.names(), *self._book.file.read()}
        return iter([*self._environment, *(name for name in kept if name not in self._environment)])

    def __len__(self) -> int:
        return len(list(iter(self)))


def with_keys(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the keys of the keyring added. A key in a variable comes first."""
    return _KeyringEnvironment(environment)


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets in the environment, and the keys in the keyring if it opens: what must never be stored."""
    known = set(secret_values(environment))
    book = KeyBook.from_environment(environment)
    with suppress(ToolrollError):  # a keyring that does not open has given nobody anything either
        known.update(book.file.read().values())
        known.update(key for name in book.names() if (key := book.get(name)))
    return tuple(sorted(known))


def is_key_name(name: str) -> bool:
    """Return whether a variable of this name may be kept in the keyring: `PATH` may not."""
    return name.isupper() and variable_names_a_secret(name)


@contextmanager
def _open_keyring(verb: str) -> Iterator[Any]:
    """Open the keyring library; its errors become ours without their words, which may quote the key."""
    found = find_keyring()
    if found.why:
        raise KeyringFailed(f"There is no keyring to use: {found.why}. Set the key as a variable instead.")
    errors = import_module("keyring.errors")
    try:
        yield import_module("keyring")
    except (errors.KeyringError, OSError, RuntimeError, ValueError) as error:
        text = f"The keyring could not be {verb} ({type(error).__name__}). Unlock it, or set the key as a variable."
        raise KeyringFailed(text) from None
