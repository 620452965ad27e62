"""Quilts of random small networks against the definitions, by enumeration of the joint distribution."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, log

import pytest
from tests.amounts import selected
from tests.network_quilts import network_quilts

from privproof.exact import epsilon, fraction, rational
from privproof.release import calibrate, verify
from privproof.release.bayes_networks import Network
from privproof.release.network_quilts import best_network_quilts, network_laws
from privproof.release.release_question import Laplace
from privproof.release.series_queries import histogram, weighted_sum

BATCHES = range(8)
EACH = 24


def random_row(chance, values, zeros):
    weights = [0 if zeros and chance.random() < 0.25 else chance.randint(1, 9) for _ in values]
    if not any(weights):
        weights[chance.randrange(len(weights))] = 1
    return {value: Fraction(weight, sum(weights)) for value, weight in zip(values, weights, strict=True)}


def random_network(chance):
    """A random network of 3 to 6 nodes with 2 or 3 values, some of them with impossible values."""
    while True:
        size, zeros = chance.randint(3, 6), chance.random() < 0.4
        density = chance.choice((0.2, 0.4, 0.7))
        names = [f"n{i}" for i in range(size)]
        values = {name: ["0", "1", "2"][: chance.choice((2, 2, 3))] for name in names}
        given = {}
        for i, name in enumerate(names):
            parents = [other for other in names[:i] if chance.random() < density][:3]
            keys = product(*(values[parent] for parent in parents))
            table = {key: random_row(chance, values[name], zeros) for key in keys}
            given[name] = {"parents": parents, "values": values[name], "table": table if parents else table[()]}
        chance.shuffle(names)
        try:
            return Network.of({name: given[name] for name in names})
        except ValueError as error:
            if error.code != "secret":
                raise


def enumerated(network):
    """The joint distribution from the tables alone."""
    result = {}
    for values in product(*(node.values for node in network.nodes)):
        chosen = dict(zip(network.names, values, strict=True))
        likely = Fraction(1)
        for node in network.nodes:
            row = node.table[tuple(chosen[parent] for parent in node.parents)]
            likely *= fraction(row[node.values.index(chosen[node.name])])
        if likely:
            result[values] = likely
    return result


def marginal(network, joint, names):
    where = [network.names.index(name) for name in names]
    result = defaultdict(Fraction)
    for values, likely in joint.items():
        result[tuple(values[i] for i in where)] += likely
    return result


def greatest_ratio(network, joint, node, quilt):
    """The max-influence by its definition, as a ratio; None for infinite."""
    alone, both = marginal(network, joint, [node]), marginal(network, joint, [node, *quilt])
    greatest = Fraction(1)
    for (a,), (b,) in permutations(alone, 2):
        for values in {key[1:] for key in both}:
            over, under = both.get((a, *values), 0) / alone[a,], both.get((b, *values), 0) / alone[b,]
            if over and not under:
                return None
            if over:
                greatest = max(greatest, over / under)
    return greatest


def independent_given(network, joint, node, others, given):
    """Whether the others are independent of the node, given the given."""
    tables = [marginal(network, joint, [*names, *given]) for names in ((node, *others), (node,), others, ())]
    size = len(others)
    for value, rest, known in product(network.by_name[node].values, {key[:size] for key in tables[2]}, list(tables[3])):
        both = tables[0].get((value, *rest, *known), 0) * tables[3][known]
        if both != tables[1].get((value, *known), 0) * tables[2].get((*rest, *known), 0):
            return False
    return True


def connected(network, node, quilt):
    """The nodes that a node reaches in the moral graph without passing the quilt, from the definition of that graph."""
    edges = set()
    for each in network.nodes:
        edges |= set(permutations((each.name, *each.parents), 2))
    reached = {node}
    while more := {b for a, b in edges if a in reached and b not in reached and b not in quilt}:
        reached |= more
    return reached


def worst_loss(laws, scale):
    """The exact loss of Laplace noise, which is attained at an atom."""
    atoms = sorted({atom for law in laws for atom in law})
    densities = [[sum(p * exp(-abs(z - c) / scale) for c, p in law.items()) for z in atoms] for law in laws]
    return max(
        (log(p / q) for left, right in permutations(densities, 2) for p, q in zip(left, right, strict=True)), default=0
    )


@pytest.mark.parametrize("batch", selected(BATCHES, 2))
def test_influence_and_separation_are_those_of_the_definition(batch):
    chance = random.Random(f"quilts {batch}")
    for _ in range(EACH // 2):
        network = random_network(chance)
        joint = enumerated(network)
        assert dict(network.joint()) == {values: rational(likely) for values, likely in joint.items()}
        for node in network.names:
            assert tuple(value for (value,) in sorted(marginal(network, joint, [node]))) == network.possible[node]
            quilts = network_quilts(network, node)
            assert len({quilt.quilt for quilt in quilts}) == len(quilts)
            assert () in {quilt.quilt for quilt in quilts}
            for each in quilts:
                others = tuple(set(network.names) - set(each.quilt) - set(each.local))
                assert set(each.local) == connected(network, node, each.quilt)
                assert independent_given(network, joint, node, others, each.quilt)
                expected = greatest_ratio(network, joint, node, each.quilt)
                assert each.ratio == (None if expected is None else rational(expected))


@pytest.mark.parametrize("batch", selected(BATCHES, 2))
def test_no_set_of_nodes_is_better_than_the_best_quilt(batch):
    chance = random.Random(f"best {batch}")
    for _ in range(EACH // 4):
        network = random_network(chance)
        joint = enumerated(network)
        budget = chance.choice(("1/2", "1", "ln(3)", "2", "5"))
        value = float(epsilon(budget).ball())
        chosen = best_network_quilts(network, epsilon(budget))
        rates = []
        for node, quilt in zip(network.names, chosen.quilts, strict=True):
            others = [name for name in network.names if name != node]
            scores = []
            for size in range(min(3, len(others)) + 1):
                for some in combinations(others, size):
                    ratio = greatest_ratio(network, joint, node, some)
                    if ratio is not None:
                        scores.append((value - log(ratio)) / len(connected(network, node, some)))
            assert quilt.node == node
            assert (value - log(fraction(quilt.ratio))) / quilt.size == pytest.approx(max(scores), rel=1e-8)
            assert epsilon(budget).compare_bound(quilt.ratio) > 0
            rest = replace(epsilon(budget), shift=epsilon(budget).shift - quilt.size * chosen.rate)
            assert rest.compare_bound(quilt.ratio) >= 0
            rates.append(max(scores))
        assert float(chosen.rate) == pytest.approx(min(rates), rel=1e-8)


@pytest.mark.parametrize("batch", selected(BATCHES, 2))
def test_laws_are_those_of_the_joint(batch):
    chance = random.Random(f"laws {batch}")
    for _ in range(EACH):
        network = random_network(chance)
        unit = chance.choice((1, 1, 10**6))
        query = weighted_sum({"0": chance.randint(-2, 2), "1": f"{unit}/2", "2": chance.randint(-1, 3)})
        expected = defaultdict(lambda: defaultdict(Fraction))
        for values, likely in enumerated(network).items():
            total = query(values) / query.step
            assert total.q == 1
            for name, value in zip(network.names, values, strict=True):
                expected[name, value][int(total.p)] += likely
        found = network_laws(network, query)
        assert found == {
            key: {number: rational(p / sum(law.values())) for number, p in law.items()} for key, law in expected.items()
        }


@pytest.mark.parametrize("batch", selected(BATCHES, 2))
def test_the_rate_is_private(batch):
    """For every sum, with weights that may differ from node to node, the exact loss is at most epsilon."""
    chance = random.Random(f"private {batch}")
    losses = []
    for _ in range(EACH):
        network = random_network(chance)
        joint = enumerated(network)
        budget = chance.choice(("1/5", "1", "ln(4)", "2", "5"))
        value = float(epsilon(budget).ball())
        chosen = best_network_quilts(network, epsilon(budget), largest=chance.choice((1, 2, 3, 5)))
        weights = [{each: chance.choice((-1, 0, 1, 3)) for each in node.values} for node in network.nodes]
        if chance.random() < 0.5:
            weights = [{each: int(each) for each in node.values} for node in network.nodes]
        moved = max(max(each.values()) - min(each.values()) for each in weights)
        if moved == 0:
            continue
        for i, node in enumerate(network.nodes):
            laws = defaultdict(lambda: defaultdict(float))
            for values, likely in joint.items():
                total = sum(weight[each] for weight, each in zip(weights, values, strict=True))
                laws[values[i]][total] += float(likely)
            whole = [sum(law.values()) for law in laws.values()]
            given = [{c: p / all_ for c, p in law.items()} for law, all_ in zip(laws.values(), whole, strict=True)]
            loss = worst_loss(given, moved / float(chosen.rate))
            assert loss <= value * (1 + 1e-9), (node.name, network)
            losses.append(loss / value)
    assert max(losses) > 0.6


@pytest.mark.parametrize("seed", selected(range(40), 6))
def test_histograms_of_networks_keep_the_budget_and_use_it(seed):
    """With the exact noise the loss by enumeration is the budget, or the counts tell nothing; a little less noise is refuted."""
    chance = random.Random(900 + seed)
    network = random_network(chance)
    while len(network.nodes) > 4:
        network = random_network(chance)
    values = sorted({value for node in network.nodes for value in node.values})
    query = histogram(chance.sample(values, chance.randint(2, len(values))))
    budget = chance.choice(("1/2", "1", "3"))
    made = calibrate(network, query=query, epsilon=budget, method="exact", noise="laplace")
    joint, rate = enumerated(network), float(1 / fraction(made.noise.scale))
    worst = 0.0
    for at, node in enumerate(network.nodes):
        laws = defaultdict(lambda: defaultdict(float))
        for world, likely in joint.items():
            laws[world[at]][tuple(world.count(name) for name in query.bins)] += float(likely)
        for output in product(range(len(network.nodes) + 1), repeat=len(query.bins)):
            dense = {
                value: sum(
                    p * exp(-rate * sum(abs(a - b) for a, b in zip(h, output, strict=True))) for h, p in law.items()
                )
                / sum(law.values())
                for value, law in laws.items()
            }
            worst = max(worst, *(log(dense[a] / dense[b]) for a, b in product(dense, repeat=2)))
        assert len(laws) <= len(node.values)
    claimed = float(fraction(rational(budget)))
    assert worst <= claimed * (1 + 1e-9)
    verdict = verify(made)
    assert verdict.status == "proved"
    assert float(verdict.lower.ball().mid()) == pytest.approx(worst)
    if worst > claimed * 0.999:
        less = Laplace(made.noise.scale * 9 / 10)
        assert verify(network, query=query, noise=less, epsilon=budget).status == "refuted"
