"""Pictures: off screen, deterministic, of any tree; and honest about what they leave out."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt import PrefixTree, Problem, Worker, solve
from prefixplace_opt.instances.generators import generate
from prefixplace_opt.plotting import draw_progress, draw_savings, draw_tree, write_figure
from prefixplace_opt.plotting.figure import colours
from prefixplace_opt.plotting.tree_layout import tree_layout
from prefixplace_opt.problem import Demand, InputError, UniformCost
from prefixplace_opt.solvers.run import Progress


def problem_of(parents: list[int], demand: list[list[float]], m: int = 2) -> Problem:
    return Problem(
        PrefixTree(parents),
        [Worker(f"w{i}", len(parents), hardware="L4") for i in range(m)],
        Demand.from_dense(demand, shape=(m, len(parents))),
        UniformCost(10.0),
        UniformCost(3.0),
    )


@pytest.fixture(scope="module")
def rag() -> Problem:
    return generate("rag", documents=8, seed=2)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_same_bytes_every_time(rag: Problem, tmp_path: Path, ending: str) -> None:
    placement = solve(rag, method="greedy").placement
    written = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.{ending}"
        write_figure(draw_tree(rag, placement), path)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_pictures_ignore_user_settings_and_leave_them_alone(rag: Problem, tmp_path: Path) -> None:
    import matplotlib as mpl

    write_figure(draw_tree(rag), tmp_path / "a.png")
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 20}):
        write_figure(draw_tree(rag), tmp_path / "b.png")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_pictures_need_no_screen_and_no_pyplot(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from prefixplace_opt.plotting import draw_savings, write_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"write_figure(draw_savings({{'plan': 3.0}}), {os.fspath(tmp_path / 'a.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "MPLBACKEND"}}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@st.composite
def forests(draw: st.DrawFn) -> Problem:
    n = draw(st.integers(1, 25))
    parents = [draw(st.integers(-1, v - 1)) for v in range(n)]
    entry = st.sampled_from([0.0, 1.0, 2.0, 50.0])
    rows = [draw(st.lists(entry, min_size=n, max_size=n)) for _ in range(2)]
    return problem_of(parents, rows)


@given(forests(), st.integers(1, 30), st.integers(1, 6))
def test_layout_nests_children_below_parents_and_overlaps_nothing(
    problem: Problem, most_chunks: int, most_rows: int
) -> None:
    layout = tree_layout(problem, most_chunks=most_chunks, most_rows=most_rows)
    assert 1 <= layout.chunk.size <= min(most_chunks, problem.n)
    assert (layout.depth < most_rows).all()
    span = {
        int(chunk): (left, left + width)
        for chunk, left, width in zip(layout.chunk, layout.left, layout.width, strict=True)
    }
    rounding = 1e-9
    for chunk, (left, right) in span.items():
        assert -rounding <= left < right <= 1 + rounding
        parent = int(problem.tree.parents[chunk])
        if parent >= 0:
            assert span[parent][0] - rounding <= left
            assert right <= span[parent][1] + rounding
    for depth in set(layout.depth.tolist()):
        row = sorted(span[int(c)] for c in layout.chunk[layout.depth == depth])
        for (_, right), (left, _) in itertools.pairwise(row):
            assert right <= left + rounding


def test_the_most_demanded_chunks_are_kept() -> None:
    problem = problem_of([-1, 0, 0, 2], [[9, 1, 5, 4], [0, 0, 0, 0]])
    layout = tree_layout(problem, most_chunks=3, most_rows=9)
    assert layout.chunk.tolist() == [0, 2, 3]


def test_title_says_what_is_left_out_and_what_is_saved(rag: Problem) -> None:
    placement = solve(rag, method="greedy").placement
    whole = draw_tree(rag, placement).axes[0].get_title(loc="left")
    assert f"saves {placement.value:,.0f} ms per epoch" in whole
    part = draw_tree(rag, placement, most_chunks=5).axes[0].get_title(loc="left")
    assert f"the 5 most demanded of {rag.n} chunks" in part
    legend = draw_tree(rag, placement).legends[0]
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[-1] == "not held"
    assert len(labels) == rag.m + 1


def test_many_workers_and_a_chain_can_be_drawn(tmp_path: Path) -> None:
    m, n = 40, 300
    problem = problem_of(list(range(-1, n - 1)), np.ones((m, n)).tolist(), m)
    placement = solve(problem, method="independent").placement
    figure = draw_tree(problem, placement)
    assert "first 32 of 40 workers" in figure.axes[0].get_title(loc="left")
    write_figure(figure, tmp_path / "chain.png")
    assert len(set(colours(m))) == m


def test_nothing_to_draw(rag: Problem, tmp_path: Path) -> None:
    empty = problem_of([], [[], []])
    with pytest.raises(InputError, match="expected a forest"):
        draw_tree(empty)
    with pytest.raises(InputError, match="of this instance"):
        draw_tree(rag, solve(problem_of([-1], [[1], [1]]), method="greedy").placement)
    with pytest.raises(InputError, match="at least one plan"):
        draw_savings({})
    with pytest.raises(InputError, match="finite number"):
        draw_savings({"plan": float("nan")})
    with pytest.raises(InputError, match="at least one event"):
        draw_progress([])
    with pytest.raises(InputError, match="cannot be written"):
        write_figure(draw_tree(rag), tmp_path / "no" / "folder.png")


def test_savings_bars_show_each_value_and_the_bound() -> None:
    figure = draw_savings({"plan": 80.0, "popularity": 5.0}, upper=90.0, whole=100.0)
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [80.0, 5.0]
    texts = [text.get_text() for text in axes.texts]
    assert "80.0 ms   80.00 %" in texts
    assert "proven bound" in texts
    draw_savings({"plan": 0.0})


def test_progress_lines_follow_the_events(tmp_path: Path) -> None:
    events = [
        Progress(0.1, "planning", 0.0, float("inf")),
        Progress(0.5, "planning", 80.0, 120.0),
        Progress(2.0, "bounding", 90.0, 100.0),
    ]
    figure = draw_progress(events)
    axes = figure.axes[0]
    assert "gap 10.0000 %" in axes.get_title(loc="left")
    assert list(figure.axes[1].lines[0].get_ydata()) == [100.0, pytest.approx(100 / 3), 10.0]
    lower = axes.lines[1].get_ydata()
    assert np.array_equal(np.asarray(lower)[1:], [80.0, 90.0])
    write_figure(figure, tmp_path / "progress.png")
    write_figure(draw_progress(events[:1]), tmp_path / "start.png")


def test_heading_says_that_depth_is_cut() -> None:
    chain = problem_of([-1, 0, 1, 2, 3], [[5, 4, 3, 2, 1]] * 2)
    cut = draw_tree(chain, most_rows=3).axes[0].get_title(loc="left")
    assert cut.endswith("\nthe 3 most demanded of 5 chunks, first 3 of 5 levels")
    assert "levels" not in draw_tree(chain).axes[0].get_title(loc="left")
