"""Family ``documents``: many questions on a few long documents.

Each of ``documents`` is a root chain, its length uniform from ``document_chunks_min`` to
``document_chunks_max``. A question stops reading at the end with probability ``whole``, else at a
uniform depth, and adds 1 to ``question_chunks_max`` chunks of its own. Documents are asked about
in proportion to ``rank ** -zipf``, the questions of one document in proportion to squares of
uniform numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .apportion import zipf
from .draw import Draw
from .parameters import parameter
from .traffic import Growth, TrafficParameters, problem_of_growth

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

QUESTION_SKEW = 2


@dataclass(frozen=True, kw_only=True)
class DocumentsParameters(TrafficParameters):
    """Parameters of the family ``documents``."""

    ordered = (("document_chunks_min", "document_chunks_max"),)

    documents: int = parameter(5, "documents", least=1, most=10**6)
    zipf: float = parameter(0.8, "exponent of the documents' popularity", least=0, most=10)
    document_chunks_min: int = parameter(30, "chunks of the shortest document", least=1, most=10**6)
    document_chunks_max: int = parameter(80, "chunks of the longest document", least=1, most=10**6)
    questions: int = parameter(12, "questions on a document", least=1, most=10**6)
    question_chunks_max: int = parameter(2, "most chunks of a question", least=1, most=10**5)
    whole: float = parameter(
        0.7, "probability that a question reads the whole document", least=0, most=1
    )


def documents(parameters: DocumentsParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("documents", seed, "tree")
    growth = Growth()
    popularity = zipf(parameters.units, parameters.documents, parameters.zipf)
    for document, units in enumerate(popularity):
        length = draw.between(parameters.document_chunks_min, parameters.document_chunks_max)
        last = growth.chain(-1, length)
        for share in draw.skewed(units, parameters.questions, QUESTION_SKEW):
            end = last if draw.chance(parameters.whole) else last - draw.below(length)
            question = draw.between(1, parameters.question_chunks_max)
            growth.visit(growth.chain(end, question), share, document)
    return problem_of_growth(growth, parameters, "documents", seed)
