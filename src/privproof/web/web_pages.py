"""The server's addresses: the page and its files, and what the page asks for."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from privproof.drawing.palette import colour_sheet
from privproof.web.request_guards import Guard, Refused, Secrets
from privproof.web.web_jobs import Job, Jobs
from privproof.web.web_requests import FORMS, AskedCommand, WrongRequest, command_of_request, outline_command_of

_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_LOOK = 10.0
"""Seconds that looking at what the editor holds may take: it only reads."""
_HERE = "<!--key-->"
"""Where the page's key goes."""


@cache
def static_files() -> dict[str, tuple[str, bytes]]:
    """The files of the page with their kinds, by name: there are no others to be had."""
    found = {}
    for each in resources.files("privproof.web").joinpath("static").iterdir():
        suffix = each.name[each.name.rfind(".") :]
        if suffix in _KINDS:
            found[each.name] = (_KINDS[suffix], each.read_bytes())
    return {**found, "colours.css": ("text/css", colour_sheet().encode())}


class Pages:
    """Answers requests that the guard has let through."""

    def __init__(self, jobs: Jobs, known: Secrets, seconds: float) -> None:
        self.jobs, self.known, self.seconds = jobs, known, seconds
        self._library: list[dict[str, Any]] | None = None

    def application(self) -> ASGIApp:
        """The application, guarded."""
        routes = [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/library", self.library),
            Route("/api/library/{name}", self.example),
            Route("/api/outline", self.outline, methods=["POST"]),
            Route("/api/jobs", self.list_jobs),
            Route("/api/jobs", self.begin, methods=["POST"]),
            Route("/api/jobs/{name}", self.job),
            Route("/api/jobs/{name}/stop", self.stop, methods=["POST"]),
            Route("/api/jobs/{name}/forget", self.forget, methods=["POST"]),
        ]
        return Guard(
            Starlette(routes=routes, exception_handlers={WrongRequest: _wrong, Refused: _refusal_response}), self.known
        )

    async def page(self, request: Request) -> Response:
        """The page, with its key."""
        text = static_files()["index.html"][1].decode()
        return HTMLResponse(text.replace(_HERE, f'<meta name="privproof-key" content="{self.known.key}">', 1))

    async def static(self, request: Request) -> Response:
        """A file of the page."""
        found = static_files().get(request.path_params["name"])
        if found is None or found[0] == "text/html":
            return _problem(404, "there is no such file")
        return Response(found[1], media_type=found[0])

    async def library(self, request: Request) -> Response:
        """The examples of the library that the editor can hold."""
        return JSONResponse(await self._examples())

    async def _examples(self) -> list[dict[str, Any]]:
        if self._library is None:
            answer = (await self._told(AskedCommand("examples", ("examples", "--json"))))["answer"]
            self._library = [each for each in answer if each["form"] in FORMS] if isinstance(answer, list) else []
        return self._library

    async def example(self, request: Request) -> Response:
        """An example as a text."""
        name = request.path_params["name"]
        found = next((each for each in await self._examples() if each["name"] == name), None)
        if found is None:
            return _problem(404, "there is no such example")
        form = found["form"]
        job = await self._done(AskedCommand("examples", ("examples", name, f"--write={FORMS[form]}")))
        text = None if job.told is None else job.told.files.get(FORMS[form])
        if text is None:
            return _problem(500, "this example has no text" if job.told is None else job.told.err)
        return JSONResponse({**found, "text": text})

    async def outline(self, request: Request) -> Response:
        """What the editor holds, and what is refused in it."""
        answer = await self._told(outline_command_of(await _request_document(request), _LOOK))
        return JSONResponse({"outline": answer["answer"], "err": answer["err"]})

    async def begin(self, request: Request) -> Response:
        """Ask."""
        job = self.jobs.begin(command_of_request(await _request_document(request), self.seconds))
        return JSONResponse(job.summary(), 202)

    async def list_jobs(self, request: Request) -> Response:
        """What was asked."""
        return JSONResponse([job.summary() for job in self.jobs.listed() if job.kept])

    async def job(self, request: Request) -> Response:
        """What was asked, and what was answered."""
        found = self.jobs.find(request.path_params["name"])
        return _problem(404, "there is no such question any more") if found is None else JSONResponse(found.document())

    async def stop(self, request: Request) -> Response:
        """Stop it."""
        found = self.jobs.find(request.path_params["name"])
        if found is None:
            return _problem(404, "there is no such question any more")
        self.jobs.stop(found)
        return JSONResponse(found.summary())

    async def forget(self, request: Request) -> Response:
        """Forget an answer."""
        self.jobs.forget(request.path_params["name"])
        return JSONResponse({})

    async def _done(self, command: AskedCommand) -> Job:
        """A command whose answer is waited for, and not kept."""
        job = self.jobs.begin(command, kept=False)
        await asyncio.to_thread(job.done.wait)
        return job

    async def _told(self, command: AskedCommand) -> dict[str, Any]:
        return (await self._done(command)).document()


async def _wrong(request: Request, problem: Exception) -> Response:
    return _problem(400, str(problem))


async def _refusal_response(request: Request, refused: Exception) -> Response:
    assert isinstance(refused, Refused)
    return refused.answer()


async def _request_document(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise WrongRequest("this is no JSON") from None


def _problem(status: int, why: str) -> Response:
    return JSONResponse({"problem": why}, status)
