"""Integrals over two registers: powers that are expanded, against sums node by node, in the engine and in the checker."""

import random

import pytest
from tests.amounts import selected

from privproof.engines.integrals.curves import Law
from privproof.engines.registers import integrating
from privproof.engines.registers.integrating import BITS, Monomial
from privproof.exact import rational
from privproof.exact.balls import precision
from privproof_checker.integrals import strips

CELLS = (0b001, 0b110, 0b010, 0b101, 0b011, 0b100)


@pytest.mark.parametrize("seed", selected(range(12), 1))
def test_expanded_powers_are_what_they_were(seed):
    chance = random.Random(seed)
    laws = [(rational(chance.randint(-1, 1)), rational(chance.choice((2, 3)))) for _ in range(3)]
    group = []
    for _ in range(6):
        powers = {(chance.randrange(3), chance.choice(CELLS)): chance.randint(1, 5) for _ in range(3)}
        group.append(((chance.randrange(3), chance.randrange(3)), tuple(sorted(powers.items()))))
    mine = [Law("gaussian", *law) for law in laws]
    with precision(BITS):
        expanded = integrating._over_pairs(mine, [Monomial(*each) for each in group], lambda: None)
        summed = integrating._pair_by_pair(mine, [Monomial(*each) for each in group], lambda: None)
    with precision(128):
        theirs = strips._double([strips.Law("gaussian", *law) for law in laws], group)
        by_node = strips._node_by_node([strips.Law("gaussian", *law) for law in laws], group)
    for each in group:
        found = [expanded[Monomial(*each)], summed[Monomial(*each)], theirs[each], by_node[each]]
        assert all(one.overlaps(two) for one in found for two in found)
        assert abs(found[0].mid() - found[1].mid()) < 1e-20
        assert abs(found[2].mid() - found[3].mid()) < 1e-30
        assert all(float(one.rad()) < 1e-9 for one in found)
