"""Examples of the library as files of their own: what they hold is what the library holds."""

import privproof
from privproof.formats.file_outlines import outline_of
from privproof.formats.python_files import run_file
from privproof.library import EXAMPLES
from privproof.library.example_texts import mechanism_text

SUBJECTS = {example.name: example.mechanism for example in EXAMPLES if example.mechanism is not None}


def test_every_mechanism_of_the_library_is_a_file_to_begin_with(tmp_path):
    """It is read without being run, nothing in it is refused, and it is the same function with the same claim."""
    assert len(SUBJECTS) > 80
    for name, subject in SUBJECTS.items():
        path = tmp_path / f"{name.replace('-', '_')}.py"
        path.write_text(mechanism_text(subject, privproof.__all__), encoding="utf-8")
        found = outline_of(path)
        assert (found.unread, found.problems) == (None, ()), name
        made = getattr(run_file(path), subject.function.__name__)
        assert (made.claim, made.inputs, made.relation) == (subject.claim, subject.inputs, subject.relation), name
        assert made.function.__code__.co_code == subject.function.__code__.co_code, name


def test_the_command_writes_them(tmp_path):
    from tests.commands import Command

    command = Command(tmp_path)
    assert command("examples", "survey", "--write", "survey.py").stdout == "survey.py written\n"
    assert command("check", "survey.py").returncode == 0
    told = command("examples", "geometric-chain", "--write", "chain.py")
    assert (told.returncode, "is a model, no function" in told.stderr) == (2, True)
    listed = {each["name"]: each for each in command.json("examples")[1]}
    assert (listed["survey"]["form"], listed["survey"]["function"]) == ("python", "survey")
    assert (listed["geometric-chain"]["form"], listed["geometric-chain"]["function"]) == ("model", None)
    assert {listed[name]["form"] for name in ("contagious-count", "logic-survey")} == {None}
    for name, each in listed.items():
        if each["form"] == "model":
            assert command("examples", name, "--write", "model.yaml").returncode == 0
