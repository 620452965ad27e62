"""Releasing correlated data: an activity series with noise that keeps every minute secret, and what several releases cost.

A prior is fitted to public series.  The least noise for a count is found from the exact law of the count; it is verified by the
independent checker before anything is drawn.  Noise for independent entries is refuted with the minute, the two activities and the
output that tell.
"""

from pathlib import Path

from privproof import recheck, release
from privproof.release.tables.table_files import TableReading, summarise

if __name__ == "__main__":
    data = Path(__file__).parent / "data"
    states = ["rest", "walk", "run"]

    def table(name):
        return summarise(TableReading.of(data / name, column="state", series="person", states=states))

    public, private = table("activity-public.csv"), table("activity-private.csv")
    prior = release.Chain.counted(public.transitions, states=states, name="activity of the public")
    print(f"public:  {public}")
    print(f"private: {private}")
    print()
    query = release.count("run")
    lengths = list(private.lengths)
    for method in ("group", "spectral", "contraction", "quilt", "wasserstein", "exact"):
        made = release.calibrate(prior, lengths=lengths, entries=private.entries, query=query, epsilon=1, method=method)
        verdict = release.verify(made)
        error = float(made.expected_error)
        print(f"{method:<12} expected error {error:8.3f}   {verdict.status}, loss at most {verdict.upper.decimal()}")
    print()
    checked = recheck(verdict.certificate)
    print(f"the checker accepts: {checked.verdict}")
    print(f"worst case: {verdict.witness.secrets[0]} against {verdict.witness.secrets[1]}, {verdict.witness.output}")
    counts = dict(zip(states, private.counts, strict=True))
    answer = release.noisy(made, release.exact_answers(query, counts), seed=1)
    print(f"released with a seed, for this example alone: {answer.value} (the truth is {private.counts[2]})")
    print()
    careless = release.verify(prior, length=max(lengths), query=query, noise=release.Laplace.of(1), epsilon=1)
    print(
        f"noise for independent entries: {careless.status}, {careless.witness.secrets} tell, loss {careless.lower.decimal()}"
    )
    print()
    accountant = release.Accountant.of(prior, length=max(lengths), epsilon=3)
    quilted = release.calibrate(prior, length=max(lengths), query=query, epsilon=1, method="quilt")
    for number in range(1, 4):
        accountant = accountant.spending(quilted, note="a count of runs")
        print(
            f"{number} release{'s' if number > 1 else ''} at epsilon = 1 cost {float(accountant.epsilon):.4f} together"
        )
