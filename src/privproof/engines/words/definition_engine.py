"""One word, by the definition: both its probabilities, under every pair of situations that it is compared under."""

from __future__ import annotations

from fractions import Fraction

from privproof.compiling import word_problem
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.engines.words.word_certificates import word_evidence
from privproof.engines.words.word_engine import run_again, witness_of
from privproof.errors import QuestionError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import WordWitness
from privproof.exact import ZERO, fraction, smallest_epsilon
from privproof.models import Letter
from privproof.scenarios import Question


def word_probabilities(question: Question, pair: str | None, letters: tuple[Letter, ...]) -> list[WordWitness]:
    """Both probabilities of one word, for every ordered pair (of the given name) under which the word is compared.

    Raises:
        QuestionError: the word is not of the horizon.
    """
    compiled = word_problem(question)
    if not compiled.problem.horizon.counts(len(letters)):
        raise QuestionError(
            "word",
            f"the word has {len(letters)} letters; compared are words of length {compiled.problem.horizon}",
            place="word",
            hint="ask with another horizon",
        )
    found = []
    for number, begin in enumerate(compiled.begins):
        finish = letters[-1].output if begin.finish is not None and letters else None
        if pair not in (None, begin.pair.name) or begin.finish != finish:
            continue
        try:
            word = compiled.problem.word(number, letters)
        except (KeyError, ValueError):
            continue
        found.append(witness_of(compiled, word))
    return found


class DefinitionEngine:
    """What one word says: refuted if it breaks the budget, otherwise unknown, since one word proves nothing."""

    name = "definition"

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return None if request.word is not None else "no word is given"

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """The first pair of situations under which the word breaks the budget.

        Raises:
            QuestionError: the word is not of the horizon, or compared under no pair.
        """
        question, letters = request.question, request.word
        assert isinstance(question, Question)
        assert letters is not None
        found = word_probabilities(question, None, letters)
        if not found:
            shown = " ".join(str(letter) for letter in letters)
            raise QuestionError(
                "word",
                f"the word {shown!r} is compared under no pair: a letter is unknown, or cannot follow, "
                "or its inputs are no neighbours",
                place="word",
                hint="letters are observations o, or inputs and output v|w:o",
            )
        budget = question.budget
        share = budget.delta if budget else ZERO
        for witness in found:
            allowed = witness.right_probability * fraction(question.grown(letters))
            if budget and not budget.epsilon.allows(witness.left_probability, allowed, budget.delta):
                yield run_again(
                    Answer(
                        status="refuted",
                        question=question,
                        engine=self.name,
                        evidence=word_evidence(witness),
                        lower=smallest_epsilon(witness.left_probability, allowed, share),
                        witness=witness,
                    )
                )
                return
        witness = max(found, key=lambda w: (w.right_probability == 0 < w.left_probability, w.ratio or Fraction(0)))
        yield Answer(
            status="unknown",
            question=question,
            engine=self.name,
            lower=smallest_epsilon(
                witness.left_probability, witness.right_probability * fraction(question.grown(letters)), share
            ),
            witness=witness,
            reason="one word proves nothing; this one breaks no budget given",
        )
