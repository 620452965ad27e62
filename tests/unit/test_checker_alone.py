"""The checker without privproof: a package of its own, in an interpreter that cannot import anything else of the distribution."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.checker_campaign import check_alone

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES

SOME = (
    "survey",
    "naive-noisy-max",
    "rappor",
    "laplace-noisy-max",
    "laplace-sparse-vector-no-cutoff",
    "stream-ranges",
    "laplace-mechanism",
)
"""Examples of several kinds that are answered at once."""


def alone(*files):
    return check_alone(files)


def written(names, folder):
    for example in EXAMPLES:
        if example.name in names:
            question = example.question()
            verdict = check(question) if question.claims else tight_epsilon(question)
            if verdict.certificate:
                path = folder / f"{example.name}.json"
                path.write_text(json.dumps(dict(verdict.certificate)))
                yield path


def test_certificates_of_several_kinds_are_accepted_by_the_checker_alone(tmp_path):
    files = list(written(SOME, tmp_path))
    done = alone(*files)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["accepted"] * len(SOME)


@pytest.mark.slow
def test_all_examples_are_accepted_by_the_checker_alone(tmp_path):
    names = {example.name for example in EXAMPLES}
    done = alone(*written(names, tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_changed_is_rejected_by_the_checker_alone(tmp_path):
    [file] = written(("survey",), tmp_path)
    document = json.loads(file.read_text())
    document["question"]["epsilon"] = "1/100"
    file.write_text(json.dumps(document))
    done = alone(file, tmp_path / "missing.json")
    assert done.returncode == 2
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["rejected"] * 2
    assert alone().returncode == 2


def test_a_check_has_limits(tmp_path):
    [file] = written(("naive-noisy-max",), tmp_path)
    done = alone(file, "--seconds", "0.000001")
    assert (done.returncode, "not checked within 1e-06 s" in done.stdout) == (2, True)
    done = alone(file, "--memory", "4096", "--seconds", "60")
    assert done.returncode == 0


RESTS_ON = {
    "contagious": 5_000,
    "contagious-count": 4_100,
    "release-independent": 6_600,
    "survey": 11_500,
    "laplace-sparse-vector-no-cutoff": 10_800,
    "laplace-noisy-max": 18_500,
}
"""The lines of the modules that one certificate loads, at most, as the explanation of the checker says."""
COUNTING = """
import json, sys
from privproof_checker import Accepted, recheck
assert isinstance(recheck(json.load(open(sys.argv[1]))), Accepted)
held = [module for name, module in sys.modules.items() if name.partition(".")[0] == "privproof_checker"]
print(sum(open(module.__file__).read().count(chr(10)) for module in held))
"""


def test_a_certificate_rests_on_its_own_part_of_the_checker(tmp_path):
    for file in written(RESTS_ON, tmp_path):
        counted = subprocess.run(
            [sys.executable, "-c", COUNTING, str(file)], capture_output=True, text=True, check=True
        )
        assert int(counted.stdout) <= RESTS_ON[file.stem]
