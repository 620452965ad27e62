"""``python -m privproof_checker CERTIFICATE...``: what the checker says of certificates; it needs nothing else of the distribution.

A certificate may come from a stranger, so that the process has limits: what is beyond them is rejected, like everything else that
establishes nothing.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from privproof_checker import Accepted, Rejected, recheck_file
from privproof_checker.collected_outcomes import collected_seldom
from privproof_checker.derived_facts import argument_text

_MIB = 1 << 20


class _OutOfTime(BaseException):
    """The time of one certificate is over."""


def _limit_memory(mebibytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on this operating system
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    asked = mebibytes * _MIB
    resource.setrlimit(resource.RLIMIT_AS, (asked if most == resource.RLIM_INFINITY else min(asked, most), most))


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _OutOfTime


def _check_file(path: str, seconds: float) -> Accepted | Rejected:
    timed = hasattr(signal, "setitimer")
    try:
        if timed:
            signal.signal(signal.SIGALRM, _end)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        with collected_seldom():
            return recheck_file(path)
    except _OutOfTime:
        return Rejected(f"not checked within {seconds:g} s", "checker")
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_REAL, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Say of every certificate whether it is accepted; 0 if all are, 2 if one is not."""
    parser = argparse.ArgumentParser(prog="python -m privproof_checker", description="Check certificates of privproof.")
    parser.add_argument("certificates", nargs="+", metavar="CERTIFICATE")
    parser.add_argument(
        "--seconds", type=float, default=600, help="reject a certificate that takes longer (default: 600)"
    )
    parser.add_argument("--explain", action="store_true", help="tell the argument, rule by rule")
    parser.add_argument("--memory", type=int, default=4096, help="MiB of memory, at most (default: 4096)")
    given = parser.parse_args(arguments)
    _limit_memory(given.memory)
    status = 0
    for path in given.certificates:
        outcome = _check_file(path, given.seconds)
        if isinstance(outcome, Accepted):
            print(f"accepted  {path}: {outcome.verdict}: {outcome.statement}")
            if given.explain:
                print(argument_text(outcome))
        else:
            status = 2
            print(f"rejected  {path}: {outcome.place}: {outcome.reason}")
    return status


if __name__ == "__main__":
    sys.exit(main())
