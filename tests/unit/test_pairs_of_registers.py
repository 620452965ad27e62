"""Integrals over two registers: powers that are expanded, against sums node by node, in the engine and in the checker."""

import random

import pytest
from tests.amounts import selected

from privproof.engines.integrals.density_curves import DensityLaw
from privproof.engines.registers import register_integrals as integrating
from privproof.engines.registers.register_integrals import BITS, Monomial
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
    mine = [DensityLaw("gaussian", *law) for law in laws]
    with precision(BITS):
        expanded = integrating._over_pairs(mine, [Monomial(*each) for each in group], lambda: None)
        summed = integrating._pair_by_pair(mine, [Monomial(*each) for each in group], lambda: None)
    with precision(128):
        theirs = strips._double([strips.PanelLaw("gaussian", *law) for law in laws], group)
        by_node = strips._node_by_node([strips.PanelLaw("gaussian", *law) for law in laws], group)
    for each in group:
        found = [expanded[Monomial(*each)], summed[Monomial(*each)], theirs[each], by_node[each]]
        assert all(one.overlaps(two) for one in found for two in found)
        assert abs(found[0].mid() - found[1].mid()) < 1e-20
        assert abs(found[2].mid() - found[3].mid()) < 1e-30
        assert all(float(one.rad()) < 1e-9 for one in found)


@pytest.mark.parametrize("seed", selected(range(20), 3))
def test_nodes_are_as_close_and_reach_as_far_as_the_bounds_say(seed):
    """Centers a whole number of steps apart share what they have at nodes; no step is longer for it, and every center is as it is alone."""
    chance = random.Random(seed)
    centers = [rational(chance.randint(-6, 6)) / chance.choice((1, 1, 2, 7, 1000)) for _ in range(3)]
    laws = [strips.PanelLaw("gaussian", center, rational(chance.choice((1, 2, 3, "5/7")))) for center in centers]
    group = [((chance.randrange(3),), (((chance.randrange(3), 1), 2),)) for _ in range(4)]
    group += [((j,), ()) for j in range(3)]
    with precision(128):
        nodes = strips._nodes(laws, group, strips._SINGLE // 2, strips._MOST_NODES)
        used = {law for each in group for law in (each[0][0], *(factor for (factor, _), _ in each[1]))}
        wanted = strips._ACROSS * min(laws[j].scale for j in used) * rational("22/7") / (strips._SINGLE // 2)
        assert nodes.apart <= wanted
        assert nodes.apart > wanted / 2
        standard = strips._Standard(nodes, laws)
        points = [nodes.first + nodes.apart * k for k in range(nodes.count)]
        for law in laws:
            assert points[0] <= law.center - strips._REACH * law.scale
            assert points[-1] == nodes.last >= law.center + strips._REACH * law.scale
            shares, densities = standard.below(law), standard.weighted(law)
            assert len(shares) == len(densities) == len(points)
            for x, share, density in zip(points, shares, densities, strict=True):
                u = strips.arb((x - law.center) / law.scale)
                other = (
                    strips.normal_share(u),
                    nodes.apart * (-u * u / 2).exp() / (2 * strips.arb.pi()).sqrt() / law.scale,
                )
                for one, two in zip((share, density), other, strict=True):
                    assert one.overlaps(two)
                    assert abs(one.mid() - two.mid()) < 1e-30
    with precision(128):
        wide = strips.integrate(laws, group)
    with precision(60):
        coarse = strips.integrate(laws, group)
    assert all(wide[each].overlaps(coarse[each]) and float(wide[each].rad()) < 1e-17 for each in group)
