"""Selections: a noisy value for every element of a list, and what the largest (or smallest) of them are, without a loop.

Noisy max, its gap to the runner-up and the top k say little of their many noisy values: the places of the k largest, these values, and the
largest of the others.  Whichever way a function finds them (a loop that keeps the best so far, ``noisy.index(max(noisy))``,
``max(range(n), key=...)``, ``sorted(range(n), key=...)[:k]``), it is the same selection, and it has no loop:

* ``place``: a place of the list, other than those before; both runs have it in common, like the outcome of a test;
* the noisy value at every such place, a `Sample` like any other;
* ``others``: the largest noisy value at all other places;
* ``ranked``: these values come in this order.

A function is evaluated for every length of its lists, and once for all that are long enough (`evaluating`).  Lists with an element for
every noisy value are kept as what an element is (`ranks`, `lists`); a loop over them is followed on ranks (`turns`); sorting them, and
taking the largest, needs no loop.
"""
