"""Gaussian chains: how far answers move, against enumeration; claims, against the laws themselves; priors, files, tables and releases."""

import json
from fractions import Fraction
from itertools import product
from math import exp, inf
from random import Random

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr
from tests.certificates import recheck

import privproof
from privproof import release
from privproof.errors import PrivproofError
from privproof.exact import fraction, rational
from privproof.release import Gaussian, GaussianChain, Geometric, Laplace, calibrate, linear, verify
from privproof.release.gaussian_shifts import largest_shift, own_noise
from privproof.release.prior_files import prior_text, read_prior
from privproof.release.table_release import Paid, Request, release_table
from privproof.release.tables.table_files import Bins
from privproof_checker.outcomes import Accepted, Rejected


def some(random, *, length, cut=False, narrower=False, variance=None, band=True):
    """A Gaussian chain and weights, by chance."""

    def bounds():
        ends = sorted(random.randint(-95, 95) for _ in range(2))
        return tuple(f"{end}/100" for end in ends) if band else f"{ends[0]}/100"

    beside = {"values": (0, 10)} if cut else {}
    start = "narrower" if narrower else "stationary"
    prior = GaussianChain.schedule(
        [bounds() for _ in range(length - 1)],
        distance=random.choice([1, 3, 10]),
        start=start,
        variance=variance,
        **beside,
    )
    weights = [random.choice([-2, -1, 0, 1, 2, 3]) for _ in range(length)]
    return prior, weights if any(weights) else [1] * length


def regressions(correlations, variances):
    """The coefficient of every entry on every other one: the covariance of a Gaussian chain, over the variance."""
    length = len(variances)
    found = np.ones((length, length))
    for i in range(length):
        for j in range(length):
            low, high = min(i, j), max(i, j)
            # X_(t+1) = r_t X_t + noise, so the covariance of low and high is the variance of low times the product
            found[i, j] = variances[low] * np.prod(correlations[low:high]) / variances[i]
    return found


def conditional(correlations, weights, node, variance):
    """How far the answer moves when the entry moves by one, and its variance given the entry, from the covariance matrix."""
    length = len(weights)
    cov = variance * np.array(
        [[np.prod(correlations[min(i, j) : max(i, j)]) for j in range(length)] for i in range(length)]
    )
    total = weights @ cov @ weights
    shared = (cov @ weights)[node]
    return shared / cov[node, node], total - shared**2 / cov[node, node]


# -------------------------------------------------------------------------------------------------------- how far it moves


@pytest.mark.parametrize("seed", range(60))
def test_the_move_is_the_largest_over_all_ends_of_the_bounds(seed):
    random = Random(seed)
    length, cut = random.randint(3, 5), seed % 2 == 1
    prior, weights = some(random, length=length, cut=cut)
    largest = -1
    steps = [[fraction(end) for end in ends] for ends in prior.steps]
    for correlations in product(*steps):
        for node in range(length):
            parts = []
            for other in range(length):
                part = weights[other]
                for step in correlations[min(node, other) : max(node, other)]:
                    part *= step
                parts.append(part)
            if cut:
                found = max(sum(p for p in parts if p > 0), -sum(p for p in parts if p < 0))
            else:
                found = abs(sum(parts))
            largest = max(largest, found)
    shift = largest_shift(prior, linear(weights), [length])
    assert fraction(shift.distance) == fraction(shift.surely) == largest * fraction(prior.distance)


@pytest.mark.parametrize("seed", range(20))
def test_a_narrower_start_moves_no_further(seed):
    """Whatever variance the first entry has, up to that of the others."""
    random = Random(seed)
    length = random.randint(3, 6)
    prior, weights = some(random, length=length, narrower=True)
    bound = float(largest_shift(prior, linear(weights), [length]).distance)
    for _ in range(50):
        correlations = [
            random.choice([float(low), float(high), (float(low) + float(high)) / 2]) for low, high in prior.steps
        ]
        variances = [random.choice([1e-9, 0.1, 0.5, 1.0])]
        for step in correlations:
            variances.append(step**2 * variances[-1] + 1 - step**2)
        moved = abs(regressions(correlations, variances) @ np.array(weights)).max() * float(prior.distance)
        assert moved <= bound * (1 + 1e-9)


def test_long_series_are_rounded_outwards_and_end_where_a_series_of_powers_does():
    prior = GaussianChain.of("9/10", distance=1)
    shift = largest_shift(prior, linear(), [20_000])
    assert shift.surely < 19 <= shift.distance < 19 + rational("1e-60")
    assert shift.distance - shift.surely < rational("1e-60")


def test_of_negative_correlations_a_sum_needs_less_noise_than_one_entry_and_cut_off_it_does_not():
    assert largest_shift(GaussianChain.of("-1/2", distance=1), linear(), [3]).distance == 1 - rational("1/4")
    assert largest_shift(GaussianChain.of("-1/2", values=(0, 1)), linear(), [3]).distance == 1 + rational("1/4")


@pytest.mark.parametrize("seed", range(20))
def test_what_a_series_varies_by_itself_is_no_more_than_it_is(seed):
    random = Random(seed)
    length = random.randint(2, 6)
    variance = random.choice([1, 4])
    prior, weights = some(random, length=max(3, length), variance=variance)
    known = own_noise(prior, linear(weights), [len(weights)])
    for _ in range(30):
        correlations = [random.uniform(float(low), float(high)) for low, high in prior.steps]
        for node in range(len(weights)):
            moved, varied = conditional(correlations, np.array(weights, dtype=float), node, variance)
            assert abs(moved) * float(prior.distance) <= known.moved[node] * (1 + 1e-9)
            assert varied >= known.variances[node] * (1 - 1e-9) - 1e-12


def test_what_a_series_varies_by_itself_is_exact_where_the_correlations_are_known():
    prior = GaussianChain.schedule(["1/2", "-1/3", "3/4"], distance=1, variance=3)
    weights = np.array([1.0, 2, -1, 1])
    known = own_noise(prior, linear([1, 2, -1, 1]), [4])
    for node in range(4):
        moved, varied = conditional([0.5, -1 / 3, 0.75], weights, node, 3)
        assert known.moved[node] == pytest.approx(abs(moved))
        assert known.variances[node] == pytest.approx(varied)


# ----------------------------------------------------------------------------------- the laws of what is released, in numbers


def noise_masses(noise, step, reach):
    """The probabilities of whole steps of the noise; of Laplace noise between them."""
    ks = np.arange(-reach, reach + 1)
    if isinstance(noise, Geometric):
        alpha = float(noise.alpha)
        return (1 - alpha) / (1 + alpha) * alpha ** abs(ks)
    if isinstance(noise, Gaussian):
        masses = np.exp(-(ks**2) * step**2 / (2 * float(noise.variance)))
        return masses / masses.sum()
    edges = (np.arange(-reach, reach + 2) - 0.5) * step / float(noise.scale)
    at_most = np.where(edges < 0, np.exp(np.minimum(edges, 0)) / 2, 1 - np.exp(-np.maximum(edges, 0)) / 2)
    return np.diff(at_most)


def released(points, masses, noise, step, reach):
    """The law of what is released, given that of the answer: all outputs within reach."""
    rounded = np.floor(np.asarray(points) / step + 0.5).astype(int)
    law = np.zeros(2 * reach + 1)
    inside = abs(rounded) <= reach
    np.add.at(law, rounded[inside] + reach, np.asarray(masses)[inside])
    return np.convolve(law, noise_masses(noise, step, reach))[reach : 3 * reach + 1]


def excess(one, other, epsilon):
    return max(np.maximum(a - exp(epsilon) * b, 0).sum() for a, b in ((one, other), (other, one)))


def divergence(one, other, order):
    """The larger Rényi divergence of an order, without outputs that are too rare for floats: no more than the truth."""
    found = 0.0
    for a, b in ((one, other), (other, one)):
        there = (a > 1e-9) & (b > 1e-9)
        a, b = a[there], b[there]
        if order == 1:
            found = max(found, float((a * np.log(a / b)).sum()))
        else:
            found = max(found, float(logsumexp(order * np.log(a) + (1 - order) * np.log(b))) / (order - 1))
    return found


def normal(mean, deviation, *, width=9.0, number=4001):
    """Points and masses of a normal law."""
    edges = mean + deviation * np.linspace(-width, width, number + 1)
    return (edges[:-1] + edges[1:]) / 2, np.diff(ndtr((edges - mean) / deviation))


def laws_given(random, prior, weights, correlations, deviation, noise, step, reach):
    """The laws of what is released given two values of every entry, for means by chance; of up to three entries."""
    length = len(weights)
    distance = float(prior.distance)
    for node in range(length):
        means = [random.uniform(0, 10) for _ in range(length)]
        low = random.uniform(0, 10 - distance)
        laws = []
        for value in (low, low + distance):
            others = [other for other in range(length) if other != node]
            parts = [(np.array([weights[node] * value]), np.array([1.0]))]
            if length == 3 and node != 1:  # the ends of a chain: one after the other
                first, last = (1, 2) if node == 0 else (1, 0)
                near, far = (correlations[0], correlations[1]) if node == 0 else (correlations[1], correlations[0])
                x, p = normal(means[first] + near * (value - means[node]), deviation * (1 - near**2) ** 0.5, number=301)
                z, q = normal(0, deviation * (1 - far**2) ** 0.5, number=301)
                y = means[last] + far * (x[:, None] - means[first]) + z[None, :]
                seen = weights[first] * cut(prior, x)[:, None] + weights[last] * cut(prior, y)
                parts.append((seen.ravel(), (p[:, None] * q[None, :]).ravel()))
            else:
                for other in others:
                    near = correlations[min(node, other)]
                    x, p = normal(
                        means[other] + near * (value - means[node]), deviation * (1 - near**2) ** 0.5, number=301
                    )
                    parts.append((weights[other] * cut(prior, x), p))
            points, masses = parts[0]
            for more, chances in parts[1:]:
                points = (points[:, None] + more[None, :]).ravel()
                masses = (masses[:, None] * chances[None, :]).ravel()
            laws.append(released(points, masses, noise, step, reach))
        yield laws


def cut(prior, values):
    return values if prior.values is None else np.clip(values, float(prior.values[0]), float(prior.values[1]))


@pytest.mark.parametrize("seed", range(16))
def test_no_claim_is_below_the_truth(seed):
    """Of two and three entries, with values cut off and without, under all noises: everything that is proved holds in numbers."""
    random = Random(seed)
    length, cut_off = random.choice([2, 3]), seed % 2 == 0
    prior = GaussianChain.of(
        (f"{random.randint(-90, 0)}/100", f"{random.randint(0, 90)}/100"),
        distance=random.choice([2, 5]),
        values=(0, 10) if cut_off else None,
    )
    weights = [random.choice([-1, 1, 2]) for _ in range(length)]
    step = random.choice(["1/2", "1", "3/4"])
    query, number = linear(weights, step=step), float(rational(step))
    noise = [Geometric.of("4/5", step=step), Gaussian.of(60, step=step), Laplace.of(6)][seed % 3]
    asked = {"query": query, "noise": noise, "length": length}
    reach = 400
    top = inf if isinstance(noise, Gaussian) else float(verify(prior, **asked).upper.ball())
    orders = {
        order: least(lambda value, order=order: verify(prior, **asked, renyi={order: value}), 64) for order in (1, 2, 4)
    }
    deltas = {}
    if isinstance(noise, Gaussian):
        deltas = {e: least(lambda value, e=e: verify(prior, **asked, epsilon=e, delta=value), 1) for e in ("3/10", "1")}
    for _ in range(4):
        correlations = [random.choice([float(end) for end in prior.steps[0]]) for _ in range(length - 1)]
        deviation = random.choice([0.05, 1.0, 4.0])
        for one, other in laws_given(random, prior, weights, correlations, deviation, noise, number, reach):
            assert top == inf or excess(one, other, top) < 1e-9
            for epsilon, delta in deltas.items():
                assert excess(one, other, float(rational(epsilon))) <= delta + 1e-9
            for order, most in orders.items():
                assert divergence(one, other, order) <= most + 1e-5


def least(asked, most):
    """The least value that is proved, by bisection."""
    low, high = 0.0, float(most)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if asked(f"{middle:.12f}").status == "proved" else (middle, high)
    return high


@pytest.mark.parametrize("seed", range(8))
def test_what_counts_the_series_themselves_is_no_less_than_the_truth(seed):
    """The answer given two values is normal with another mean; it is rounded, and the noise is added."""
    random = Random(seed)
    prior, weights = some(random, length=random.randint(3, 6), variance=random.choice([1, 9]), band=False)
    query = linear(weights, step="1/2")
    noise = Gaussian.of(random.choice([1, 4, 30]), step="1/2")
    asked = {"query": query, "noise": noise, "length": len(weights)}
    rho = least(lambda value: verify(prior, **asked, rho=value), 200)
    delta = least(lambda value: verify(prior, **asked, epsilon="1/2", delta=value), 1)
    for node in range(len(weights)):
        moved, varied = conditional(
            [float(low) for low, _ in prior.steps], np.array(weights, dtype=float), node, float(prior.variance)
        )
        mean = random.uniform(-1, 1)
        laws = [
            released(*normal(mean + shift, max(varied, 1e-12) ** 0.5), noise, 0.5, 600)
            for shift in (0.0, moved * float(prior.distance))
        ]
        assert excess(*laws, 0.5) <= delta + 1e-9
        for order in (1, 2, 5):
            assert divergence(*laws, order) <= rho * order + 1e-5


def test_own_variation_lessens_the_noise_and_is_said():
    prior = GaussianChain.of("1/2", distance=2, variance=4)
    made = {
        method: calibrate(prior, length=30, query=linear(), epsilon=1, delta="1e-6", noise="gaussian", method=method)
        for method in ("coupling", "own")
    }
    assert made["own"].noise.variance < made["coupling"].noise.variance
    assert [bool(verify(each).notes) for each in made.values()] == [False, True]
    for missing in (GaussianChain.of("1/2", distance=2), GaussianChain.of("1/2", values=(0, 2), variance=4)):
        with pytest.raises(PrivproofError, match=r"no variance is stated|cut off at a range"):
            calibrate(missing, length=30, query=linear(), rho=1, noise="gaussian", method="own")


# ------------------------------------------------------------------------------------------------------------- refutations


@pytest.mark.parametrize("seed", range(12))
def test_what_is_refuted_some_series_that_hardly_vary_exceed(seed):
    random = Random(seed)
    cut_off = seed % 2 == 0
    prior = GaussianChain.of(("-1/2", "9/10"), distance=random.choice([1, 3]), values=(0, 3) if cut_off else None)
    step = random.choice(["1/2", "1/3", "1"])
    noise = [Geometric.of("3/4", step=step), Laplace.of(2), Gaussian.of(3, step=step)][seed % 3]
    asked = {"query": linear(step=step), "noise": noise, "length": 2}
    claim = {"epsilon": "1/10", "delta": "1/1000"} if isinstance(noise, Gaussian) else {"epsilon": "1/10"}
    found = verify(prior, **asked, **claim)
    assert found.status == "refuted"
    # both entries at 9/10: means well within the range, from many places
    distance, best = float(prior.distance), 0.0
    for place in np.linspace(0, 0.999, 37):
        answers = [place + shift for shift in (0.0, 1.9 * distance)]
        laws = [released(*normal(answer, 1e-6, number=101), noise, float(rational(step)), 300) for answer in answers]
        best = max(best, excess(*laws, 0.1) - (1e-3 if isinstance(noise, Gaussian) else 0))
    assert best > 0
    if not isinstance(noise, Gaussian):
        least_loss = float(found.lower.ball())
        assert least_loss >= 1.9 * distance * float(noise.rate()) - float(rational(step)) * float(noise.rate()) - 1e-9


def test_without_a_range_the_tight_epsilon_is_the_move_of_the_answer():
    prior = GaussianChain.of("1/2", distance=2)
    found = verify(prior, query=linear(step="1/10"), noise=Laplace.of(5), length=6)
    assert (found.status, str(found.tight)) == ("proved", "53/50")
    assert verify(prior, query=linear(step="1/10"), noise=Laplace.of(5), length=6, epsilon="53/50").status == "proved"
    refuted = verify(prior, query=linear(step="1/10"), noise=Laplace.of(5), length=6, epsilon="1.059")
    assert refuted.status == "refuted"
    assert refuted.witness.left == "X_3 = x + 2"


def test_what_is_not_known_to_be_reached_is_not_refuted():
    for prior in (
        GaussianChain.of("1/2", distance=2, variance=1),
        GaussianChain.of("1/2", distance=2, start="narrower"),
    ):
        assert verify(prior, query=linear(step=1), noise=Laplace.of(1), length=6, epsilon=1).status == "unknown"
    single = GaussianChain.of(
        "0", values=(0, 1)
    )  # from 0 to 1 there are three steps of 0.3 once both ends are rounded, and not four
    found = verify(single, query=linear(step="3/10"), noise=Laplace.of(1), length=1)
    assert (str(found.lower), str(found.upper)) == ("9/10", "6/5")


# ------------------------------------------------------------------------------------------------------------ certificates


MADE = {
    "geometric": {"epsilon": 1},
    "laplace": {"renyi": {2: "1/4"}},
    "gaussian": {"epsilon": 1, "delta": "1e-6"},
    "rho": {"rho": "1/8"},
}


@pytest.mark.parametrize("kind", MADE)
def test_a_certificate_of_anything_easier_is_rejected(kind):
    prior = GaussianChain.of(("1/2", "4/5"), values=(0, 10), distance=5)
    noise = "gaussian" if kind == "rho" else kind
    found = verify(calibrate(prior, length=12, query=linear(), noise=noise, **MADE[kind]))
    assert isinstance(recheck(found.certificate), Accepted)
    for change in (
        lambda asked: asked["priors"][0].update(distance="6"),
        lambda asked: asked["priors"][0].update(steps=[["1/2", "9/10"]]),
        lambda asked: asked["priors"][0].update(steps=[["1/2", "1"]]),
        lambda asked: asked["priors"][0].update(steps=[]),
        lambda asked: asked["priors"][0].update(distance="0"),
        lambda asked: asked["priors"][0].update(start="any"),
        lambda asked: asked["priors"][0].update(values=["0", "4"]),
        lambda asked: asked["priors"][0].update(variance="-1"),
        lambda asked: asked["query"].update(weights=["2"]),
        lambda asked: asked["query"].update(weights=["1", "1"]),
        lambda asked: asked["query"].update(step="0"),
        lambda asked: asked.update(lengths=[20]),
        lambda asked: asked.update(lengths=[]),
        lambda asked: asked["noise"].update({"alpha": "1/2", "scale": "1", "variance": "1"}),
        lambda asked: asked.update(query={"kind": "sum", "weights": {}, "step": "1"}),
        lambda asked: asked["priors"].append(asked["priors"][0]),
    ):
        document = json.loads(json.dumps(found.certificate))
        asked = document["question"].get("of", document["question"])
        change(asked)
        assert isinstance(recheck(document), Rejected), change
    for rule in ("coupling", "distance", "laws", "quilts", "contraction", "parts"):
        document = json.loads(json.dumps(found.certificate))
        fact = document["facts"][-1]
        if fact["rule"] == "release":
            fact["hint"]["proofs"][0]["method"] = rule
        else:
            fact["rule"] = rule
        assert isinstance(recheck(document), Rejected)


@pytest.mark.parametrize("noise", [Laplace.of(5), Geometric.of("9/10"), Gaussian.of(4)])
def test_a_verdict_cannot_be_turned_round(noise):
    prior = GaussianChain.of("1/2", distance=2)
    claim = {"delta": "1/1000"} if isinstance(noise, Gaussian) else {}
    for epsilon in ("1/100", "30"):
        found = verify(prior, query=linear(step=1), noise=noise, length=6, epsilon=epsilon, **claim)
        assert found.status == ("refuted" if epsilon == "1/100" else "proved")
        document = json.loads(json.dumps(found.certificate))
        fact = document["facts"][-1]
        assert isinstance(recheck(document), Accepted)
        fact["claim"] = "proved" if fact["claim"] == "refuted" else "refuted"
        assert isinstance(recheck(document), Rejected)


def test_divergences_are_refuted_by_an_order():
    prior = GaussianChain.of("1/2", distance=2)
    for noise in (Laplace.of(5), Geometric.of("9/10"), Gaussian.of(4)):
        found = verify(prior, query=linear(step=1), noise=noise, length=6, renyi={2: "1/100"})
        assert found.status == "refuted"
        document = json.loads(json.dumps(found.certificate))
        assert isinstance(recheck(document), Accepted)
        document["question"]["budgets"][0]["value"] = "100"
        assert isinstance(recheck(document), Rejected)
        for order in ("1/2", "0"):
            document = json.loads(json.dumps(found.certificate))
            document["facts"][-1]["hint"]["order"] = order
            assert isinstance(recheck(document), Rejected)


# -------------------------------------------------------------------------------------------------- priors, files, messages


REAL = GaussianChain.of("1/2", values=(0, 10))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: GaussianChain.of(1, distance=1), "correlation 1"),
        (lambda: GaussianChain.of("-1", distance=1), "correlation -1"),
        (lambda: GaussianChain.of(("0.5", "1"), distance=1), "from 1/2 = 0.5 to 1"),
        (lambda: GaussianChain.of(("0.5", "0.4"), distance=1), "from 1/2"),
        (lambda: GaussianChain.of(0.5, distance=1), "float"),
        (lambda: GaussianChain.of("0.5"), "how far apart"),
        (lambda: GaussianChain.of("0.5", distance=0), "distance = 0"),
        (lambda: GaussianChain.of("0.5", values=(3, 3)), "is empty"),
        (lambda: GaussianChain.of("0.5", values=(0, 1), distance=2), "2 apart"),
        (lambda: GaussianChain.of("0.5", values=5), "no range"),
        (lambda: GaussianChain.of("0.5", distance=1, variance=0), "variance: it is 0"),
        (lambda: GaussianChain.of("0.5", distance=1, variance=-2), "variance: it is -2"),
        (lambda: GaussianChain.of("0.5", distance=1, start="any"), "no start"),
        (lambda: GaussianChain.schedule(["0.5"], distance=1), "1 steps"),
        (lambda: GaussianChain.of("0.5", distance="1e400"), "another unit"),
        (lambda: GaussianChain.of("0.5", distance=1, variance="1e-400"), "another unit"),
        (lambda: calibrate(REAL, length=3, query=linear(), rho=0, noise="gaussian"), "rho = 0"),
        (lambda: linear(0), "every weight is 0"),
        (lambda: linear([]), "every weight is 0"),
        (lambda: linear(step=0), "above 0"),
        (lambda: linear(0.5), "float"),
    ],
)
def test_nonsense_is_told(made, said):
    with pytest.raises(PrivproofError, match=said.replace("(", r"\(")):
        made()


CHAIN = release.Chain.of({"a": {"a": "1/2", "b": "1/2"}, "b": {"a": "1/2", "b": "1/2"}})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"priors": CHAIN, "query": linear()}, "has states"),
        ({"priors": REAL, "query": release.count("a")}, "no query of real numbers"),
        ({"priors": [REAL, REAL], "query": linear()}, "stands alone"),
        ({"priors": REAL, "query": linear([1, 2])}, "2 weights"),
        ({"priors": REAL, "query": linear(), "method": "quilt"}, "not for Gaussian chains"),
        ({"priors": REAL, "query": linear(), "noise": "gaussian"}, "without a delta"),
        ({"priors": REAL, "query": linear(), "delta": "1/10"}, "needs no delta"),
        ({"priors": GaussianChain.schedule(["1/2", "1/3"], distance=1), "query": linear()}, "2 steps"),
    ],
)
def test_what_does_not_fit_is_told(asked, said):
    with pytest.raises(PrivproofError, match=said):
        calibrate(asked.pop("priors"), length=8, epsilon=1, **asked)


def test_verifying_wants_a_step():
    with pytest.raises(PrivproofError, match="rounded to a step"):
        verify(REAL, query=linear(), noise=Laplace.of(1), length=3)
    with pytest.raises(PrivproofError, match="do not reach all multiples"):
        verify(REAL, query=linear(step="1/10"), noise=Geometric.of("1/2", step=1), length=3)


@pytest.mark.parametrize(
    "prior",
    [
        GaussianChain.of("9/10", distance=20),
        GaussianChain.of(("-1/10", "9/10"), values=("-1/2", 100), start="narrower", name="walks"),
        GaussianChain.schedule(["1/2", ("1/3", "2/3")], distance=20, variance="9/4"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_file_is_read_as_it_was_written(prior, suffix, tmp_path):
    path = tmp_path / f"prior{suffix}"
    path.write_text(prior_text([prior]), encoding="utf-8")
    assert read_prior(path) == (prior,)


# ------------------------------------------------------------------------------------------------------------ releases


def test_a_release_of_numbers_is_near_the_truth_and_cuts_them_off():
    made = calibrate(GaussianChain.of("1/2", values=(0, 10), distance=5), length=4, query=linear(), epsilon=1000)
    for data in ([1, "2.5", 3.0, 99], np.array([1, 2.5, 3.0, 99]), (1, 2.5, 3, 99.5)):
        assert abs(release.release(made, data).value - (1 + 2.5 + 3 + 10)) < 1
    for wrong in ([1, 2, 3], [1, 2, 3, float("nan")], "1234", {"a": 1}, [], [[1, 2], [3, 4]]):
        with pytest.raises(PrivproofError):
            release.release(made, wrong)
    both = calibrate(GaussianChain.of("1/2", values=(0, 10)), lengths=[2, 2], query=linear(), epsilon=1000)
    assert abs(release.release(both, [[1, 2], [3, 4]]).value - 10) < 1
    weighted = calibrate(GaussianChain.of("1/2", distance=1), length=3, query=linear([1, 0, "-1/2"]), epsilon=1000)
    assert abs(release.release(weighted, [1, 100, 4]).value - (-1)) < 1


def test_rounding_is_the_same_for_all_numbers():
    query = linear(step="1/2")
    assert [query.rounded(rational(value)) for value in ("1/4", "-1/4", "0.74", "0.75")] == [
        rational("1/2"),
        0,
        rational("1/2"),
        1,
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_of_numbers_is_added_up_exactly(library):
    frames = pytest.importorskip(library)
    values = [0.1] * 100 + [0.2] * 99 + [250.0]
    prior = GaussianChain.of("1/2", values=(0, 100))
    frame = frames.DataFrame({"w": values})
    record = release_table(Request(data=frame, column="w", query="sum:step=1/10", epsilon=10**4, priors=prior))
    assert record.verdict.status == "proved"
    assert abs(record.released.value - Fraction("129.8")) < 1
    assert any("beyond 0..100 count as its ends" in text for text in record.source.assumptions)


def test_missing_entries_loosen_the_correlations(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("w\n" + "\n".join(["1", "2", "", "3", "4"] * 10) + "\n", encoding="utf-8")
    prior = GaussianChain.of(("1/2", "3/4"), values=(0, 5))
    asked = {"data": str(path), "column": "w", "query": "mean", "epsilon": 1, "priors": prior}
    joined = release_table(Request(**asked))
    assert joined.priors[0].steps == ((0, rational("3/4")),)
    assert joined.made.question.lengths == (40,)
    apart = release_table(Request(**asked, gaps="independent"))
    assert apart.priors == (prior,)
    assert max(apart.made.question.lengths) == 4
    assert any("independent" in text for text in apart.source.warnings)


def test_a_cell_that_is_no_number_is_told_with_its_place(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("w\n1\nmany\n", encoding="utf-8")
    with pytest.raises(PrivproofError, match="'many' is no number"):
        release_table(Request(data=str(path), column="w", query="mean", epsilon=1, priors=REAL))


def test_measured_without_a_claim_the_smallest_values_are_enclosed():
    for noise in (Gaussian.of(49, step=1), Laplace.of(7), Geometric.of("9/10")):
        question = release.ReleaseQuestion(
            priors=(GaussianChain.of("1/2", distance=2),), lengths=(6,), entries=6, query=linear(step=1), noise=noise
        )
        for found in (privproof.tight_rho(question), privproof.tight_renyi(question, order=2)):
            assert found.status == "proved"
            assert found.certified.lower
            assert found.certified.upper
            assert found.lower.compare(found.upper) < 0
            assert float(found.upper.ball()) < 4 * float(found.lower.ball())
    exact = privproof.tight_rho(question.__class__(**{**vars(question), "noise": Gaussian.of(49, step=1)}))
    assert float(exact.upper.ball()) == pytest.approx(36 / 98)  # six steps: ceil of 5.3
    assert float(exact.lower.ball()) == pytest.approx(36 / 98)


def test_several_lengths_are_judged_each():
    prior = GaussianChain.of(("-1/2", "1/2"), distance=2)
    alone = [largest_shift(prior, linear(), [length]).distance for length in (1, 3, 9)]
    assert largest_shift(prior, linear(), [9, 1, 3]).distance == max(alone)


@pytest.mark.parametrize("noise", [Gaussian.of(49, step=1), Laplace.of(7), Geometric.of("9/10")])
def test_a_step_beyond_the_range_is_still_one_step(noise):
    """From nothing to everything the rounded answer may move by one step, or by none: nothing is known from below."""
    asked = {"query": linear(step=100), "noise": noise, "length": 3}
    prior = GaussianChain.of("1/2", values=(0, 1))
    claim = {"delta": "1e-6"} if isinstance(noise, Gaussian) else {}
    assert verify(prior, **asked, epsilon="1/10", **claim).status == "unknown"
    assert verify(prior, **asked, renyi={2: "1/10"}).status == "unknown"
    assert verify(prior, **asked, rho=200).status == "proved"


def test_methods_side_by_side_are_those_that_apply():
    errors = release.errors_by_method(REAL, query=linear(), epsilons=[1], lengths=[8])
    assert [*errors] == ["group"]


def test_a_question_about_a_gaussian_chain_is_checked_as_all_others():
    made = calibrate(GaussianChain.of("1/2", values=(0, 2)), length=6, query=linear(), epsilon=1)
    found = privproof.check(made.question)
    assert found.status == "proved"
    assert "at most 2 apart" in str(found)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"query": "histogram"}, "no query of real numbers"),
        ({"query": "sum:step=0"}, "above 0"),
        ({"query": "sum:step=many"}, "query"),
        ({"query": "mean", "bins": Bins.of(0, 1, 10)}, "real numbers"),
        ({"query": "mean", "states": ("a", "b")}, "real numbers"),
    ],
)
def test_what_is_no_release_of_numbers_is_told(given, said, tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("w\n1\n2\n", encoding="utf-8")
    with pytest.raises(PrivproofError, match=said):
        release_table(Request(data=str(path), column="w", epsilon=1, priors=REAL, **given))


def test_an_account_does_not_take_it(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("w\n1\n2\n", encoding="utf-8")
    ledger = release.Ledger.create(tmp_path / "spent.ledger", epsilon=10)
    paid = Paid(ledger)
    with pytest.raises(PrivproofError, match="budget"):
        release_table(Request(data=str(path), column="w", epsilon=1, query="mean", priors=REAL, paid=paid))
