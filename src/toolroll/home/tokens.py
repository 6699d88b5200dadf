"""Tokens of the HTTP service: who may do what there. Only hashes are stored; a token is shown once (R32)."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from toolroll.errors import FileMissing, JsonRefused, UsageError
from toolroll.home.folders import find_folders
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import private_folder
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.root import Root

Scope: TypeAlias = Literal["read", "run", "approve", "all", "chat", "mcp"]
"""`read` sees jobs, `run` queues and cancels them, `approve` answers them; `all` sees those of other tokens as well.

`chat` talks to the coding agent in the folder of the service, and `mcp` uses the tools there and answers what they
ask, which no other scope allows.
"""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
MAX_BYTES: Final = 1_048_576
PREFIX: Final = "tr_"
_RANDOM_BYTES: Final = 32
_FILE: Final = RelativePath(parts=("tokens.json",))
_LOCK: Final = "tokens.lock"
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class Token(BaseModel):
    """A token as it is stored: its name, the SHA-256 of its secret, and its scopes."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=f"^{_NAME}$")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    scopes: tuple[Scope, ...]
    created: AwareDatetime


class _Tokens(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    tokens: tuple[Token, ...] = ()


class TokenBook:
    """The file with the tokens; one that cannot be read lets nobody in, and is never replaced."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "TokenBook":
        """Return the user's own."""
        return cls(find_folders(environment).config)

    def create(self, name: str, scopes: Sequence[Scope], *, now: datetime) -> str:
        """Store a new token, and return its secret, which nobody can look up later."""
        secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        try:
            token = Token(name=name, sha256=_hash(secret), scopes=tuple(dict.fromkeys(scopes)), created=now)
        except ValidationError:
            raise UsageError(
                f"'{quote_path(name)}' is no name for a token: use up to 64 letters, digits, dots and dashes."
            ) from None

        def add(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(one.name == name for one in tokens):
                raise UsageError(f"There is a token '{name}' already. Revoke it first: toolroll tokens revoke {name}")
            return (*tokens, token)

        self._change(add)
        return secret

    def revoke(self, name: str) -> bool:
        """Delete a token; return whether there was one."""
        return self._change(lambda tokens: tuple(one for one in tokens if one.name != name))

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens."""
        if not self._folder.exists():
            return ()
        with closing(Root(private_folder(self._folder))) as root:
            return self._read(root)

    def find(self, secret: str) -> Token | None:
        """Return the token with this secret. All hashes are compared, each in constant time."""
        wanted = _hash(secret)
        found = [token for token in self.tokens() if hmac.compare_digest(token.sha256, wanted)]
        return found[0] if found else None

    def _change(self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> bool:
        folder = private_folder(self._folder)
        with FileLock(folder / _LOCK), closing(Root(folder)) as root:
            before = self._read(root)
            after = change(before)
            if after != before:
                text = _Tokens(tokens=after).model_dump_json(indent=2) + "\n"
                root.write_file(_FILE, text.encode(), mode=0o600)
            return after != before

    def _read(self, root: Root) -> tuple[Token, ...]:
        try:
            return _Tokens.model_validate_json(root.read_bytes(_FILE, limit_bytes=MAX_BYTES)).tokens
        except FileMissing:
            return ()
        except ValidationError:
            raise JsonRefused(
                "The file with the tokens, 'tokens.json' in your configuration folder, cannot be read. "
                "Repair it or move it away; until then no token is accepted."
            ) from None


def _hash(secret: str) -> str:
    # A plain hash is enough: the secret has 256 random bits, so that there is nothing to guess from it.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
