"""Who may speak to the page: everything else gets a refusal, and nothing happens."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn

from privproof.web import request_guards as guarding
from privproof.web.request_guards import Secrets
from privproof.web.web_jobs import CommandOutput, Job, Jobs
from privproof.web.web_pages import Pages, static_files
from privproof.web.web_requests import AskedCommand

CHECK = {"command": "check", "form": "python", "text": "x = 1", "name": "x"}


class Instead:
    """Stands in for the processes that run commands: says what it was given, and waits where it is told to."""

    def __init__(self):
        self.started, self.held = [], threading.Event()
        self.held.set()

    def __call__(self, arguments, folder, doing, said):
        self.started.append((tuple(arguments), {path.name: path.read_text() for path in folder.iterdir()}))
        doing("looking")
        return self

    def told(self):
        self.held.wait(10)
        return CommandOutput(0, '{"verdict": "proved"}\n', "", {"certificate.json": "{}"})

    def stop(self):
        self.held.set()


class Server:
    """The page, on a free port of this machine."""

    def __init__(self):
        self.instead = Instead()
        self.jobs = Jobs(self.instead)
        listening = socket.create_server(("127.0.0.1", 0))
        self.known = Secrets(listening.getsockname()[1])
        application = Pages(self.jobs, self.known, 60).application()
        self.server = uvicorn.Server(uvicorn.Config(application, lifespan="off", ws="none", log_level="error"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()

    def end(self):
        self.server.should_exit = True
        self.thread.join(10)

    def headers(self, **others):
        usual = {
            "Host": f"127.0.0.1:{self.known.port}",
            "Cookie": f"{self.known.cookie}={self.known.session}",
            "X-Privproof-Key": self.known.key,
            "Content-Type": "application/json",
        }
        given = {**usual, **{name.replace("_", "-"): value for name, value in others.items()}}
        return {name: value for name, value in given.items() if value is not None}

    def ask(self, method, path, body=None, *, raw=None, **others):
        connection = http.client.HTTPConnection("127.0.0.1", self.known.port, timeout=10)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        for name, value in self.headers(**others).items():
            connection.putheader(name, value)
        if "Content_Length" not in others and method == "POST":
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders()
        with suppress(ConnectionError):  # it has refused already
            connection.send(data)
        try:
            answer = connection.getresponse()
            text = answer.read().decode()
        except ConnectionError:  # what is no HTTP at all is refused before it is read, and the refusal may be lost
            return 400, "privproof: closed", {}
        connection.close()
        return answer.status, text, answer.headers

    def done(self, request):
        """A job that the page asks for, and that is answered."""
        job = self.jobs.find(json.loads(self.ask("POST", "/api/jobs", request)[1])["job"])
        assert job.done.wait(10)
        return job


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.end()


def test_the_page_is_reached_by_the_address_that_is_printed(server):
    path = server.known.address.removeprefix(f"http://127.0.0.1:{server.known.port}")
    status, text, headers = server.ask("GET", path, Cookie=None)
    assert status == 200
    assert 'content="0;url=/"' in text
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert server.known.token not in cookie + text
    status, text, headers = server.ask("GET", "/", Cookie=cookie.split(";")[0], X_Privproof_Key=None)
    assert status == 200
    assert server.known.key in text
    assert server.known.token not in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert (headers["x-frame-options"], headers["cache-control"]) == ("DENY", "no-store")


def everything(server):
    """Every address that there is, each as the page would ask for it."""
    job = server.jobs.listed()[0].name
    gets = ["/", "/static/page.js", "/api/library", "/api/library/x", "/api/jobs", f"/api/jobs/{job}"]
    posts = ["/api/jobs", "/api/outline", f"/api/jobs/{job}/stop", f"/api/jobs/{job}/forget"]
    return [("GET", path, None) for path in gets] + [("POST", path, CHECK) for path in posts]


WRONG = {
    "another host": {"Host": "evil.example"},
    "a name that leads here": {"Host": "evil.example:{port}"},
    "another port": {"Host": "127.0.0.1:1"},
    "no port": {"Host": "127.0.0.1"},
    "no host": {"Host": None},
    "another origin": {"Origin": "https://evil.example"},
    "an origin without a name": {"Origin": "null"},
    "another page of this machine": {"Origin": "http://127.0.0.1:1"},
    "another scheme": {"Origin": "https://127.0.0.1:{port}"},
    "a request across sites": {"Sec_Fetch_Site": "cross-site"},
    "a request across ports": {"Sec_Fetch_Site": "same-site"},
    "no cookie": {"Cookie": None},
    "a wrong cookie": {"Cookie": "privproof-{port}=" + "0" * 64},
    "the cookie of another port": {"Cookie": "privproof-1={session}"},
    "the token as a cookie": {"Cookie": "privproof-{port}={token}"},
}


@pytest.mark.parametrize("what", WRONG)
def test_nothing_is_given_to_others_but_the_refusal(server, what):
    server.instead.held.set()
    server.done(CHECK)
    known = {"port": server.known.port, "session": server.known.session, "token": server.known.token}
    wrong = {name: value and value.format(**known) for name, value in WRONG[what].items()}
    before, kept = len(server.instead.started), len(server.jobs.listed())
    for method, path, body in everything(server):
        status, text, headers = server.ask(method, path, body, **wrong)
        assert status in (400, 403, 421), (what, path)
        assert text.startswith(("privproof: ", "Invalid")), (what, path)
        assert len(text) < 100
        assert "set-cookie" not in headers
    assert len(server.instead.started) == before
    assert len(server.jobs.listed()) == kept


@pytest.mark.parametrize("key", [None, "", "0" * 64])
def test_only_the_page_itself_asks(server, key):
    for method, path, body in everything(server):
        if path.startswith("/api/"):
            status, _, _ = server.ask(method, path, body, X_Privproof_Key=key)
            assert status == 403


@pytest.mark.parametrize(
    "query", ["token=", "token=wrong", "token", "other=1", "token=a&token={token}", "Token={token}"]
)
def test_a_wrong_token_opens_nothing(server, query):
    status, text, headers = server.ask("GET", "/?" + query.format(token=server.known.token), Cookie=None)
    assert (status, "set-cookie" in headers) == (403, False)
    assert "not the token" in text


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", None]
)
def test_a_form_of_another_site_is_no_request(server, kind):
    before = len(server.instead.started)
    assert server.ask("POST", "/api/jobs", CHECK, Content_Type=kind)[0] == 415
    assert len(server.instead.started) == before


def test_what_is_asked_for_by_get_changes_nothing(server):
    job = server.done(CHECK)
    before = len(server.instead.started)
    for path in ("/api/outline", f"/api/jobs/{job.name}/stop", f"/api/jobs/{job.name}/forget"):
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
            assert server.ask(method, path)[0] == 405
    assert server.ask("DELETE", "/api/jobs")[0] == 405
    assert server.jobs.find(job.name) is job
    assert not job.stopped
    assert len(server.instead.started) == before


def test_a_body_that_is_too_large_is_not_read(server, monkeypatch):
    before = len(server.instead.started)
    huge = str(guarding.LARGEST + 1)
    assert server.ask("POST", "/api/jobs", raw=b"{", Content_Length=huge)[0] == 413
    assert server.ask("POST", "/api/jobs", raw=b"{}", Content_Length="-1")[0] in (400, 413)
    monkeypatch.setattr(guarding, "LARGEST", 1000)
    status, text, _ = server.ask("POST", "/api/jobs", {**CHECK, "text": "x" * 2000})
    assert (status, "1000 bytes" in text) == (413, True)
    chunks = b"".join(b"100\r\n" + b"x" * 256 + b"\r\n" for _ in range(8)) + b"0\r\n\r\n"
    status, _, _ = server.ask("POST", "/api/jobs", raw=chunks, Transfer_Encoding="chunked", Content_Length=None)
    assert status == 413
    assert len(server.instead.started) == before


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../pages.py",
            "..%2fpages.py",
            "%2e%2e/pages.py",
            "..%5cpages.py",
            "/etc/passwd",
            "%2fetc%2fpasswd",
            "page.js%00.css",
        ),
        *(
            "index.html",
            "",
            ".",
            "..",
            "page.js/",
            "static",
            "PAGE.JS",
            "page.js?x=1/../../pages.py#",
            "....//pages.py",
        ),
    ],
)
def test_there_are_no_files_but_those_of_the_page(server, name):
    status, text, _ = server.ask("GET", f"/static/{name}")
    assert status in (200, 307, 400, 404)
    if status == 200:
        assert name.startswith("page.js?")
    assert "class Pages" not in text
    assert "root:" not in text


def test_the_files_of_the_page_name_nothing_elsewhere(server):
    assert set(static_files()) >= {
        "index.html",
        "page.css",
        "page.js",
        "editor.js",
        "answers.js",
        "api.js",
        "making.js",
    }
    for name, (kind, data) in static_files().items():
        text = data.decode()
        for part in (
            "http://",
            "https://",
            "//cdn",
            "@import",
            "eval(",
            "innerHTML",
            " style=",
            "<style",
            "javascript:",
        ):
            found = (
                text.replace("http://www.w3.org/2000/svg", "").replace('| style="[^"]*"/g', "").replace("/<style>", "")
            )
            assert part not in found, (name, part)
        if name != "index.html":
            status, given, headers = server.ask("GET", f"/static/{name}", X_Privproof_Key=None)
            assert (status, given) == (200, text)
            assert headers["content-type"].startswith(kind)


WRONG_REQUESTS = [
    b"",
    b"{",
    b"[]",
    b'"check"',
    b"[" * 100_000,
    json.dumps({**CHECK, "command": "convert"}).encode(),
    json.dumps({**CHECK, "command": "serve"}).encode(),
    json.dumps({**CHECK, "form": "../x"}).encode(),
    json.dumps({**CHECK, "name": "x --certificate=/elsewhere/y"}).encode(),
    json.dumps({**CHECK, "name": "../x"}).encode(),
    json.dumps({**CHECK, "text": 1}).encode(),
    json.dumps({**CHECK, "text": "\ud800"}).encode(),
    json.dumps({**CHECK, "options": {"report": "/elsewhere/y"}}).encode(),
    json.dumps({**CHECK, "options": {"epsilon": ["1"]}}).encode(),
    json.dumps({**CHECK, "options": {"epsilon": "1\n2"}}).encode(),
    json.dumps({**CHECK, "options": {"set": ["N=1"] * 51}}).encode(),
    json.dumps({"command": "recheck"}).encode(),
    json.dumps({"command": "recheck", "certificate": "{}", "name": "a b", "text": ""}).encode(),
    json.dumps({"command": "release", "data": "a,b", "options": {"record": "/elsewhere/x"}}).encode(),
]


@pytest.mark.parametrize("raw", WRONG_REQUESTS)
def test_what_the_page_does_not_send_starts_nothing(server, raw):
    before = len(server.instead.started)
    status, text, _ = server.ask("POST", "/api/jobs", raw=raw)
    assert status == 400
    assert json.loads(text)["problem"]
    assert len(server.instead.started) == before


def test_no_value_is_taken_for_an_option(server):
    options = {"epsilon": "--json --certificate=/elsewhere/x", "set": ["-N=1", "--report=/elsewhere/y"]}
    server.done({**CHECK, "options": options})
    arguments, files = server.instead.started[-1]
    assert arguments[:3] == ("check", "mechanism.py:x", "--epsilon=--json --certificate=/elsewhere/x")
    assert arguments[3:5] == ("--set=-N=1", "--set=--report=/elsewhere/y")
    assert files == {"mechanism.py": "x = 1"}


def test_few_questions_run_at_once_and_each_can_be_stopped(server):
    server.instead.held.clear()
    names = []
    for _ in range(4):
        status, text, _ = server.ask("POST", "/api/jobs", CHECK)
        assert status == 202
        names.append(json.loads(text)["job"])
    status, text, _ = server.ask("POST", "/api/jobs", CHECK)
    assert (status, "stop one" in text) == (400, True)
    assert server.ask("POST", f"/api/jobs/{names[0]}/forget")[0] == 200
    assert json.loads(server.ask("GET", f"/api/jobs/{names[0]}")[1])["running"]
    assert json.loads(server.ask("POST", f"/api/jobs/{names[0]}/stop")[1])["stopped"]
    for name in names:
        assert server.jobs.find(name).done.wait(10)
    told = json.loads(server.ask("GET", f"/api/jobs/{names[0]}")[1])
    assert (told["verdict"], told["certificate"], told["running"]) == ("proved", "{}", False)
    server.ask("POST", f"/api/jobs/{names[0]}/forget")
    assert server.ask("GET", f"/api/jobs/{names[0]}")[0] == 404


def test_only_so_many_answers_are_kept(monkeypatch):
    from privproof.web import web_jobs as module

    monkeypatch.setattr(module, "_KEPT", 3)
    jobs = Jobs(Instead())
    made = []
    for _ in range(6):
        made.append(jobs.begin(AskedCommand("check", ("check",), {}, "check")))
        assert made[-1].done.wait(10)
    assert [each.name for each in jobs.listed()] == [each.name for each in made[-3:]]
    monkeypatch.setattr(module, "_SPACE", 10)
    jobs.begin(AskedCommand("check", ("check",), {}, "check")).done.wait(10)
    assert len(jobs.listed()) <= 2


def test_secrets_do_not_show():
    known = Secrets(1)
    assert known.token not in repr(known)
    assert len({known.token, known.session, known.key, Secrets(1).token}) == 4
    assert len(known.token) >= 43


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (CommandOutput(0, '{"verdict": "proved"}'), "proved"),
        (CommandOutput(1, '{"verdict": "refuted"}'), "refuted"),
        (CommandOutput(3, '{"verdict": "unknown", "reason": "out of time"}'), "unknown"),
        (CommandOutput(2, '{"verdict": null, "error": {"message": "no"}}', "privproof: no"), "wrong"),
        (CommandOutput(2, "", "privproof: no"), "wrong"),
        (CommandOutput(0, "a text"), "done"),
        (CommandOutput(3, "", "privproof: interrupted"), "unknown"),
        (CommandOutput(0, '{"accepted": true}'), "accepted"),
        (CommandOutput(2, '{"accepted": false}'), "rejected"),
        (CommandOutput(3, '{"accepted": false}'), "unknown"),
        (CommandOutput(0, '{"points": []}'), "done"),
        (CommandOutput(2, '["proved"]'), "wrong"),
        (CommandOutput(2, "[" * 100_000), "wrong"),
    ],
)
def test_a_job_says_in_a_word_what_its_answer_says(told, verdict):
    job = Job(AskedCommand("check", ()), kept=True)
    assert job.summary()["verdict"] == ""
    job.told = told
    assert job.document()["verdict"] == verdict
