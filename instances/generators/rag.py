"""Family ``rag``: questions on retrieved documents below one shared system prompt.

A chain of ``system_chunks`` is the system prompt. Each document is a chain below it, its length
uniform from ``document_chunks_min`` to ``document_chunks_max``, and ends in ``endings`` different
branches (questions, or the document that follows) of 1 to ``ending_chunks_max`` chunks. The
document of rank r is asked for in proportion to ``r ** -zipf``; its requests split over its
endings in proportion to squares of uniform numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from prefixplace_opt.problem import Problem

from .apportion import zipf
from .draw import Draw
from .parameters import parameter
from .traffic import Growth, TrafficParameters, problem_of_growth

ENDING_SKEW = 2


@dataclass(frozen=True, kw_only=True)
class RagParameters(TrafficParameters):
    """Parameters of the family ``rag``."""

    ordered = (("document_chunks_min", "document_chunks_max"),)

    documents: int = parameter(20, "documents", least=1, most=10**6)
    zipf: float = parameter(1.1, "exponent of the documents' popularity", least=0, most=10)
    system_chunks: int = parameter(2, "chunks of the shared system prompt", least=0, most=10**5)
    document_chunks_min: int = parameter(4, "chunks of the shortest document", least=1, most=10**5)
    document_chunks_max: int = parameter(15, "chunks of the longest document", least=1, most=10**5)
    endings: int = parameter(3, "branches at a document's end", least=0, most=1000)
    ending_chunks_max: int = parameter(2, "chunks of the longest branch", least=1, most=10**5)


def rag(parameters: RagParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("rag", seed, "tree")
    growth = Growth()
    system = growth.chain(-1, parameters.system_chunks)
    popularity = zipf(parameters.units, parameters.documents, parameters.zipf)
    for document, units in enumerate(popularity):
        length = draw.between(parameters.document_chunks_min, parameters.document_chunks_max)
        last = growth.chain(system, length)
        if parameters.endings == 0:
            growth.visit(last, units, document)
            continue
        for share in draw.skewed(units, parameters.endings, ENDING_SKEW):
            growth.visit(
                growth.chain(last, draw.between(1, parameters.ending_chunks_max)), share, document
            )
    return problem_of_growth(growth, parameters, "rag", seed)
