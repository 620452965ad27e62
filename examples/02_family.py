"""Pufferfish: the same noisy count, but the adversary has prior knowledge (FAIER paper, Examples 4.3 to 4.5).

A secret with a prior is a pair of initial distributions: that of the true count if John is well, and if he is ill.
If illnesses are independent, the mechanism is as good as differential privacy promises.  If the two people counted are
a family in which all or none are ill, epsilon doubles.
"""

from fractions import Fraction

from privproof import Pair, Question, Scenario, tight_epsilon
from privproof.library import geometric

base = geometric()


def secret(well: dict[str, Fraction | int], ill: dict[str, Fraction | int]) -> Question:
    """The question how well the noisy count hides whether John is ill."""
    pair = Pair.of(base.model, "John is well ~ John is ill", well, ill)
    return Question(model=base.model, scenario=Scenario(pairs=(pair,)), horizon=base.horizon, name="John's secret")


def independent(p: Fraction) -> Question:
    """The other person is ill with probability p, whatever John is."""
    return secret({"0": 1 - p, "1": p}, {"1": 1 - p, "2": p})


def together(q: Fraction) -> Question:
    """The other person is in John's condition with probability q."""
    return secret({"0": q, "1": 1 - q}, {"1": 1 - q, "2": q})


family = together(Fraction(1))

if __name__ == "__main__":
    print("differential privacy:", tight_epsilon(base).tight)
    for p in (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)):
        print(f"independent, the other is ill with probability {p}:", tight_epsilon(independent(p)).tight)
    for q in (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(1)):
        verdict = tight_epsilon(together(q))
        print(f"the other is in John's condition with probability {q}:", verdict.tight.show())
