"""privproof: prove or refute the privacy of a randomised mechanism, and say exactly how private it is.

>>> import privproof
>>> model = privproof.HiddenMarkovModel(
...     states=["healthy", "ill"], observations=["no", "yes"],
...     emissions={"healthy": {"no": "3/4", "yes": "1/4"}, "ill": {"no": "1/4", "yes": "3/4"}})
>>> pair = privproof.Pair.of(model, "John", {"healthy": 1}, {"ill": 1})
>>> question = privproof.Question(model=model, scenario=privproof.Scenario(pairs=(pair,)))
>>> privproof.check(question, "ln(3)").status
'proved'
>>> privproof.tight_epsilon(question).tight
Epsilon('ln(3)')

A mechanism may be an ordinary function:

>>> from privproof import mechanism, queries, truncated_geometric
>>> @mechanism(epsilon="ln(2)")
... def noisy_max(q: queries(0, 2)):
...     best, winner = -1, 0
...     for i, value in enumerate(q):
...         noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
...         if noisy > best:
...             best, winner = noisy, i
...     return winner
>>> privproof.tight_epsilon(noisy_max, size=3).tight
Epsilon('ln(8)')
"""

from collections.abc import Callable

import lazy_loader

from privproof.drawing.showing import show_with
from privproof.evidence.verdict_presenting import Presenter, present_with
from privproof.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _presenter() -> Presenter:
    from privproof.reporting.verdict_presenter import VerdictPresenter

    return VerdictPresenter()


def _cards() -> Callable[[object], str]:
    from privproof.reporting.notebook_cards import card_of

    return card_of


def _texts() -> Callable[[object], str]:
    from privproof.reporting.verdict_presenter import text_of

    return text_of


present_with(_presenter)
show_with(_cards, _texts)
