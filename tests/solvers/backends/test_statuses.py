"""Every member of every solver's status enumeration has its ending, and no other name has."""

from __future__ import annotations

from typing import get_args

import pytest

from prefixplace_opt.solvers import milp
from prefixplace_opt.solvers.backends import cp_sat, highs, math_opt, pyomo_solver, scip
from prefixplace_opt.solvers.backends.backend import Ending
from prefixplace_opt.solvers.result import Status

ALL = set(get_args(Ending))


def test_highs() -> None:
    import highspy

    assert set(highs.ENDINGS) == set(highspy.HighsModelStatus.__members__)
    assert set(highs.ENDINGS.values()) <= ALL


def test_cp_sat() -> None:
    from ortools.sat.python import cp_model_helper

    members = {
        name
        for name in dir(cp_model_helper.CpSolverStatus)
        if isinstance(getattr(cp_model_helper.CpSolverStatus, name), cp_model_helper.CpSolverStatus)
    }
    assert set(cp_sat.ENDINGS) == members
    assert set(cp_sat.ENDINGS.values()) <= ALL


def test_math_opt() -> None:
    from ortools.math_opt.python import mathopt

    assert set(math_opt.ENDINGS) == {reason.name for reason in mathopt.TerminationReason}
    assert set(math_opt.LIMITS) == {limit.name for limit in mathopt.Limit}
    assert {*math_opt.ENDINGS.values(), *math_opt.LIMITS.values()} <= ALL


def test_scip() -> None:
    pyscipopt = pytest.importorskip("pyscipopt")
    members = {name for name in dir(pyscipopt.SCIP_STATUS) if not name.startswith("_")}
    assert set(scip.ENDINGS) == members
    assert set(scip.ENDINGS.values()) <= ALL


def test_pyomo() -> None:
    from pyomo.opt import SolverStatus, TerminationCondition

    assert set(pyomo_solver.ENDINGS) == {condition.value for condition in TerminationCondition}
    assert set(pyomo_solver.TRUSTED) == {status.value for status in SolverStatus}
    assert set(pyomo_solver.ENDINGS.values()) <= ALL


def test_every_ending_is_a_status_of_a_result_or_an_error() -> None:
    assert set(milp.STATUS) | {"infeasible", "unbounded", "undecided", "failed"} == ALL
    assert set(milp.STATUS.values()) <= set(get_args(Status))
