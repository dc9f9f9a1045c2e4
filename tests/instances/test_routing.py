"""Routing rules, against their definition."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixplace_opt.instances.routing import router_named
from prefixplace_opt.problem import InputError, PrefixTreeBuilder

paths = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=40)


def routed(requests: list[list[int]], workers: int, route: str, **options: float) -> list[int]:
    builder = PrefixTreeBuilder()
    router = router_named(route, workers, builder.parents, **options)  # type: ignore[arg-type]
    return [router.route(builder.add(path), len(path)) for path in requests]


@given(paths, st.integers(1, 5), st.floats(1, 3))
def test_prefix_affinity_by_its_definition(
    requests: list[list[int]], workers: int, cap: float
) -> None:
    seen: list[set[tuple[int, ...]]] = [set() for _ in range(workers)]
    load = [0] * workers
    for path, got in zip(
        requests, routed(requests, workers, "prefix-affinity", load_cap=cap), strict=True
    ):
        total = sum(load)
        under = [
            m
            for m in range(workers)
            if load[m] <= cap / workers * total or load[m] * workers <= total
        ]
        assert load.index(min(load)) in under
        short = [m for m in range(workers) if load[m] < 1 / (cap * workers) * total]
        under = short or under
        prefixes = [tuple(path[:length]) for length in range(1, len(path) + 1)]
        match = [sum(prefix in seen[m] for prefix in prefixes) for m in range(workers)]
        assert got == min(under, key=lambda m: (-match[m], load[m], m))
        seen[got].update(prefixes)
        load[got] += len(path)


@given(paths, st.floats(1, 1000))
def test_every_worker_gets_traffic(requests: list[list[int]], cap: float) -> None:
    # A worker that is short, though not idle, may come first a few times.
    assert set(routed(requests * 20, 3, "prefix-affinity", load_cap=cap)) == {0, 1, 2}


def test_round_robin_and_random() -> None:
    requests = [[i] for i in range(4000)]
    assert routed(requests[:5], 3, "round-robin") == [0, 1, 2, 0, 1]
    drawn = routed(requests, 4, "random", seed=7)
    assert drawn == routed(requests, 4, "random", seed=7)
    assert drawn != routed(requests, 4, "random", seed=8)
    counts = [drawn.count(m) for m in range(4)]
    assert all(abs(count - 1000) < 5 * math.sqrt(1000) for count in counts)


def test_load_cap_spreads_one_hot_prefix() -> None:
    requests = [[0]] * 100
    for cap in (1.0, 1000.0):
        spread = routed(requests, 4, "prefix-affinity", load_cap=cap)
        assert sorted({spread.count(m) for m in range(4)}) == [25]


def test_prompts_that_all_begin_alike_leave_no_worker_idle() -> None:
    # One root, else nothing shared: seven workers may take 1.25 times their share each.
    requests = [[0, 1 + i, *range(10)] for i in range(400)]
    got = routed(requests, 8, "prefix-affinity")
    counts = [got.count(m) for m in range(8)]
    assert min(counts) >= 50 / 1.25 - 1
    assert max(counts) <= 50 * 1.25 + 1


def test_followers_go_where_their_prefix_is() -> None:
    requests = [[i % 4, *range(step + 2)] for step in range(20) for i in range(4)]
    got = routed(requests, 4, "prefix-affinity")
    assert got == [0, 1, 2, 3] * 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"route": "hash"},
            "route: expected one of round-robin, random, prefix-affinity, got 'hash'",
        ),
        (
            {"route": "prefix-affinity", "load_cap": 0.9},
            "load_cap: expected a number >= 1, got 0.9",
        ),
        ({"route": "prefix-affinity", "load_cap": float("nan")}, "load_cap: expected a finite"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        router_named(workers=2, parents=[], **options)  # type: ignore[arg-type]


def test_random_shares_nothing_with_the_global_generator() -> None:
    random.seed(1)
    first = routed([[0]] * 10, 5, "random", seed=3)
    random.seed(2)
    assert first == routed([[0]] * 10, 5, "random", seed=3)
