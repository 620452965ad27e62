"""Streams without end: the exact epsilon of threshold mechanisms, and the structures that leak.

Above threshold compares noisy numbers with a noisy threshold and ends with the first number above.  Its best coupling shifts the
threshold, and the cost of that is exact: no smaller epsilon holds.  Without an end the loss grows with every repetition; the fewest
repetitions that break the claim are reported, with two streams and both probabilities.
"""

from pathlib import Path

from mechanisms.streams import above_threshold, no_cutoff

from privproof import check, read_question, recheck, tight_epsilon

if __name__ == "__main__":
    proved = check(above_threshold)
    print(f"above_threshold: {proved.status}, and {proved.tight} is tight")
    for row in proved.shifts:
        again = "" if row.times else ", again and again"
        print(f"  {row.step} (data: {row.change}): {row.shift}, costs {row.cost}{again}")
    print()
    refuted = check(no_cutoff)
    witness = refuted.witness
    print(f"no_cutoff: {refuted.status}, a {refuted.leak.kind}")
    print(f"  {refuted.leak.sentence}")
    print(f"  each cycle {witness.times} times: {witness.output}")
    print("  left ", [str(number) for number in witness.left], f"{float(witness.left_probability):.6g}")
    print("  right", [str(number) for number in witness.right], f"{float(witness.right_probability):.6g}")
    print("  loss ", witness.loss().str(6, radius=False))
    print("  for every epsilon:", tight_epsilon(no_cutoff).status)
    print()
    for path in sorted((Path(__file__).parent / "models" / "streams").glob("*.yaml")):
        found = tight_epsilon(read_question(path))
        answer = found.tight if found.status == "proved" else found.leak.kind
        print(f"{path.stem}: {answer} ({recheck(found.certificate).verdict} again by the checker)")
