"""Who may speak to the page: one browser on this machine, from the page itself.

Whoever speaks to the server can have code run.  So nothing but a refusal is given to a request

* whose ``Host`` is not the address of the server: a name of somebody else's that leads here (DNS rebinding) is none;
* whose ``Origin``, where it has one, is another page, or that a browser marks as coming from another site (``Sec-Fetch-Site``);
* without the secret: the address that was printed holds a *token*, for which the browser gets a cookie that it sends to nobody else's
  requests (``SameSite=Strict``), and that no script can read;
* that asks for more than a file of the page, without the page's *key*, a header that only a script of the page can know and set;
* with a body that is larger than anything the page sends, or is not JSON.

What is given may load nothing from elsewhere, run no code but the page's files, and stand in no frame.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 32 * 2**20
"""Bytes of a body: a table or a certificate to be looked at has fewer."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>privproof</title>
<link rel="icon" href="/static/icon.svg"></head>
<body><p><a href="/">The page</a></p></body></html>
"""
"""Leads on to the page itself: a browser that was sent here by another program sends the cookie only from here on."""
KEY = "x-privproof-key"
"""The header with the page's key."""


@dataclass(frozen=True)
class Secrets:
    """What only the person at this machine knows.

    Attributes:
        port: where the server listens.
        token: stands in the address that is printed.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address that opens the page."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies of all ports of a machine stand side by side."""
        return f"privproof-{self.port}"

    @property
    def session(self) -> str:
        """The value of the cookie."""
        return self._derived("session")

    @property
    def key(self) -> str:
        """The page's key."""
        return self._derived("key")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


class Refused(Exception):
    """A request that gets nothing but the refusal."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why

    def answer(self) -> Response:
        """The refusal."""
        return PlainTextResponse(f"privproof: {self.why}\n", self.status, {"Connection": "close"})


class Guard:
    """Lets requests through to the page, or refuses them."""

    def __init__(self, page: ASGIApp, known: Secrets) -> None:
        self.page, self.known = page, known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return  # there is nothing else here
        request = Request(scope)
        guarded = _guard_answers(send)
        try:
            answer = self._admit(request)
        except Refused as refused:
            answer = refused.answer()
        if answer is None:
            await self.page(scope, _Body(receive), guarded)
        else:
            await answer(scope, receive, guarded)

    def _admit(self, request: Request) -> Response | None:
        """The answer to who enters with the token; None for who is inside; otherwise a refusal."""
        known, headers = self.known, request.headers
        hosts = [f"127.0.0.1:{known.port}", f"localhost:{known.port}"]
        if headers.getlist("host") not in [[host] for host in hosts]:
            raise Refused(421, f"this is 127.0.0.1:{known.port}, and nothing else")
        own = f"http://{headers['host']}"
        if any(origin != own for origin in headers.getlist("origin")):
            raise Refused(403, "another page asks")
        if request.url.path == "/" and request.method == "GET" and request.url.query:
            given = parse_qs(request.url.query).get("token", [""])
            if len(given) == 1 and _same(given[0], known.token):
                return self._entered()
            raise Refused(403, "this is not the token; open the address that privproof serve printed")
        if not _same(request.cookies.get(known.cookie, ""), known.session):
            raise Refused(403, "open the address that privproof serve printed")
        came = headers.get("sec-fetch-site", "same-origin")
        navigates = headers.get("sec-fetch-mode") == "navigate" and request.url.path == "/"
        if came != "same-origin" and not (came == "none" and navigates):
            raise Refused(403, "another page asks")
        if request.url.path.startswith("/api/"):
            if not _same(headers.get(KEY, ""), known.key):
                raise Refused(403, "only the page asks; reload it")
            if request.method == "POST" and headers.get("content-type", "").partition(";")[0] != "application/json":
                raise Refused(415, "a request is JSON")
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > LARGEST:
                raise Refused(413, f"more than {LARGEST} bytes")
        return None

    def _entered(self) -> Response:
        response = HTMLResponse(_ENTERED)
        response.set_cookie(self.known.cookie, self.known.session, httponly=True, samesite="strict", path="/")
        return response


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())


def _guard_answers(send: Send) -> Send:
    """Every answer says what it may load, and that it is kept nowhere."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            more = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = [*message["headers"], *((name, value) for name, value in more if name not in names)]
        await send(message)

    return guarded


class _Body:
    """A body that ends where it is too large, whatever its header says."""

    def __init__(self, receive: Receive) -> None:
        self.receive, self.left = receive, LARGEST

    async def __call__(self) -> Message:
        """The next part."""
        message = await self.receive()
        if message["type"] == "http.request":
            self.left -= len(message.get("body", b""))
            if self.left < 0:
                raise Refused(413, f"more than {LARGEST} bytes")
        return message
