"""Laplace noise: a proof for every list length and every N, and a refutation whose probabilities are closed forms.

The sparse vector technique says which of many answers lie above a threshold and pays only for those.  It is proved for lists of every
length; the alignment says which line pays how much.  A version without a cut-off is refuted, and the loss that can be proved grows
with the length of the list.
"""

from mechanisms.sparse_vector import endless, sparse_vector

from privproof import check, output_probability, tight_epsilon

if __name__ == "__main__":
    proved = check(sparse_vector)
    print(f"sparse_vector: {proved.status} for every length and every N")
    for charge in proved.explanation.charges:
        print(
            f"  line {charge.line}: add {charge.shift} to {charge.code}, {charge.when or 'always'}: costs {charge.cost}"
        )
    print()
    refuted = check(endless)
    witness = refuted.witness
    print(f"endless: {refuted.status}")
    print("  left ", witness.left)
    print("  right", witness.right)
    print("  event", witness.output, "with probabilities", witness.left_probability, "and", witness.right_probability)
    again = output_probability(endless, witness.event, **witness.left)
    print("  recomputed by the function itself:", again == witness.left_probability)
    print("  proved instead: epsilon =", tight_epsilon(endless).formula)
