"""From ``FILE[:NAME]`` to a class of priors."""

from __future__ import annotations

from privproof.errors import QuestionError
from privproof.formats.python_files import SUFFIXES, report_user_errors
from privproof.loading.file_targets import found_in, split_target
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.markov_chains import Band, Chain
from privproof.release.release_question import Prior


def load_priors(target: str) -> tuple[Prior, ...]:
    """The class of priors that ``FILE[:NAME]`` stands for: a file of kind prior, or chains, a band or networks in a Python file."""
    path, name = split_target(target)
    if path.suffix not in SUFFIXES:
        if name is not None:
            raise QuestionError("name", "a file holds one class of priors", place=target, hint=str(path))
        from privproof.release.prior_files import read_prior  # here and below: what mechanisms do not need

        return read_prior(path)
    found, name = found_in(path, name)
    with report_user_errors(path, f"{path}:{name}"):
        made = found() if callable(found) else found
    listed = (made,) if isinstance(made, Prior) else made
    if isinstance(listed, list | tuple) and listed:
        if all(isinstance(one, Chain | Hidden) for one in listed) or all(isinstance(one, Network) for one in listed):
            return tuple(listed)
        if len(listed) == 1 and isinstance(listed[0], Band | GaussianChain):
            return (listed[0],)
    raise QuestionError(
        "name", f"{name!r} is a {type(made).__name__}, no prior", place=str(path), hint="release.Chain.of(...)"
    )
