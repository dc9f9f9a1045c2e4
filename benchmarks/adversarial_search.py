"""Search for the choices of the family `adversarial` against the multi-start planner.

    python benchmarks/adversarial_search.py nested 6 8 10 12 > found.json
    python benchmarks/adversarial_search.py lists 6 8 10 12 > found.json

Simulated annealing over who can hold what. Every worker can hold one of as many items as there
are workers, items are ranked (a lower index is worth a little more), and item ``own[w]`` is among
those of worker w, so that together they can hold all. A start takes the workers in its order,
each the best item that is left. Minimised is what the best start of the planner finds: the two
orders by standalone value and the six that it draws at its default seed.

- `nested`: a worker of kind t can hold every item of a kind up to t (requester-side, by depth).
- `lists`: any choices (pairwise); the requester that all items are for is a worker without memory,
  last in index, and takes part in the planner's orders.
"""

import json
import sys

import numba
import numpy as np

STARTS = 6  # drawn orders, as solvers/planner.py draws them
ROUNDS = 1_500_000


def drawn_orders(workers: int, others: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    orders = [rng.permutation(workers + others).tolist() for _ in range(STARTS)]
    return np.array([[w for w in order if w < workers] for order in orders])


@numba.njit
def best_start(can, orders):
    """The most items that any start ends with, and a smoother figure to go downhill on."""
    m = can.shape[0]
    first = np.full(m, m)
    for w in range(m):
        for item in range(m):
            if can[w, item]:
                first[w] = item
                break
    by_score = np.argsort(first * m + np.arange(m))
    taken = np.zeros(m, numba.boolean)
    most, excess = 0, 0.0
    for at in range(len(orders) + 2):
        taken[:] = False
        count = 0
        for step in range(m):
            if at == 0:
                w = by_score[step]
            elif at == 1:
                w = by_score[m - 1 - step]
            else:
                w = orders[at - 2, step]
            for item in range(first[w], m):
                if can[w, item] and not taken[item]:
                    taken[item] = True
                    count += 1
                    break
        most = max(most, count)
        excess += max(0.0, count - 0.5 * m) ** 2
    return most, excess + 0.5 * most


@numba.njit
def anneal_lists(m, orders, seed, density, rounds):
    np.random.seed(seed)
    own = np.random.permutation(m)
    can = np.random.random((m, m)) < density
    for w in range(m):
        can[w, own[w]] = True
    most, energy = best_start(can, orders)
    best, kept = most, can.copy()
    for at in range(rounds):
        before, own_before = can.copy(), own.copy()
        a, b = np.random.randint(m), np.random.randint(m)
        kind = np.random.random()
        if kind < 0.7:
            can[a, b] = not can[a, b]
        elif kind < 0.85:
            own[a], own[b] = own[b], own[a]
        else:
            own[a], own[b] = own[b], own[a]
            for item in range(m):
                can[a, item], can[b, item] = can[b, item], can[a, item]
        can[a, own[a]] = True
        can[b, own[b]] = True
        most, after = best_start(can, orders)
        heat = 2.0 * (1 - at / rounds) ** 2 + 1e-9
        if after <= energy or np.random.random() < np.exp((energy - after) / heat):
            energy = after
            if most < best:
                best, kept = most, can.copy()
                if 2 * best <= m + m % 2:
                    break
        else:
            can, own = before, own_before
    return best, kept


@numba.njit
def choices_of(kinds):
    """Items ranked by kind, as many of each as workers of it."""
    ranked = np.sort(kinds)
    m = len(kinds)
    can = np.zeros((m, m), numba.boolean)
    for w in range(m):
        for item in range(m):
            can[w, item] = ranked[item] <= kinds[w]
    return can


@numba.njit
def anneal_nested(m, orders, seed, most_kinds, rounds):
    np.random.seed(seed)
    kinds = np.random.randint(0, most_kinds, m)
    most, energy = best_start(choices_of(kinds), orders)
    best, kept = most, kinds.copy()
    for at in range(rounds):
        before = kinds.copy()
        a, b = np.random.randint(m), np.random.randint(m)
        if np.random.random() < 0.5:
            kinds[a] = np.random.randint(most_kinds)
        else:
            kinds[a], kinds[b] = kinds[b], kinds[a]
        most, after = best_start(choices_of(kinds), orders)
        heat = 2.0 * (1 - at / rounds) ** 2 + 1e-9
        if after <= energy or np.random.random() < np.exp((energy - after) / heat):
            energy = after
            if most < best:
                best, kept = most, kinds.copy()
        else:
            kinds = before
    return best, kept


def search(kind: str, m: int) -> tuple[int, list]:
    found = []
    for seed in range(4):
        if kind == "lists":
            orders = drawn_orders(m, 1)
            found += [anneal_lists(m, orders, seed, dense, ROUNDS) for dense in (0.05, 0.3)]
        else:
            orders = drawn_orders(m, 0)
            found += [anneal_nested(m, orders, seed, k, ROUNDS // 10) for k in (2, 3, 4, 6, 8)]
        if 2 * min(found, key=lambda each: each[0])[0] <= m + m % 2:
            break
    best, kept = min(found, key=lambda each: each[0])
    if kind == "lists":
        return best, [np.flatnonzero(row).tolist() for row in kept]
    return best, kept.tolist()


def main() -> None:
    kind, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
    rows = {}
    for m in sizes:
        best, rows[str(m)] = search(kind, m)
        print(f"{kind} {m}: the best start holds {best} of {m}", file=sys.stderr, flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
