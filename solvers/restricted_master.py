"""The configuration LP over some columns, kept warm in HiGHS.

    max  sum_t own(t) use_t + sum_e weight_e covered_e
    s.t. sum_{t of worker h} use_t = 1                      choose[h]
         covered_e - sum_{t holds a slot of e} use_t <= 0   cover[e]
         0 <= covered_e <= 1,  use >= 0

over the coverage elements of a subproblem. The duals of ``cover`` are what an element is worth to
one more holder; its weight less that is its price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import SolverError

from .backends.highs import ENDINGS, quiet_highs, stop_with
from .coverage_elements import CoverageElements
from .run import Run
from .subproblem import Subproblem

Floats = NDArray[np.float64]
Index = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """An optimum of the restricted master.

    Attributes
    ----------
    value
        Its objective with the subproblem's constant: at most the configuration LP's value.
    prices
        Shape (rows,): prices of the subproblem's rows, from the duals.
    use
        Shape (columns,): how much of each column is used.
    """

    value: float
    prices: Floats
    use: Floats


class RestrictedMaster:
    """Columns of one subproblem and their LP.

    Attributes
    ----------
    worker, taken
        Of every column: whose it is, and the mask of its slots among that worker's.
    """

    def __init__(self, sub: Subproblem, run: Run) -> None:
        self._sub = sub
        self._elements = elements = CoverageElements.of(sub)
        self.worker: list[int] = []
        self.taken: list[Mask] = []
        self._known: set[tuple[int, bytes]] = set()
        self._highs = quiet_highs()
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            _require(self._highs.setOptionValue(option, value), f"{option} = {value}")
        stop_with(self._highs, run)
        self._pass_empty(elements)

    def _pass_empty(self, elements: CoverageElements) -> None:
        import highspy

        m, size = self._sub.form.m, elements.size
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = size, m + size
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = elements.weight
        lp.col_lower_, lp.col_upper_ = np.zeros(size), np.ones(size)
        lp.row_lower_ = np.concatenate([np.ones(m), np.full(size, -highspy.kHighsInf)])
        lp.row_upper_ = np.concatenate([np.ones(m), np.zeros(size)])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = size, m + size
        lp.a_matrix_.start_ = np.arange(size + 1, dtype=np.int32)
        lp.a_matrix_.index_ = np.arange(m, m + size, dtype=np.int32)
        lp.a_matrix_.value_ = np.ones(size)
        _require(self._highs.passModel(lp), "the restricted master")

    def add(self, taken: Mask) -> int:
        """Add the set of every worker, shape (slots,), where it is new; return how many were."""
        sub, elements = self._sub, self._elements
        costs, starts, rows = [], [0], []
        for h in range(sub.form.m):
            own = taken[sub.first[h] : sub.first[h + 1]]
            key = (h, np.packbits(own).tobytes())
            if key in self._known:
                continue
            self._known.add(key)
            self.worker.append(h)
            self.taken.append(own.copy())
            slots = np.flatnonzero(own) + sub.first[h]
            costs.append(float(elements.own[slots].sum()))
            covered = [
                elements.slot_element[elements.slot_first[s] : elements.slot_first[s + 1]]
                for s in slots
            ]
            rows.append(np.concatenate([[h], *(part + sub.form.m for part in covered)]))
            starts.append(starts[-1] + rows[-1].size)
        if costs:
            index = np.concatenate(rows).astype(np.int32)
            sign = np.where(index < sub.form.m, 1.0, -1.0)
            count = len(costs)
            status = self._highs.addCols(
                count,
                np.array(costs),
                np.zeros(count),
                np.ones(count),
                index.size,
                np.array(starts[:-1], dtype=np.int32),
                index,
                sign,
            )
            _require(status, "new columns")
        return len(costs)

    @property
    def rows(self) -> int:
        """Number of rows of the LP."""
        return int(self._highs.getNumRow())

    @property
    def entries(self) -> int:
        """Number of matrix entries of the LP."""
        return int(self._highs.getNumNz())

    def solve(self) -> MasterSolution | None:
        """Solve the LP; every worker must have a column. None where the run has to stop."""
        import highspy

        for _ in range(2):
            _require(self._highs.run(), "the restricted master")
            status = self._highs.getModelStatus()
            if ENDINGS[status.name] == "interrupted":
                return None
            if status == highspy.HighsModelStatus.kOptimal:
                break
            # After many changes a basis may be worn out.
            self._highs.clearSolver()
        else:
            raise SolverError(f"HiGHS ends with {status}")
        solution = self._highs.getSolution()
        m, elements = self._sub.form.m, self._elements
        worth = np.abs(np.asarray(solution.row_dual)[m:])
        prices = elements.weight - np.minimum(worth, elements.weight)
        return MasterSolution(
            self._sub.constant + self._highs.getInfo().objective_function_value,
            elements.row_prices(prices, self._sub.rows.size),
            np.asarray(solution.col_value)[elements.size :],
        )

    def choose(self, node_limit: int, seconds: float) -> Mask:
        """Return the slots of the best found choice of one column a worker, by HiGHS' MIP.

        The choice is a heuristic: it ends after ``node_limit`` nodes or ``seconds``.
        """
        import highspy

        start, count = self._elements.size, len(self.worker)
        columns = np.arange(start, start + count, dtype=np.int32)
        kinds = (highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous)
        options = {"mip_max_nodes": node_limit, "presolve": "on", "mip_rel_gap": 1e-6}
        if seconds < np.inf:
            options["time_limit"] = self._highs.getRunTime() + seconds
        for option, value in options.items():
            _require(self._highs.setOptionValue(option, value), f"{option} = {value}")
        _require(
            self._highs.changeColsIntegrality(count, columns, np.full(count, kinds[0])), "a MIP"
        )
        _require(self._highs.run(), "the restricted master's MIP")
        found = self._highs.getSolution()
        use = np.asarray(found.col_value)[start:] if found.value_valid else np.zeros(count)
        return self.largest(use)

    def largest(self, use: Floats) -> Mask:
        """Return the slots of each worker's most used column, the first of equals."""
        sub = self._sub
        taken = np.zeros(sub.slots, dtype=np.bool_)
        worker = np.array(self.worker)
        for h in range(sub.form.m):
            own = np.flatnonzero(worker == h)
            taken[sub.first[h] : sub.first[h + 1]] = self.taken[own[np.argmax(use[own])]]
        return taken


def _require(status: Any, what: str) -> None:
    import highspy

    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS refuses {what}")
