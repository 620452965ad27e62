"""Bayesian networks as priors: reading, the constructors, sums over them, and their quilts."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import product
from math import comb

import pytest
from flint import arb
from tests.network_quilts import network_quilts

from privproof.errors import BudgetError, ModelError, NumberError, ScenarioError
from privproof.exact import INFINITE, epsilon, rational
from privproof.release.bayes_networks import Network
from privproof.release.markov_chains import Chain
from privproof.release.network_quilts import best_network_quilts, network_laws
from privproof.release.series_queries import count, histogram, weighted_sum

COIN = {"values": ["yes", "no"], "table": {"yes": "1/5", "no": "4/5"}}
WET = {
    "parents": ["rain"],
    "values": ["yes", "no"],
    "table": {"yes": {"yes": "9/10", "no": "1/10"}, "no": {"yes": "1/4", "no": "3/4"}},
}
GRASS = {
    "parents": ["rain", "wet"],
    "table": {
        "yes, yes": {"green": "2/3", "brown": "1/3"},
        "yes,no": {"green": 1},
        ("no", "yes"): {"green": "1/2", "brown": "1/2"},
        " no , no ": {"brown": 1},
    },
}
WALK = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
FLU = {0: "0.1", 1: "0.15", 2: "0.5", 3: "0.15", 4: "0.1"}


def changed(given, **members):
    return {**given, **members}


class TestReading:
    def test_nodes_are_put_after_their_parents(self):
        network = Network.of({"grass": GRASS, "wet": WET, "rain": COIN}, name="garden")
        assert network.names == ("rain", "wet", "grass")
        assert network.node("grass").values == ("green", "brown")
        assert network.node("grass").table["yes", "no"] == (1, 0)
        assert list(network.node("grass").table) == list(product(("yes", "no"), repeat=2))
        assert str(network) == "garden of 3 nodes"
        assert sorted(network.moral["rain"]) == ["grass", "wet"]
        assert network.ancestors["wet"] == {"wet", "rain"}

    def test_the_order_that_is_given_is_kept_where_it_may_be(self):
        assert Network.of({"b": COIN, "a": COIN, "c": COIN}).names == ("b", "a", "c")

    def test_exactly_the_joint(self):
        network = Network.of({"rain": COIN, "wet": WET, "grass": GRASS})
        joint = dict(network.joint())
        assert joint["yes", "yes", "green"] == rational("1/5") * rational("9/10") * rational("2/3")
        assert ("yes", "no", "brown") not in joint
        assert sum(joint.values()) == 1
        assert network.marginal("grass")[1] == sum(p for values, p in joint.items() if values[2] == "brown")

    @pytest.mark.parametrize(
        ("given", "code", "said"),
        [
            ({"rain": changed(COIN, table={"yes": "1/5", "no": "3/5"})}, "row-sum", "4/5 = 0.8 instead of 1"),
            ({"rain": changed(COIN, table={"yes": "6/5", "no": "-1/5"})}, "probability", "outside [0, 1]"),
            ({"rain": changed(COIN, table={"yes": "1/5", "maybe": "4/5"})}, "unknown-name", "unknown value 'maybe'"),
            ({"rain": changed(COIN, parent=[])}, "unknown-name", "did you mean 'parents'"),
            ({"rain": {"values": ["yes", "no"]}}, "table", "there is no table"),
            ({"rain": "wet"}, "node", "'wet' is no node"),
            ({"wet": WET}, "unknown-name", "unknown parent 'rain'"),
            (
                {"rain": COIN, "wet": changed(WET, table={"yes": {"yes": 1}})},
                "missing-row",
                "there is no row for rain = no",
            ),
            (
                {"rain": COIN, "wet": changed(WET, table={**WET["table"], ("yes",): {"yes": 1}})},
                "table",
                "('yes',) is given twice",
            ),
            (
                {"rain": COIN, "wet": changed(WET, table={**WET["table"], "si": {"yes": 1}})},
                "unknown-name",
                "'si' is no",
            ),
            ({"rain": COIN, "wet": changed(WET, table={"yes": "1/2", "no": "1/2"})}, "table", "'1/2' is no row"),
            (
                {"rain": COIN, "wet": changed(WET, table={"yes": {"yes": 1}, False: {"yes": 1}})},
                "unknown-name",
                "False",
            ),
            ({"rain": changed(WET, parents=["wet"]), "wet": WET}, "cycle", "rain -> wet -> rain"),
            ({"rain": changed(WET, parents=["rain"])}, "cycle", "rain -> rain"),
            ({"rain": changed(COIN, table={"yes": 1})}, "secret", "no secret"),
        ],
    )
    def test_refusals(self, given, code, said):
        with pytest.raises(ScenarioError) as caught:
            Network.of(given)
        assert caught.value.code == code
        assert said in str(caught.value)
        assert caught.value.place.startswith("network")

    def test_refusals_of_names_and_numbers(self):
        with pytest.raises(ModelError, match="there is no node"):
            Network.of({})
        with pytest.raises(ModelError, match="named twice"):
            Network.of({"rain": changed(COIN, values=["yes", "yes"])})
        with pytest.raises(NumberError, match=r"network.rain.table.yes: 0.2 is a float"):
            Network.of({"rain": changed(COIN, table={"yes": 0.2, "no": "4/5"})})
        with pytest.raises(ScenarioError, match="did you mean 'rain'"):
            Network.of({"rain": COIN}).node("rian")

    def test_a_text_that_may_be_two_rows(self):
        given = {
            "a": {"table": {"x": "1/2", "x,y": "1/2"}},
            "b": {"table": {"y,z": "1/2", "z": "1/2"}},
            "c": {"parents": ["a", "b"], "table": {"x,y,z": {"0": 1}}},
        }
        with pytest.raises(ScenarioError, match=r"may be \('x', 'y,z'\) or \('x,y', 'z'\)"):
            Network.of(given)
        rows = {key: {"0": "1/2", "1": "1/2"} for key in product(("x", "x,y"), ("y,z", "z"))}
        assert Network.of({**given, "c": {"parents": ["a", "b"], "table": rows}}).marginal("c")[0] == rational("1/2")

    def test_tables_have_a_largest_size(self):
        names = [f"n{i}" for i in range(20)]
        rows = {"parents": names, "values": ["yes", "no"], "table": {"yes": {"yes": 1}}}
        with pytest.raises(ScenarioError, match="more than 1048576 cells"):
            Network.of({**dict.fromkeys(names, COIN), "last": rows})

    def test_plain_data_can_come_from_a_file(self):
        text = json.dumps({"rain": COIN, "wet": WET})
        assert Network.of(json.loads(text)) == Network.of({"rain": COIN, "wet": WET})


class TestConstructors:
    def test_a_chain(self):
        network = Network.chain(WALK.starting((rational(1), rational(0))), 3)
        assert network.names == ("X1", "X2", "X3")
        assert network.possible["X1"] == ("rest",)
        assert network.marginal("X3") == (rational("85/100"), rational("15/100"))
        assert dict(network.moral)["X2"] == {"X1", "X3"}

    def test_chains_that_are_no_network(self):
        with pytest.raises(ScenarioError, match="starts anywhere"):
            Network.chain(WALK.starting("any"), 3)
        with pytest.raises(ScenarioError, match="length = 0"):
            Network.chain(WALK, 0)

    def test_exchangeable_entries(self):
        people = ["Ann", "Bob", "Cem", "Dot"]
        joint = dict(Network.exchangeable(people, FLU).joint())
        assert len(joint) == 16
        for values, likely in joint.items():
            ill = values.count("ill")
            assert likely == rational(FLU[ill]) / comb(4, ill)

    def test_exchangeable_entries_with_impossible_numbers(self):
        network = Network.exchangeable(["a", "b", "c"], {1: 1}, values=("0", "1"))
        assert dict(network.joint()) == dict.fromkeys(
            [("1", "0", "0"), ("0", "1", "0"), ("0", "0", "1")], rational("1/3")
        )

    def test_refusals(self):
        with pytest.raises(ScenarioError, match="unknown number of entries '3'"):
            Network.exchangeable(["a", "b"], {3: 1})
        with pytest.raises(ScenarioError, match="instead of 1"):
            Network.exchangeable(["a", "b"], {0: "1/2", 1: "1/4"})
        with pytest.raises(ScenarioError, match="32768 rows"):
            Network.exchangeable([f"p{i}" for i in range(16)], {0: 1})
        with pytest.raises(ScenarioError, match="3 values instead of 2"):
            Network.exchangeable(["a", "b"], {0: 1}, values=("0", "1", "2"))

    def test_the_joint_has_a_limit(self):
        with pytest.raises(ScenarioError, match="more than 100 assignments"):
            list(Network.of({f"n{i}": COIN for i in range(7)}).joint(limit=100))


class TestQuilts:
    def test_the_trivial_quilt_of_entries_that_are_independent(self):
        network = Network.of({"a": COIN, "b": COIN, "rain": COIN, "wet": WET})
        (only,) = network_quilts(network, "a")
        assert (only.quilt, only.local, only.ratio) == ((), ("a",), 1)
        assert [(quilt.quilt, quilt.size) for quilt in network_quilts(network, "wet")] == [(("rain",), 1), ((), 2)]
        best = best_network_quilts(network, epsilon("1/10"))
        assert best.rate == rational("1/20")

    def test_an_infinite_influence(self):
        network = Network.exchangeable(["a", "b"], {0: "1/2", 2: "1/2"})
        first, second = network_quilts(network, "a")
        assert (first.quilt, first.ratio) == (("b",), None)
        assert second.quilt == ()
        assert best_network_quilts(network, epsilon(3)).rate == rational("3/2")

    def test_both_parents_of_a_child_meet(self):
        equal = {pair: {"yes": 1} if pair[0] == pair[1] else {"no": 1} for pair in product(("yes", "no"), repeat=2)}
        network = Network.of(
            {"a": COIN, "b": COIN, "same": {"parents": ["a", "b"], "values": ["yes", "no"], "table": equal}}
        )
        quilts = {quilt.quilt: quilt for quilt in network_quilts(network, "a")}
        assert set(quilts) == {(), ("b",), ("same",), ("b", "same")}
        assert quilts["b",].ratio == 1
        assert quilts["same",].ratio == 4
        assert quilts["b", "same"].ratio is None

    def test_a_star_is_cut_in_its_branches(self):
        network = Network.of({"rain": COIN, **{f"w{i}": WET for i in range(4)}})
        quilts = {quilt.quilt: quilt for quilt in network_quilts(network, "rain", largest=4)}
        assert len(quilts) == 16
        assert quilts["w0", "w1", "w2", "w3"].local == ("rain",)
        assert quilts["w0", "w1"].ratio == rational("15/2") ** 2
        assert [len(network_quilts(network, "rain", largest=size)) for size in (0, 1, 2)] == [1, 5, 11]
        leaf = {quilt.quilt for quilt in network_quilts(network, "w0", largest=2)}
        assert leaf == {(), ("rain",), ("w1",), ("w2",), ("w3",), ("w1", "w2"), ("w1", "w3"), ("w2", "w3")}

    def test_the_published_chain(self):
        """The published quilts of X8 in a chain that starts at rest; X1 itself, which is known, tells nothing: 12.9341."""
        network = Network.chain(WALK.starting((rational(1), rational(0))), 20)
        quilts = {quilt.quilt: quilt for quilt in network_quilts(network, "X8")}
        for quilt, influence, size in ((("X3", "X13"), 0.3089, 9), (("X13",), 0.1495, 12), (("X3",), 0.1593, 17)):
            assert float(arb(quilts[quilt].ratio).log()) == pytest.approx(influence, abs=5e-5)
            assert quilts[quilt].size == size
        assert quilts["X1", "X13"].ratio == quilts["X13",].ratio
        best = best_network_quilts(network, epsilon(1))
        assert best.quilts[7].quilt == ("X1", "X13")
        assert 1 / float(best.rate) == pytest.approx(12.9341, abs=5e-5)

    def test_a_node_with_one_possible_value_keeps_no_secret(self):
        network = Network.chain(WALK.starting((rational(1), rational(0))), 3)
        assert {quilt.ratio for quilt in network_quilts(network, "X1")} == {rational(1)}
        assert best_network_quilts(network, epsilon(1)).quilts[0].local == ("X1",)

    @pytest.mark.parametrize("budget", ["1/1000", "1", "ln(6)", "ln(2)/3 + 1/7", "20"])
    def test_the_rate_is_rounded_down(self, budget):
        network = Network.of({"rain": COIN, "wet": WET, "grass": changed(WET, parents=["wet"])})
        best = best_network_quilts(network, epsilon(budget))
        for quilt in best.quilts:
            rest = replace(epsilon(budget), shift=epsilon(budget).shift - quilt.size * best.rate)
            assert rest.compare_bound(quilt.ratio) >= 0
        more = best.rate * (1 + rational("1e-14"))
        assert any(
            replace(epsilon(budget), shift=epsilon(budget).shift - quilt.size * more).compare_bound(quilt.ratio) < 0
            for quilt in best.quilts
        )
        assert best.rate > 0

    def test_a_rate_that_is_rational_is_exact(self):
        network = Network.of({"rain": COIN, "wet": WET})
        assert best_network_quilts(network, epsilon("ln(279/19) + 7")).rate == 7
        assert best_network_quilts(network, epsilon("1/3")).rate == rational("1/6")

    def test_no_budget_and_every_budget(self):
        network = Network.of({"rain": COIN, "wet": WET})
        for budget in (epsilon(0), INFINITE):
            with pytest.raises(BudgetError, match="epsilon = "):
                best_network_quilts(network, budget)

    def test_thirty_nodes(self):
        chance = random.Random(5)
        network = Network.of(
            {"n0": changed(COIN), **{f"n{i}": changed(WET, parents=[f"n{chance.randrange(i)}"]) for i in range(1, 30)}}
        )
        best = best_network_quilts(network, epsilon(4))
        assert float(best.rate) > 1.2 * 4 / 30
        laws = network_laws(network, count("yes"))
        assert len(laws) == 60
        assert all(sum(law.values()) == 1 for law in laws.values())


class TestLaws:
    def test_the_flu(self):
        network = Network.exchangeable(["Ann", "Bob", "Cem", "Dot"], FLU)
        laws = network_laws(network, count("ill"))
        for person in network.names:
            healthy, ill = laws[person, "healthy"], laws[person, "ill"]
            assert [float(healthy.get(n, 0)) for n in range(5)] == [0.2, 0.225, 0.5, 0.075, 0]
            assert [float(ill.get(n, 0)) for n in range(5)] == [0, 0.075, 0.5, 0.225, 0.2]

    def test_values_that_are_impossible_have_none(self):
        laws = network_laws(Network.chain(WALK.starting((rational(1), rational(0))), 2), count("walk"))
        assert set(laws) == {("X1", "rest"), ("X2", "rest"), ("X2", "walk")}
        assert laws["X1", "rest"] == {0: rational("9/10"), 1: rational("1/10")}

    def test_negative_and_far_weights(self):
        network = Network.of({"rain": COIN, "wet": WET})
        near = network_laws(network, weighted_sum({"yes": -3, "no": "1/2"}))
        assert near["rain", "yes"] == {-12: rational("9/10"), -5: rational("1/10")}
        far = network_laws(network, weighted_sum({"yes": 10**12, "no": "-1/3"}))
        assert far["rain", "no"] == {6 * 10**12 // 2 - 1: rational("1/4"), -2: rational("3/4")}

    def test_parts_that_never_meet_add_up(self):
        network = Network.of({"a": COIN, "rain": COIN, "wet": WET})
        laws = network_laws(network, count("yes"))
        assert laws["a", "yes"] == {
            1: rational("3/5"),
            2: rational("4/5") * rational("1/4") + rational("1/5") * rational("1/10"),
            3: rational("9/50"),
        }

    def test_only_sums(self):
        with pytest.raises(ScenarioError, match="a histogram has no law of a sum"):
            network_laws(Network.of({"rain": COIN}), histogram(["yes", "no"]))

    def test_a_long_chain_agrees_with_the_binomial(self):
        even = Chain.of({"0": {"0": "1/2", "1": "1/2"}, "1": {"0": "1/2", "1": "1/2"}})
        law = network_laws(Network.chain(even, 101), count("1"))["X50", "0"]
        assert law == {n: rational(comb(100, n)) / 2**100 for n in range(101)}
