"""Why there is no fast way in general: privacy verification contains satisfiability (FAIER paper, Theorem 5.2).

A formula becomes a hidden Markov model whose largest ratio is exactly 4 if the formula is satisfiable, and at most
(8 m - 3) / (2 m + 3) for m clauses if it is not.  The word that attains 4 spells a satisfying assignment.
"""

from privproof import check, log, tight_epsilon
from privproof.exact import rational
from privproof.library import assignment, ratio_if_unsatisfiable, satisfiability

FORMULAS = {
    "(x1 or not x2) and (not x1)": [[1, -2], [-1]],
    "(x1) and (not x1)": [[1], [-1]],
    "all four clauses of x1, x2": [[1, 2], [-1, 2], [1, -2], [-1, -2]],
    "x1 = x2 = x3, not all true": [[-1, 2], [-2, 3], [-3, 1], [-1, -2, -3]],
}

if __name__ == "__main__":
    for text, clauses in FORMULAS.items():
        question = satisfiability(clauses)
        verdict = tight_epsilon(question)
        print(f"{text}: {len(question.model.states)} states, largest ratio {verdict.tight.bound}")
        if verdict.tight.bound == 4:
            print("  satisfied by", assignment(verdict.witness.output))
        else:
            print("  not satisfiable, bound", ratio_if_unsatisfiable(len(clauses)))
        between = (ratio_if_unsatisfiable(len(clauses)) + rational(4)) / 2
        for epsilon in (log(4), log(between)):
            print(f"  private with epsilon = {epsilon}: {check(question, epsilon).status}")
