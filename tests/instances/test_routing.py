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
        prefixes = [tuple(path[:length]) for length in range(1, len(path) + 1)]
        match = [sum(prefix in seen[m] for prefix in prefixes) for m in range(workers)]
        assert got == min(under, key=lambda m: (-match[m], load[m], m))
        seen[got].update(prefixes)
        load[got] += len(path)


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
    assert set(routed(requests, 4, "prefix-affinity", load_cap=1000)) == {0, 1, 2, 3} - {1, 2, 3}
    spread = routed(requests, 4, "prefix-affinity", load_cap=1.0)
    assert sorted({spread.count(m) for m in range(4)}) == [25]


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
