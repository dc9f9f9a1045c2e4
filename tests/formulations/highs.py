"""A linear model solved by HiGHS in a dozen lines, apart from the product's own back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import highspy
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prefixplace_opt.formulations import LinearModel


def quiet() -> highspy.Highs:
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0)):
        assert highs.setOptionValue(option, value) == highspy.HighsStatus.kOk
    return highs


def passed(model: LinearModel, *, relaxed: bool) -> highspy.Highs:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.columns, model.rows
    lp.sense_, lp.offset_ = highspy.ObjSense.kMaximize, model.constant
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model.cost, model.column_lower, model.column_upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.row_start
    lp.a_matrix_.index_ = model.entry_column
    lp.a_matrix_.value_ = model.entry_value
    if not relaxed:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[integral] for integral in model.integral.tolist()]
    highs = quiet()
    assert highs.passModel(lp) == highspy.HighsStatus.kOk
    return highs


def optimum(model: LinearModel, *, relaxed: bool = False) -> tuple[float, NDArray[np.float64]]:
    """The optimal value and solution; raises where HiGHS finds none."""
    if model.columns == 0:
        return model.constant, np.zeros(0)
    return optimum_of(passed(model, relaxed=relaxed))


def optimum_of(highs: highspy.Highs) -> tuple[float, NDArray[np.float64]]:
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getInfo().objective_function_value, np.array(highs.getSolution().col_value)
