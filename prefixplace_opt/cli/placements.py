"""Reading a placement that may be of either objective of its instance."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefixplace_opt.problem import Placement, Problem


def read_with_objective(path: Path, problem: "Problem") -> tuple["Problem", "Placement"]:
    """Read a placement, under the objective that it names, with the problem in that reading.

    `prefixplace solve --objective` writes placements of the other reading of an instance file;
    their digest is that reading's.
    """
    from prefixplace_opt.problem import InputError
    from prefixplace_opt.problem.json_files import read_json
    from prefixplace_opt.problem.placement_file import placement_from_document

    document = read_json(path)
    try:
        stated = document.get("objective") if isinstance(document, dict) else None
        if stated in ("requester", "pairwise"):
            problem = problem.with_objective(stated)
        return problem, placement_from_document(document, problem)
    except InputError as error:
        raise error.at(source=str(path)) from None
