"""The rules: for every kind of question and every rule, what is established by it, from what, and the theorem by which it follows.

This is the one table by which facts are read (`facts`): which verdict a rule establishes, the fields of its hint, and the facts that it
uses.  A verdict is *witnessed* where the certificate holds what shows it, and the checker follows that; *recomputed* where the checker
finds it out by itself.  The theorems are those of the reference of certificates, each in a sentence or two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from privproof_checker.hints import Hint

WORDS = ("hmm", "markov-chain", "transducer")
"""The kinds of questions about the words of a model, which share their methods."""


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        verdict: what it establishes: proved, refuted, or either.
        hint: the fields of its hint, and the facts that it uses.
        by: whether the certificate holds what shows the verdict.
        words: what was followed, or computed again.
        theorem: why the verdict follows from it.
        figures: what of the details tells how much it was, with the words for each.
    """

    verdict: Literal["proved", "refuted", "either"]
    hint: Hint
    by: Literal["witnessed", "recomputed"]
    words: str
    theorem: str
    figures: tuple[tuple[str, str], ...] = ()


def rule_of(kind: object, name: object) -> Rule:
    """The rule of a name for a kind of question."""
    return RULES["words" if kind in WORDS else str(kind), str(name)]


_EVENT = "An event with P(E) > e^epsilon Q(E) + delta contradicts the claim as it is defined."
_SHIFTED = (
    "The noise of the second run is that of the first, shifted as the certificate says. Each shift depends on nothing that is drawn "
    "later, so that this is one to one; on every path between two cuts the invariants follow, the outputs are the same, and the shifts "
    "cost no more than the claim, but for noise that has at most the probability delta. By substitution in the integral every set of "
    "outputs is at most e^epsilon times as likely, plus delta."
)
_FROM_RUNS = (
    "The trees hold all runs of the function, on every data set that is compared, with the probability of every way."
)
_CHANCES = (("left_probability", "P = {}"), ("right_probability", "Q = {}"))
_SIDES = (("left", "P = {}"), ("right", "Q = {}"))
_CONDITIONS = (("paths", "{} paths"), ("conditions", "{} conditions"), ("lemmas", "{} combinations of rows"))

RULES: Mapping[tuple[str, str], Rule] = {
    ("words", "word"): Rule(
        "refuted",
        Hint(
            "left:object right:object word:list ending?:text only?:text left_probability:number right_probability:number"
        ),
        "witnessed",
        "a word, whose two probabilities were computed again",
        "Both probabilities of a word are a vector times one matrix for every letter times a column. A compared word with "
        "P(w) > e^epsilon Q(w) + delta contradicts the claim as it is defined.",
        (("length", "{} letters"), *_CHANCES, ("ratio", "P/Q = {}")),
    ),
    ("words", "event"): Rule(
        "refuted",
        Hint(
            "left:object right:object words:list ending?:text only?:text length?:integer left_probability?:number right_probability?:number"
        ),
        "witnessed",
        "an event, whose two probabilities were computed again",
        f"The words exclude each other, and one adversary plays them all, so that their probabilities add up. {_EVENT}",
        (("words", "{} words"), *_CHANCES),
    ),
    ("words", "pump"): Rule(
        "refuted",
        Hint(
            "left:object right:object before:list repeated:list after:list ending?:text only?:text classes?:object "
            "left_vector:list right_vector:list left_rate:number right_rate:number"
        ),
        "witnessed",
        "a word that is repeated, whose rates were computed again",
        "Every repetition multiplies what is left of P by at least the left rate and Q by at most the right one, which is smaller: "
        "their quotient grows beyond every bound.",
        (("left_rate", "left rate {}"), ("right_rate", "right rate {}")),
    ),
    ("words", "cone"): Rule(
        "proved",
        Hint("nodes:list starts:list"),
        "witnessed",
        "a cone of vectors, of which every start, step and end was compared",
        "Every start, and every generator after every letter, is on the left at most and on the right at least a sum of generators with "
        "factors that are not negative; where words end every generator keeps the bound. By induction on its length every word does.",
        (("nodes", "{} nodes"), ("generators", "{} generators")),
    ),
    ("words", "ratios"): Rule(
        "proved",
        Hint("nodes:list starts:list"),
        "witnessed",
        "ratios of futures, of which every start, step and end was compared",
        "At every node the future of one state is bounded by multiples of the futures of others; every letter and every end keeps these "
        "bounds, so that by induction on the length they hold, and with them the claim at every start.",
        (("nodes", "{} nodes"), ("ratios", "{} ratios")),
    ),
    ("words", "enumeration"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "all compared words",
        "Every compared word is gone through and compared; over events the excesses P(w) - e^epsilon Q(w) above 0 are added up, with the "
        "inputs that an adversary would choose.",
        (("comparisons", "{} comparisons"), ("largest_excess", "largest excess {}")),
    ),
    ("words", "worst way"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the ratios of all moves, multiplied along the worst way",
        "Going backwards, the largest quotient of a state is that of a move under the two inputs times that of the state it leads to. By "
        "induction no word's quotient is larger, because a sum's quotient is at most the largest of its terms.",
        (("compared", "{} moves"),),
    ),
    ("words", "tensors"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the output law of every input",
        "The law of the output is computed for every input, and every pair of neighbours is compared output by output.",
        (("inputs", "{} inputs"), ("outputs", "{} outputs"), ("comparisons", "{} comparisons")),
    ),
    ("program", "alignment"): Rule(
        "proved",
        Hint(
            "cuts:list bounds:list paths:list invariants:object promises?:list foretold?:object places?:integer range?:number",
            uses="conditions",
        ),
        "witnessed",
        "an alignment, whose conditions were followed by their multipliers",
        _SHIFTED,
        _CONDITIONS,
    ),
    ("program", "cells"): Rule(
        "proved",
        Hint("cells:list field?:any kept:list records:list", uses="part"),
        "witnessed",
        "an alignment of some cells, whose conditions were followed by their multipliers, and that the others are like them",
        f"The cells are independent and alike but for their keys, and a change of one record meets few of them. {_SHIFTED}",
        (("cells", "{} cells"), ("kept", "{} that stand for all"), *_CONDITIONS),
    ),
    ("program", "mixture"): Rule(
        "proved",
        Hint("classes:list pairings:list plans:list", uses="parts"),
        "witnessed",
        "alignments of what is mixed, whose conditions were followed by their multipliers, and plans that were added up",
        "The coins of every record make its law a mixture of classes. Between classes alignments bound the quotients; a plan that moves "
        "one mixture to the other one bounds theirs.",
        (("classes", "{} classes"), ("pairs", "{} pairs of them")),
    ),
    ("program", "loss"): Rule(
        "refuted",
        Hint("event?:text pattern:object left:object right:object"),
        "witnessed",
        "an event, whose two probabilities were integrated again",
        f"The inputs are neighbours, the runs are a tree in which every outcome has its leaf, and both probabilities are exact. {_EVENT}",
        (*_SIDES, ("leaves", "{} leaves")),
    ),
    ("program", "corners"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the largest excess over all real neighbours, by corners of boxes that cover the data",
        "Every event is likelier the further entries lean into it, so that the worst neighbours are corners; on a box of data its excess "
        "is at most that of a corner and what the second derivative allows inside. The boxes cover all data.",
        (("boxes", "{} boxes"),),
    ),
    ("program", "registers"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the largest excess over all neighbours, by integrals over few numbers",
        "The program was run once with data and noise left open; what it shows is integrated in balls for every pair of neighbours, and "
        "the excess over all events is the sum of P - e^epsilon Q where that is above 0.",
        (("integrals", "{} integrals"), ("entries", "{} pairs of entries")),
    ),
    ("program", "matrix"): Rule(
        "proved",
        Hint("shifts:list squares:number"),
        "witnessed",
        "a matrix of shifts, whose squares were bounded over all neighbours",
        "What is shown are sums of data and Gaussian noise. Shifts of the noise that explain every change are settled beforehand, so "
        "that the divergences are those of Gaussian noise moved by the root of their squares.",
        (("shown", "{} numbers shown"), ("squares", "squares at most {}")),
    ),
    ("program", "outcomes"): Rule(
        "refuted",
        Hint("left:object right:object outputs:list"),
        "witnessed",
        "an event, whose two probabilities were enclosed again",
        f"Both probabilities were enclosed in balls, which are apart by more than the claim allows. {_EVENT}",
        _SIDES,
    ),
    ("stream", "coupling"): Rule(
        "proved",
        Hint("unit:number arenas:list attained?:object"),
        "witnessed",
        "a coupling, of which every transition was compared",
        "For every transition the certificate says by how much its noise is moved, so that both runs take the same transitions; all "
        "costs along an execution are at most the claim. So every execution of the automaton is at most e^epsilon times as likely.",
        (("nodes", "{} nodes"), ("cost", "cost {}")),
    ),
    ("stream", "loss"): Rule(
        "refuted",
        Hint("steps:list left:list right:list windows:list"),
        "witnessed",
        "an execution, whose two probabilities were enclosed again",
        f"The streams are neighbours, and the probability of the execution was enclosed in balls on both. {_EVENT}",
        _SIDES,
    ),
    ("stream", "growth"): Rule(
        "refuted",
        Hint("kind:text thresholds:list segments:list"),
        "witnessed",
        "a path that is repeated, whose costs were followed again",
        "If the costs of repetitions stayed bounded, shifts that cost nothing would come up again in every repeated segment. All such "
        "shifts were followed, and none is left: the loss grows beyond every bound.",
    ),
    ("pufferfish", "bernstein"): Rule(
        "proved",
        Hint("bound:number coordinates:list points:list weights:list conditions:list"),
        "witnessed",
        "subdivisions, whose Bernstein coefficients were computed again",
        "bound * Q - P is a polynomial in the parameters. On each box of the subdivision all its Bernstein coefficients are at least 0, "
        "and a polynomial lies between its smallest and its largest one; the boxes cover the region.",
        (("parameters", "{} parameters"), ("conditions", "{} polynomials"), ("boxes", "{} boxes")),
    ),
    ("pufferfish", "parameters"): Rule(
        "refuted",
        Hint("values:object pair:list output:text left:number right:number"),
        "witnessed",
        "values of the parameters, whose two probabilities were computed again",
        "At these values, which the region has, P > e^epsilon Q for one pair of secrets and one output: that contradicts the claim.",
        (*_CHANCES, ("ratio", "P/Q = {}")),
    ),
    ("runs", "table"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the probabilities of all outcomes, from the trees of all runs",
        f"{_FROM_RUNS} Every pair of neighbours is compared outcome by outcome.",
        (("pairs", "{} pairs"), ("runs", "{} runs")),
    ),
    ("runs", "alignment"): Rule(
        "proved",
        Hint("alignments:list pairs:list"),
        "witnessed",
        "an alignment of the trees of runs, of which every move was followed",
        f"{_FROM_RUNS} Between neighbours every leaf is moved, by shifts of its noise, to a leaf that shows the same, at a bounded cost.",
        (("pairs", "{} pairs"), ("runs", "{} runs")),
    ),
    ("runs", "event"): Rule(
        "refuted",
        Hint("left:integer right:integer shapes:list within:list"),
        "witnessed",
        "an event, whose two probabilities were summed again from the trees of runs",
        f"{_FROM_RUNS} {_EVENT}",
        _SIDES,
    ),
    ("runs", "divergence"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "bounds on the excess of every event, from the trees of all runs",
        f"{_FROM_RUNS} For every pair of neighbours the integral of P - e^epsilon Q where that is above 0 is bounded in balls: no event "
        "exceeds it.",
        (("pairs", "{} pairs"), ("runs", "{} runs")),
    ),
    ("runs", "regions"): Rule(
        "refuted",
        Hint("left:integer right:integer regions:list"),
        "witnessed",
        "an event, whose two probabilities were enclosed again from the trees of runs",
        f"{_FROM_RUNS} {_EVENT}",
        _SIDES,
    ),
    ("runs", "excess"): Rule(
        "refuted",
        Hint("left:integer right:integer"),
        "recomputed",
        "the excess of two neighbours, from the trees of runs",
        f"{_FROM_RUNS} The largest excess over all events of two neighbours is more than delta.",
        (("excess", "excess {}"),),
    ),
    ("measured", "divergences"): Rule(
        "proved",
        Hint("proofs:list"),
        "recomputed",
        "the divergences of all pairs of laws, from the trees of all runs",
        f"{_FROM_RUNS} The divergence of every pair of neighbours was bounded in balls at every order that the measure asks for.",
    ),
    ("measured", "order"): Rule(
        "refuted",
        Hint("left:integer right:integer order:number"),
        "witnessed",
        "an order, whose divergence was enclosed again from the trees of runs",
        "At this order the divergence of two neighbours is more than what is claimed.",
    ),
    ("measured", "point"): Rule(
        "refuted",
        Hint("left:integer right:integer epsilon:number"),
        "witnessed",
        "an epsilon, at which an excess was enclosed again from the trees of runs",
        "At this epsilon two neighbours have an event with a larger excess than the claimed curve allows.",
    ),
    ("measured", "settled"): Rule(
        "proved",
        Hint("", uses="conclusion"),
        "witnessed",
        "a proof by alignment, which was checked again",
        f"{_SHIFTED} The shifts of Gaussian noise are settled when it is drawn, so that their squares add up to mu^2, which bounds "
        "the divergences.",
        (("others", "other noise costs {}"), ("squares", "squares at most {}")),
    ),
    ("measured", "range"): Rule(
        "proved",
        Hint("", uses="conclusion"),
        "witnessed",
        "a proof by alignment that shows the range of losses, which was checked again",
        "All losses lie in an interval of length r; by Hoeffding's lemma the divergence of order a is at most a r^2/8.",
        (("range", "r = {}"),),
    ),
    ("measured", "pure"): Rule(
        "proved",
        Hint("", uses="conclusion"),
        "witnessed",
        "a proof of an epsilon, which was checked again",
        "Of all pairs of laws within an epsilon those of randomised response have the largest divergences, which are known.",
        (("epsilon", "epsilon = {}"),),
    ),
    ("measured", "release"): Rule(
        "proved",
        Hint("proofs:list"),
        "recomputed",
        "the divergences of what is released given any two values, from the influences of quilts or the laws",
        "What the quilt of a secret tells, and what the noise lets through of what lies within, add up in Rényi divergences; or the laws "
        "of what is released are coupled, or enclosed themselves, given any two values of a secret.",
        (("by", "by {}"), ("priors", "{} priors")),
    ),
    ("measured", "shifts"): Rule(
        "refuted",
        Hint("order:number"),
        "witnessed",
        "an order, at which noise that is moved as far as the answer of a Gaussian chain has too large a divergence",
        "Series that hardly vary move the answer so far, and noise moved so far has more than the claimed divergence at this order.",
    ),
    ("measured", "entry"): Rule(
        "refuted",
        Hint("prior:integer length?:any node:any left:text right:text order:number"),
        "witnessed",
        "an entry and an order, whose divergence was bounded from below again",
        "Given two values of the entry the divergence of what is released is more than what is claimed, at this order.",
        (("order", "order {}"), ("divergence", "at least {}")),
    ),
    ("composed", "composition"): Rule(
        "proved",
        Hint("step?:epsilon uses:list", uses="uses"),
        "recomputed",
        "the losses of all uses, and their composition",
        "The losses of one use bound those of its worst pair; of independent uses they add up, rounded upwards on a lattice.",
    ),
    ("composed", "losses"): Rule(
        "refuted",
        Hint("step?:epsilon reach?:integer use:integer left:integer right:integer also?:list"),
        "recomputed",
        "the losses of one use on two data sets, and their composition",
        "The losses of the same two data sets add up over the uses, rounded downwards: what they exceed delta by is an event of all uses.",
    ),
    ("draws", "product"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "the largest ratio of every part, and their products over all changes",
        "The parts are drawn independently, so that the quotient of an output is the product of those of the parts, over every change.",
    ),
    ("draws", "outcome"): Rule(
        "refuted",
        Hint("left:list right:list outcomes:list"),
        "witnessed",
        "two data sets and an output, whose two probabilities were computed again",
        "The data sets are neighbours, and P > e^epsilon Q for one output: that contradicts the claim.",
        _CHANCES,
    ),
    ("logic in columns", "bounds"): Rule(
        "either",
        Hint("state?:integer untils?:list often?:list monitored?:list operators?:list", uses="operators"),
        "witnessed",
        "vectors that bound the probabilities behind the formula, state by state",
        "A vector that no step makes larger, and that is at least 1 at the goal, is at least the probability of reaching it; one that no "
        "step makes smaller, with a rank that falls with some chance, is at most that.",
        (("states", "{} states"),),
    ),
    ("logic", "logic"): Rule(
        "either",
        Hint("state?:integer operators?:list", uses="operators"),
        "recomputed",
        "the probabilities behind the formula",
        "What a path formula still asks after a state is followed together with the model; the probabilities are those of linear "
        "equations, solved exactly, and the formula's value follows from them by its definition.",
    ),
    ("release", "quilts"): Rule(
        "proved",
        Hint("ranges?:list quilts?:list"),
        "witnessed",
        "quilts, whose influences were computed again",
        "Given a quilt, what lies beyond is independent of the secret. The noise covers what lies within, and the influence of the "
        "secret on the quilt itself is the rest of epsilon.",
        (("ranges", "{} ranges"), ("priors", "{} priors")),
    ),
    ("release", "parts"): Rule(
        "proved",
        Hint("ranges:list"),
        "witnessed",
        "quilts of every part of a mixture, whose influences were computed again",
        "Of a mixture, which part it is belongs to the quilt. A value tells the part by a bounded factor, and the quilts of every part "
        "keep within the rest of epsilon.",
        (("ranges", "{} ranges"), ("priors", "{} priors")),
    ),
    ("release", "contraction"): Rule(
        "proved",
        Hint("ranges:list"),
        "witnessed",
        "nodes at a distance, whose influences were bounded again",
        "The influence of a secret on nodes at a distance falls with the chain's contraction; the noise covers what lies nearer.",
        (("priors", "{} priors"),),
    ),
    ("release", "distance"): Rule(
        "proved",
        Hint("attained?:object"),
        "recomputed",
        "the distance of the laws given every value",
        "Given two values of a secret the laws of the result are moved to each other within the distance; noise of that scale covers it.",
        (("distance", "distance {}"),),
    ),
    ("release", "laws"): Rule(
        "proved",
        Hint("attained?:object"),
        "recomputed",
        "the laws with the noise given every value",
        "Given every value of a secret the law of the noisy result is computed, and each output is compared between any two values.",
        (("outputs", "{} outputs"), ("attained", "attained: {}")),
    ),
    ("release", "coupling"): Rule(
        "proved",
        Hint(""),
        "recomputed",
        "a coupling of the laws given every value",
        "Given two values of a secret the results are coupled; noise at the distance of each pair has a known excess, and their mean is "
        "at least the excess of any event.",
        (("pairs", "{} pairs"), ("delta", "delta {}")),
    ),
    ("release", "event"): Rule(
        "refuted",
        Hint("prior:integer length?:any node:any left:any right:any bin?:any box?:list low?:any high?:any"),
        "witnessed",
        "an event, whose two probabilities were computed again",
        f"Under a prior that is allowed the secret has either value. {_EVENT}",
        (*_CHANCES, ("interval", "the result is in {}")),
    ),
    ("release", "shifts"): Rule(
        "either",
        Hint(""),
        "recomputed",
        "how far an entry of a Gaussian chain moves the answer",
        "Given two values of an entry a Gaussian chain has the same law, shifted by fixed numbers, and the answer moves by so many steps "
        "at most: noise at that distance keeps the claim. Series that hardly vary come as near to it as one likes.",
        (("steps", "{} steps"), ("node", "entry {}")),
    ),
    ("account", "quilts"): Rule(
        "proved",
        Hint("ranges:list"),
        "witnessed",
        "quilts, whose influences and costs were computed again",
        "Given a quilt, what lies beyond is independent of the secret. What all releases cost at the entries within adds up, in losses or "
        "in Rényi divergences, and the influence of the secret on the quilt itself is the rest of epsilon.",
        (("ranges", "{} ranges"), ("releases", "{} releases")),
    ),
    ("location", "triangle inequality"): Rule(
        "proved",
        Hint("attained?:object"),
        "recomputed",
        "the triangle inequality, and the rate",
        "The density of a report falls with its distance at a rate; by the triangle inequality the densities of two places differ by at "
        "most the rate times their distance, in the exponent.",
    ),
    ("location", "every pair"): Rule(
        "proved",
        Hint("attained?:object"),
        "recomputed",
        "every pair of places and every report",
        "Every pair of places is compared, report by report.",
    ),
    ("location", "one output"): Rule(
        "refuted",
        Hint("left:list right:list output:any left_probability?:list right_probability?:list"),
        "witnessed",
        "a report, whose two probabilities were computed again",
        "For one report and two places P > e^(epsilon d) Q: that contradicts the claim.",
        (*_CHANCES, ("distance", "d = {}")),
    ),
}
