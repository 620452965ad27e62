"""A labelled Markov chain: the same mechanism with inputs and outputs as states (FAIER paper, Fig. 1b and Example 4.1).

An observer sees the labels of the states a run passes through.  The true counts carry none and show "-"; the noisy
counts are labelled.  A chain that asks several times shows how privacy loss adds up: ln 2 for every answer.
"""

from privproof import Horizon, MarkovChain, Neighbours, Question, Scenario, tight_epsilon
from privproof.models.noise_rows import truncated_geometric_row

counts = ["0", "1", "2"]


def answers(times: int) -> Question:
    """The count is fixed at the start and asked for several times, with fresh noise each time."""
    noisy = {(c, z): f"{c} shown as {z}" for c in counts for z in counts}
    rows = {
        c: {noisy[c, z]: p for z, p in zip(counts, truncated_geometric_row(int(c), alpha="1/2", high=2), strict=True)}
        for c in counts
    }
    chain = MarkovChain(
        states=[*counts, *noisy.values()],
        transitions={**rows, **{state: rows[c] for (c, _), state in noisy.items()}},
        labels={state: [f"~{z}"] for (_, z), state in noisy.items()},
    )
    return Question(
        model=chain,
        scenario=Scenario(neighbours=Neighbours.each(within=1, coordinates={c: [int(c)] for c in counts})),
        horizon=Horizon.exactly(times + 1),
        name=f"a count asked for {times} times",
    )


if __name__ == "__main__":
    for times in (1, 2, 3, 10):
        verdict = tight_epsilon(answers(times))
        print(f"asked {times:2}x: tight epsilon {verdict.tight.show()}, output", " ".join(verdict.witness.output))
