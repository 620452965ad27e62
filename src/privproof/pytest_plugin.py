"""The plug-in for pytest: the mark ``private``, and a page of all verdicts of a session.

``@pytest.mark.private(epsilon=1)`` stands above

* a test that *returns* a mechanism (or a function, a question, the name of a file): what it returns is checked;
* a test that *is* a mechanism, because its parameters declare inputs: ``def test_count(n: queries(0, 3))``.

It is loaded with pytest whether or not a test uses it, so it loads nothing of privproof before it has to.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from privproof import testing

_MARK = "private"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option for the page."""
    group = parser.getgroup("privproof")
    group.addoption(
        "--privproof-report", metavar="OUT.html", help="write a page of all verdicts of mechanisms that tests check"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The mark, and where results are gathered."""
    config.addinivalue_line(
        "markers", f"{_MARK}(epsilon, delta, size, ...): the mechanism that the test returns, or is, must be private"
    )
    if config.getoption("--privproof-report"):
        config.pluginmanager.register(_Gathering(config), "privproof-gathering")


def _private_mark(subject: Any) -> pytest.Mark | None:
    """The mark of what a test module holds, on it or on the function inside it."""
    for each in (subject, getattr(subject, "__wrapped__", None)):
        marks = getattr(each, "pytestmark", [])
        for mark in marks if isinstance(marks, list) else []:
            if mark.name == _MARK:
                return mark  # type: ignore[no-any-return]
    return None


def _is_mechanism(subject: Any) -> bool:
    """Whether something is a mechanism by itself: marked as one, or a function whose parameters declare inputs."""
    if type(subject).__module__.startswith("privproof."):
        return True
    if not inspect.isfunction(subject):
        return False
    try:
        declared = inspect.get_annotations(subject, eval_str=True).values()
    except Exception:  # an annotation that cannot be read declares nothing
        return False
    return any(type(each).__module__.startswith("privproof.language") for each in declared)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> pytest.Item | None:
    """A marked mechanism is a test of its own: its parameters are data, and no fixtures."""
    if not collector.funcnamefilter(name) or _private_mark(obj) is None or not _is_mechanism(obj):
        return None
    return MechanismItem.from_parent(collector, name=name, subject=obj)


class MechanismItem(pytest.Item):
    """A test that is a mechanism."""

    def __init__(self, *, subject: Any, **options: Any) -> None:
        super().__init__(**options)
        self.subject = subject
        marked = _private_mark(subject)
        assert marked is not None
        self.mark = marked
        for mark in getattr(subject, "pytestmark", None) or getattr(subject.__wrapped__, "pytestmark", []):
            self.add_marker(getattr(pytest.mark, mark.name)(*mark.args, **mark.kwargs))

    def runtest(self) -> None:
        """Check the claim."""
        testing.assert_private(self.subject, *self.mark.args, **self.mark.kwargs)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the command says, without the way to it."""
        if type(excinfo.value).__module__.startswith("privproof."):
            return str(excinfo.value).strip("\n")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        function = inspect.unwrap(getattr(self.subject, "function", self.subject))
        return self.path, function.__code__.co_firstlineno - 1, self.name


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A marked test returns what is to be checked."""
    __tracebackhide__ = True
    mark = pyfuncitem.get_closest_marker(_MARK)
    if mark is None:
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    returned = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs})
    if returned is None:
        pytest.fail(
            "a test that is marked private returns the mechanism to check, or declares its inputs", pytrace=False
        )
    try:
        testing.assert_private(returned, *mark.args, **mark.kwargs)
    except testing.NotPrivate as problem:
        pytest.fail(str(problem).strip("\n"), pytrace=False)
    return True


class _Gathering:
    """Gathers the verdicts of a session, also from the processes that share it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.heard: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Listen while a test runs."""
        self.heard = []
        with testing.listen_to_verdicts(
            lambda verdict, of: self.heard.append(testing.told_result(verdict, of, item.nodeid))
        ):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        """What was heard goes with the report of the test."""
        report: Any = yield
        if call.when == "call":
            report.privproof = self.heard
        return report  # type: ignore[no-any-return]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A report arrives, from this process or from another."""
        self.results += getattr(report, "privproof", [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the page."""
        if hasattr(self.config, "workerinput"):
            return
        from privproof.formats.whole_files import write_whole
        from privproof.projects.mechanism_discovery import Target
        from privproof.projects.project_results import CheckResult
        from privproof.reporting.project_texts import results_page

        out = Path(self.config.getoption("--privproof-report"))
        results = [
            CheckResult(
                Target(each["text"], each["file"], each["name"], each["line"]),
                each["outcome"],
                each["said"].splitlines()[0].partition("  ")[2],
                each["said"],
                each["line"],
                each["seconds"],
            )
            for each in self.results
        ]
        write_whole(out, results_page(results))
        terminalreporter.write_line(f"{len(results)} verdict{'s' * (len(results) != 1)} in {out}")
