"""Log in to a server over HTTP with the SDK's OAuth: tokens in the user's file, for that one server.

A login opens a browser and takes one answer on a port of this machine. Agents never begin a login: they use the tokens
there are, renew them, and otherwise say which command logs in.
"""

import asyncio
import time
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from mcp_types import ElicitRequestParams, ElicitResult
from pydantic import AnyUrl, ValidationError

from toolroll.errors import McpServerFailed
from toolroll.home.mcp_tokens import McpLogin, McpTokenBook
from toolroll.mcp_client.connection import describe_failure
from toolroll.mcp_client.session import open_session
from toolroll.mcp_client.spec import ServerSpec
from toolroll.safe.net.urls import check_url, is_loopback
from toolroll.safe.text import one_line

LOGIN_SECONDS: Final = 300.0
"""For a person who has to find a password first."""
_MAX_REQUEST_BYTES: Final = 16_384
_REQUEST_SECONDS: Final = 10.0
_PAGE: Final = b"HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n%s\n"

Redirect = Callable[[str], Awaitable[None]]
Callback = Callable[[], Awaitable[AuthorizationCodeResult]]


class StoredTokens:
    """The login at one server, as the SDK asks for it."""

    def __init__(self, spec: ServerSpec, book: McpTokenBook) -> None:
        self._spec, self._book = spec, book

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens; of one that has a moment to live it says how long."""
        login = self._find()
        if login.tokens is None:
            return None
        left = {} if login.expires_at is None else {"expires_in": max(0, int(login.expires_at - time.time()))}
        try:
            return OAuthToken.model_validate({**login.tokens, **left})
        except ValidationError:
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens that the server gave."""
        expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        kept = tokens.model_dump(mode="json", exclude_none=True)
        self._put(self._find().model_copy(update={"tokens": kept, "expires_at": expires_at}))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return who we are at the server."""
        client = self._find().client
        return None if client is None else OAuthClientInformationFull.model_validate(client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep who we are at the server."""
        kept = client_info.model_dump(mode="json", exclude_none=True)
        self._put(self._find().model_copy(update={"client": kept}))

    def _find(self) -> McpLogin:
        return self._book.find(self._spec.identity) or McpLogin(name=self._spec.name, url=self._spec.url)

    def _put(self, login: McpLogin) -> None:
        self._book.put(self._spec.identity, login)


def make_auth(
    spec: ServerSpec,
    book: McpTokenBook,
    *,
    redirect: Redirect | None = None,
    callback: Callback | None = None,
    address: str = "http://127.0.0.1/callback",
    metadata_url: str | None = None,
) -> OAuthClientProvider:
    """Return what authorizes requests to the server; without `redirect` there must be a login already."""
    needed = f"you are not logged in there. Log in: toolroll mcp login {spec.name}"
    login = book.find(spec.identity)
    if redirect is None and (login is None or login.tokens is None):
        raise McpServerFailed(needed)

    async def refuse(_url: str) -> None:
        raise McpServerFailed(needed)

    async def no_answer() -> AuthorizationCodeResult:
        raise McpServerFailed("nobody was asked to log in")

    metadata = OAuthClientMetadata(
        client_name="toolroll",
        redirect_uris=[AnyUrl(address)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        application_type="native",
    )
    provider = OAuthClientProvider(
        spec.url,
        metadata,
        StoredTokens(spec, book),
        redirect_handler=redirect or refuse,
        callback_handler=callback or no_answer,
        client_metadata_url=metadata_url,
    )
    # The SDK does not know when a token that was stored ends, and would begin a new login instead of renewing it.
    if login is not None:
        provider.context.token_expiry_time = login.expires_at
        if login.metadata is not None:  # else the SDK would send the refresh token to the server itself (XM30)
            provider.context.oauth_metadata = OAuthMetadata.model_validate(login.metadata)
    return provider


async def log_in(
    spec: ServerSpec,
    book: McpTokenBook,
    environment: Mapping[str, str],
    *,
    show: Callable[[str], None],
    browse: Callable[[str], object] = webbrowser.open,
) -> None:
    """Log a person in to the server: `show` tells them where to go, `browse` opens it."""
    book.remove(spec.identity)  # an older login is for another port, and of no use any more
    receiver = _Receiver()

    async def redirect(url: str) -> None:
        _check_page(url)
        show(f"Log in at {urlsplit(url).hostname} in your browser. If none opens, go to:\n{url}")
        await asyncio.to_thread(browse, url)

    async with await asyncio.start_server(receiver.handle, "127.0.0.1", 0, limit=_MAX_REQUEST_BYTES) as listener:
        address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/callback"
        auth = make_auth(spec, book, redirect=redirect, callback=receiver.wait, address=address)
        try:
            async with (
                asyncio.timeout(LOGIN_SECONDS),
                open_session(spec, environment, elicit=_decline, auth=auth) as session,
            ):
                await session.list_tools()
            _keep_metadata(spec, book, auth)
        except TimeoutError:
            raise McpServerFailed(f"Nobody logged in to {spec.name} within {LOGIN_SECONDS:g} seconds.") from None
        except Exception as error:  # noqa: BLE001 - the SDK and two foreign servers run there
            raise describe_failure(spec, error) from None


def _keep_metadata(spec: ServerSpec, book: McpTokenBook, auth: OAuthClientProvider) -> None:
    login, found = book.find(spec.identity), auth.context.oauth_metadata
    if login is not None and found is not None:
        kept = found.model_dump(mode="json", exclude_none=True)
        book.put(spec.identity, login.model_copy(update={"metadata": kept}))


def _check_page(url: str) -> None:
    """Refuse what is no web page: what the server names goes to the person's browser."""
    host = urlsplit(url).hostname or ""
    check_url(url, schemes=("https", "http"), allow_hosts=frozenset({host}))
    if not url.startswith("https:") and not is_loopback(url):
        raise McpServerFailed("its login page is not encrypted")


async def _decline(_params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="decline")


class _Receiver:
    """Takes the answer that the browser brings back: the first that has a code or an error, and no other."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def wait(self) -> AuthorizationCodeResult:
        """Return the answer; McpServerFailed if the person or the server said no."""
        return await self._answer

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of the browser."""
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_PAGE % self._take(head.split(b" ", 2)[1].decode("ascii", "replace")))
            await writer.drain()
        except (TimeoutError, OSError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # no browser of the person's; the login goes on
        finally:
            writer.close()

    def _take(self, target: str) -> tuple[bytes, bytes]:
        found = urlsplit(target)
        values = {name: words[0] for name, words in parse_qs(found.query).items()}
        if found.path != "/callback" or not ("code" in values or "error" in values):
            return b"404 Not Found", b"There is nothing here."
        if self._answer.done():
            return b"409 Conflict", b"This login is over."
        if "code" not in values:
            self._answer.set_exception(McpServerFailed(f"the login was refused ({one_line(values['error'], 100)})"))
            return b"200 OK", b"You are not logged in. You can close this page."
        result = AuthorizationCodeResult(code=values["code"], state=values.get("state"), iss=values.get("iss"))
        self._answer.set_result(result)
        return b"200 OK", b"You are logged in. You can close this page."
