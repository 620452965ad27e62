"""What is read of a question once for one certificate, and what is read again."""

from __future__ import annotations

from privproof_checker.once_per_certificate import once, one_certificate


def counted():
    seen = []

    def read():
        seen.append(len(seen))
        return seen[-1]

    return seen, read


def test_the_same_members():
    seen, read = counted()
    asked = {"kind": "runs", "epsilon": "1", "data": [1, 2]}
    with one_certificate():
        assert once("a", asked, read) == 0
        assert once("a", {**asked, "epsilon": "2"}, read) == 0
        assert once("b", asked, read) == 1
    assert len(seen) == 2


def test_others_are_read_again():
    _, read = counted()
    asked = {"kind": "runs", "epsilon": "1", "data": [1, 2]}
    with one_certificate():
        assert once("a", asked, read) == 0
        assert once("a", {**asked, "data": [1, 2]}, read) == 1, "equal is not the same"
        assert once("a", {**asked, "more": None}, read) == 2
        assert once("a", {"kind": "runs"}, read) == 3


def test_nothing_is_kept_for_another_certificate():
    _, read = counted()
    asked = {"data": [1]}
    assert [once("a", asked, read), once("a", asked, read)] == [0, 1]
    for expected in (2, 3):
        with one_certificate():
            assert once("a", asked, read) == expected
