"""Questions about secrets under a prior as plain data: the table of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privproof.evidence.question_documents import OtherQuestion
from privproof.exact import Budget, text
from privproof.models.parameter_conditions import ConditionTable
from privproof.scenarios import UnderPriors

if TYPE_CHECKING:
    from privproof.compiling.pufferfish import Compared


def document(question: UnderPriors, compiled: Compared) -> dict[str, object]:
    """The question as plain data: the table that it became.

    Raises:
        OtherQuestion: the table is that of another question.
    """
    assert question.budget is not None
    if compiled.question.under(question.budget) != question:
        raise OtherQuestion("the table is that of another question")
    return table_document(compiled.table, question.budget)


def table_document(table: ConditionTable, budget: Budget) -> dict[str, object]:
    """The question of a certificate."""
    region = table.region
    return {
        "kind": "pufferfish",
        "parameters": [
            {
                "name": name,
                "low": text(interval.low),
                "high": text(interval.high),
                "low_open": interval.low_open,
                "high_open": interval.high_open,
            }
            for name, interval in zip(region.names, region.box, strict=True)
        ],
        "constraints": [{"expression": str(each.expression), "strict": each.strict} for each in region.constraints],
        "data": [
            {
                "weight": str(row.weight),
                "outputs": {output: text(probability) for output, probability in row.outputs.items()},
                "secrets": list(row.secrets),
            }
            for row in table.rows
        ],
        "pairs": [list(pair) for pair in table.pairs],
        **({"relative": True} if table.relative else {}),
        "epsilon": str(budget.epsilon),
        "delta": text(budget.delta),
        "pointwise": budget.pointwise,
    }
