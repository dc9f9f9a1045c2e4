"""The catalogue, recompute profiles of other chunk sizes, and where fetching wins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.instances.crossover import crossover
from prefixplace_opt.instances.hardware import Model, analytical_profile, catalogue
from prefixplace_opt.instances.profiles import LineProfile, Profile, TableProfile, recompute_cost
from prefixplace_opt.problem import AffineCost, InputError, InterpolatedCost, PrefixTree

QWEN = catalogue().model("qwen2.5-7b")

#: Parameters without embedding and output head, as the models' own pages state them, in 10^9.
STATED = {"qwen2.5-7b": 6.53, "qwen2.5-14b": 13.1, "qwen2.5-32b": 31.0, "qwen2.5-72b": 70.0}


def test_the_paper_s_chunk_and_curves() -> None:
    assert QWEN.chunk_bytes(512) == 29_360_128
    l4 = catalogue().profile("L4", QWEN, 512)
    a100 = catalogue().profile("a100", QWEN, 512)
    assert (l4.kind, a100.kind) == ("measured", "measured")
    assert l4.milliseconds(1000) == pytest.approx(180.2)
    assert a100.milliseconds(1000) == pytest.approx(53.1)


def test_t4_is_not_passed_off_as_measured() -> None:
    profile = catalogue().profile("T4", QWEN, 512)
    assert profile.kind == "assumed"
    assert "no measurement" in profile.source


@pytest.mark.parametrize("name", STATED)
def test_parameters_follow_from_the_config(name: str) -> None:
    assert catalogue().model(name).token_parameters / 1e9 == pytest.approx(STATED[name], rel=0.015)


@pytest.mark.parametrize("gpu", ["L4", "A100"])
def test_operation_counts_are_near_the_measured_curves(gpu: str) -> None:
    measured = catalogue().profile(gpu, QWEN, 512)
    counted = catalogue().profile(gpu, QWEN, 512, analytical=True)
    assert counted.kind == "analytical"
    for prefix in (0, 4096, 32768):
        assert counted.milliseconds(prefix) == pytest.approx(
            measured.milliseconds(prefix), rel=0.25
        )


def test_every_entry_names_its_source() -> None:
    known = catalogue()
    entries = [*known.gpus.values(), *known.models.values(), *known.profiles.values()]
    assert all(entry.source for entry in entries)


def test_operation_counts_by_hand() -> None:
    model = Model("toy", 2, 8, 16, 4, 2, 2)
    gpu = catalogue().gpu("A100")
    profile = analytical_profile(gpu, model, 4, linear_efficiency=1.0, attention_efficiency=1.0)
    weights = 2 * (8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 16)
    pairs = sum(p + 1 for p in range(100, 104))
    operations = 2 * weights * 4 + 4 * 2 * 4 * 2 * pairs
    assert profile.milliseconds(100) == pytest.approx(operations / 312e9)
    two = analytical_profile(gpu, model, 4, gpus=2)
    assert two.base_ms * 2 == pytest.approx(analytical_profile(gpu, model, 4).base_ms)


@pytest.mark.parametrize(
    ("name", "message"), [("V100", "expected a GPU of the catalogue"), (3, "got 3")]
)
def test_an_unknown_gpu_lists_the_known(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        catalogue().gpu(name)


lines = st.builds(
    LineProfile,
    chunk_tokens=st.integers(1, 64),
    base_ms=st.floats(1, 100),
    per_prefix_token_ms=st.floats(0, 0.1),
)


@st.composite
def tables(draw: st.DrawFn) -> TableProfile:
    knots = sorted(draw(st.sets(st.integers(0, 2000), min_size=1, max_size=6)))
    cost = draw(st.lists(st.floats(0, 100), min_size=len(knots), max_size=len(knots)))
    return TableProfile(draw(st.integers(1, 64)), tuple(knots), tuple(cost))


@given(st.one_of(lines, tables()), st.integers(1, 5), st.integers(0, 3000))
def test_a_larger_chunk_costs_the_sum_of_its_parts(
    profile: Profile, times: int, prefix: int
) -> None:
    large = profile.for_chunk(times * profile.chunk_tokens)
    parts = (profile.milliseconds(prefix + i * profile.chunk_tokens) for i in range(times))
    assert large.milliseconds(prefix) == pytest.approx(math.fsum(parts), rel=1e-9, abs=1e-9)


def test_a_table_says_nothing_about_parts_of_a_chunk() -> None:
    with pytest.raises(InputError, match="expected a multiple of the table's 64, got 32"):
        TableProfile(64, (0.0,), (5.0,)).for_chunk(32)
    assert LineProfile(64, 10.0, 0.0).for_chunk(32).base_ms == 5.0


@given(st.lists(st.one_of(lines, tables()), min_size=1, max_size=4), st.integers(1, 40))
def test_cost_tables_agree_with_the_profiles(profiles: list[Profile], height: int) -> None:
    size = profiles[0].chunk_tokens
    same = [profile for profile in profiles if profile.chunk_tokens == size]
    table = recompute_cost(same, height=height)
    kind = AffineCost if all(isinstance(p, LineProfile) for p in same) else InterpolatedCost
    assert isinstance(table, kind)
    tree = PrefixTree(np.arange(-1, height - 1), chunk_tokens=size)
    chunk = np.arange(height, dtype=np.int32)
    for m, profile in enumerate(same):
        costs = table.cost(tree, np.full(height, m, dtype=np.int32), chunk)
        expected = [profile.milliseconds(size * depth) for depth in range(height)]
        assert costs == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_paper_s_crossover() -> None:
    known = catalogue()
    found = {
        gpu: crossover(known.profile(gpu, QWEN, 512), chunk_bytes=29_360_128, goodput_gbps=3.0)
        for gpu in ("L4", "A100")
    }
    assert found["A100"].first_token == 6039
    assert found["A100"].verdict == "fetching wins from 6,039 tokens"
    assert found["L4"].first_token == 0
    assert found["L4"].verdict == "fetching wins at every depth"


@given(st.one_of(lines, tables()), st.floats(0.01, 50), st.floats(0, 20), st.integers(0, 5000))
def test_crossover_agrees_with_the_costs(
    profile: Profile, goodput: float, latency: float, prefix: int
) -> None:
    found = crossover(profile, chunk_bytes=10**7, goodput_gbps=goodput, latency_ms=latency)
    recompute = profile.milliseconds(prefix)
    if abs(recompute - found.fetch_ms) > 1e-6 * (1 + recompute):
        inside = any(low <= prefix <= high for low, high in found.fetch_wins)
        assert inside == (recompute > found.fetch_ms)
    if math.isfinite(found.break_even_gbps):
        faster = crossover(
            profile,
            chunk_bytes=10**7,
            goodput_gbps=found.break_even_gbps * 1.001,
            latency_ms=latency,
        )
        assert faster.fetch_wins == ((0.0, math.inf),)


def test_several_crossings_are_all_told() -> None:
    bump = TableProfile(1, (0.0, 10.0, 20.0), (0.0, 10.0, 0.0))
    found = crossover(bump, chunk_bytes=125_000, goodput_gbps=1.0, latency_ms=4.0)
    assert found.fetch_wins == ((5.0, 15.0),)
    assert found.verdict == "fetching wins from 5 to 15 tokens"
    slow = crossover(bump, chunk_bytes=125_000, goodput_gbps=0.01)
    assert slow.verdict == "recomputing wins at every depth"
    assert slow.first_token is None
