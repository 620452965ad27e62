"""``privproof serve``: the workers of the page keep their limits, and the page itself, in a browser."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.commands import environment

from privproof.cli import serve_command as serving
from privproof.cli.web_workers import Limits, Servants, answer_of
from privproof.errors import QuestionError

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

NOISY = """from privproof import integer, mechanism, truncated_geometric


@mechanism(epsilon="ln(2)")
def noisy(x: integer(0, 2)):
    return truncated_geometric(x, alpha="1/3", low=0, high=2)
"""
ENDLESS = "while True:\n    pass\n"
MEMORY = "kept = []\nwhile True:\n    kept.append(bytearray(10**8))\n"
"""Two files that are never read to their ends."""


class Heard:
    """Hears what a worker does."""

    def __init__(self):
        self.texts = []

    def doing(self, what, *, for_program):
        self.texts.append(what)

    def said(self, text):
        self.texts.append(text)

    def done(self):
        self.texts.append("done")


@pytest.mark.skipif(os.name != "posix", reason="limits are those of POSIX")
def test_workers_keep_their_limits_and_can_be_stopped(tmp_path, monkeypatch):
    """Each worker ends, whatever it does, and the next one works: one test, because loading what they share takes seconds."""
    monkeypatch.setattr("privproof.cli.web_workers._LOADED", ("privproof.cli.check_command",))
    servants = Servants(Limits(seconds=60, memory=2**30, written=10**6))

    def answered(text, *arguments, stop=None, name="mechanism.py"):
        Path(tmp_path, name).write_text(text, encoding="utf-8")
        heard = Heard()
        supervision = servants.start(arguments, tmp_path, heard)
        if stop is not None:
            threading.Timer(stop, supervision.stop).start()
        answer = answer_of(supervision)
        assert supervision.process.ended()
        return answer, heard.texts

    answer, heard = answered(NOISY, "check", "mechanism.py:noisy", "--json", "--certificate=c.json", "--report=r.json")
    assert (answer.status, json.loads(answer.out)["verdict"]) == (1, "refuted")
    assert set(answer.files) == {"c.json", "r.json"}
    assert heard[-1] == "done"
    assert not Path(tmp_path, "c.json").exists(), "what a command writes goes to who has asked"
    certificate = answer.files["c.json"]

    answer, _ = answered(certificate, "recheck", "c.json", "--json", name="c.json")
    assert json.loads(answer.out)["accepted"], answer
    large = re.sub(r'"[0-9]+/[0-9]+"', '"1e999999999"', certificate)
    assert large != certificate
    for bomb in ("[" * 10**6, large, "9" * 10**7):
        answer, _ = answered(bomb, "recheck", "c.json", "--json", "--time-limit=2", name="c.json")
        assert answer.status in (2, 3)
        assert '"accepted": true' not in answer.out

    begun = time.monotonic()
    answer, _ = answered(ENDLESS, "check", "mechanism.py:f", "--json", stop=0.0)  # perhaps before it is a worker at all
    assert (answer.status, "interrupted" in answer.out + answer.err) == (3, True)
    assert time.monotonic() - begun < 10

    answer, _ = answered(MEMORY, "check", "mechanism.py:f", "--json")
    assert (answer.status, "out of memory: the limit is 1 GiB" in answer.out) == (3, True)

    answer, _ = answered("open('much', 'wb').write(bytes(10**7))", "check", "mechanism.py:f", "--json")
    assert (answer.status, "File too large" in answer.err) == (2, True)

    answer, _ = answered(
        "import os, time\nif not os.fork():\n    time.sleep(1000)\nx = 1", "outline", "mechanism.py", "--json"
    )
    assert json.loads(answer.out)["unread"] == 1
    answer, _ = answered(
        "import os\nchild = os.fork()\nwhile not child: pass\nprint('child', child)", "check", "mechanism.py:f"
    )
    assert answer.status == 2
    answer, heard = answered("print('hello')\nimport os\nos._exit(0)", "check", "mechanism.py:f", "--json")
    assert (answer.status, "ended the program" in answer.err) == (2, True)
    assert "hello\n" in heard


def _runs(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_without_its_libraries_or_its_port_the_command_says_what_to_do(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(QuestionError, match=rf"cannot listen on port {port}: .* \[port\]\n  hint: --port 0"):
            serving.serve(port=port)
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    with pytest.raises(
        QuestionError, match=r"the page needs starlette and uvicorn \[web\]\n  hint: pip install 'privproof\[web\]'"
    ):
        serving.serve()


def test_the_browser_is_led_by_a_file_that_others_cannot_read(monkeypatch):
    opened = threading.Event()
    addresses = []
    monkeypatch.setattr(serving.webbrowser, "open", lambda address: (addresses.append(address), opened.set()))
    path = serving._open_browser("http://127.0.0.1:1/?token=secret")
    assert opened.wait(10)
    assert addresses == [path.as_uri()]
    assert path.stat().st_mode & 0o077 == 0
    assert "url=http://127.0.0.1:1/?token=secret" in path.read_text()
    path.unlink()


# ------------------------------------------------------------------------------------------------------------ in a browser


@pytest.fixture
def served(tmp_path):
    """The address of a page that a command of its own serves, until the test is over."""
    process = subprocess.Popen(
        [sys.executable, "-m", "privproof", "serve", "--no-browser"],
        cwd=tmp_path,
        env={**environment(), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        line = process.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:[0-9]+/\?token=\S+", line)[0]
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == ""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_mechanism_is_written_refuted_repaired_proved_and_rechecked_in_a_browser(served, tmp_path):
    """The whole story, in one browser: starting one takes longer than everything else."""
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        problems = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        page.goto(served)
        expect(page.locator("#library option", has_text="naive-noisy-max:")).to_have_count(1)
        assert "token" not in page.url

        # what is refused is marked while one types
        page.fill("#text", NOISY.replace("    return", "    global y\n    return"))
        expect(page.locator("#problems li")).to_contain_text("global is not in the mechanism language")
        expect(page.locator("#problems li button")).to_have_text("line 6, column 5")
        expect(page.locator(".overlay mark.refused")).to_have_text("global")

        # refuted, with the witness drawn; Ctrl+Enter asks
        page.fill("#text", NOISY)
        expect(page.locator("#name")).to_have_value("noisy")
        page.locator("#text").press("Control+Enter")
        card = page.locator("article.card")
        expect(card).to_have_attribute("data-verdict", "refuted")
        expect(card.locator(".drawing svg").first).to_be_visible()
        expect(card).to_contain_text("beyond e^epsilon = 2")
        expect(page.locator("#live")).to_contain_text("refuted: noisy is not ln(2)-private")

        # repaired by more noise, and proved
        page.fill("#text", NOISY.replace("1/3", "1/2"))
        page.click("#go")
        expect(card).to_have_attribute("data-verdict", "proved")

        # the certificate is downloaded, and dropped for rechecking; a broken one is rejected
        with page.expect_download() as downloading:
            card.locator("button.download").click()
        certificate = tmp_path / "certificate.json"
        downloading.value.save_as(certificate)
        page.locator("#tab-ask").press("ArrowRight")
        page.check("#compare")
        page.set_input_files("#certificate-file", certificate)
        expect(card).to_have_attribute("data-verdict", "accepted")
        expect(card).to_contain_text("the function in the editor is what was verified")
        certificate.write_text(certificate.read_text().replace("1/2", "1/5"), encoding="utf-8")
        page.set_input_files("#certificate-file", certificate)
        expect(card).to_have_attribute("data-verdict", "rejected")

        # on a phone: nothing is wider than the page; a long run is stopped
        page.set_viewport_size({"width": 400, "height": 800})
        page.click("#tab-ask")
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.fill("#text", NOISY + "\nimport time\nwhile True:\n    time.sleep(1)\n")
        expect(page.locator("#problems li.note")).to_contain_text("Line 8 does more than declare")
        page.click("#go")
        page.click("button.stop")
        expect(card).to_have_attribute("data-verdict", "unknown")
        expect(card).to_contain_text("interrupted")
        expect(page.locator("#earlier li")).to_have_count(5)

        # nobody without the token sees anything
        stranger = browser.new_context().new_page()
        assert stranger.goto(served.partition("?")[0]).status == 403
        browser.close()
    assert problems == []
