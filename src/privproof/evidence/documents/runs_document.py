"""Questions about functions that are run as plain data: the declarations, the data sets, and the trees of all runs."""

from __future__ import annotations

from typing import Any

from privproof.evidence.question_documents import OtherQuestion
from privproof.scenarios import RunsQuestion


def document(question: RunsQuestion, compiled: Any) -> dict[str, Any]:
    """The question as plain data.

    Raises:
        OtherQuestion: the runs are those of another function, or at other sizes.
    """
    if compiled["function"]["name"] != question.mechanism.name or tuple(compiled["sizes"]) != (question.sizes or ()):
        raise OtherQuestion("the runs are not those of the function at these sizes")
    said: dict[str, Any] = {"kind": "runs", "title": question.name}
    if question.budget is not None:
        said["epsilon"] = str(question.budget.epsilon)
        if question.budget.delta != 0:
            said |= {"delta": str(question.budget.delta), "pointwise": question.budget.pointwise}
    return {**said, **compiled}
