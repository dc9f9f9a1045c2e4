"""Check a certificate with nothing but a JSON reader and rational arithmetic.

    python check_certificate.py instance.json certificate.json

Plain and slow on purpose: it shares nothing with the package. It follows docs/certificates.md.
"""

import json
import sys
from fractions import Fraction
from itertools import combinations
from math import inf
from pathlib import Path


def dense(table, workers, depth_tokens):
    """Costs [worker][chunk] as doubles, of the tables that small instances use."""
    if not isinstance(table, dict):
        return [[inf if table is None else float(table) for _ in depth_tokens] for _ in workers]
    if "affine" in table:
        base, slope = table["affine"]["base"], table["affine"]["per_prefix_token"]
        return [[base[m] + slope[m] * p for p in depth_tokens] for m in range(len(workers))]
    return [[inf if c is None else float(c) for c in row] for row in table["dense"]]


class Instance:
    """Demand, costs and tree of an instance file; savings as the definition has them."""

    def __init__(self, file):
        self.parents, workers = file["tree"]["parents"], file["workers"]
        self.n, self.m = len(self.parents), len(workers)
        self.budgets = [worker["budget"] for worker in workers]
        names = list(dict.fromkeys(worker.get("compatibility") for worker in workers))
        self.group = [names.index(worker.get("compatibility")) for worker in workers]
        self.pairwise = file["objective"] == "pairwise"
        self.demand = [[0.0] * self.n for _ in workers]
        if "dense" in file["demand"]:
            self.demand = file["demand"]["dense"]
        else:
            entries = file["demand"]["sparse"]
            for m, b, v in zip(*(entries[k] for k in ("worker", "chunk", "value")), strict=True):
                self.demand[m][b] += v
        tokens = [(len(self.path(b)) - 1) * file["tree"]["chunk_tokens"] for b in range(self.n)]
        self.recompute = dense(file["recompute"], workers, tokens)
        fetch = file["fetch"]
        if isinstance(fetch, dict) and "pairwise" in fetch:
            self.fetch = [dense({"dense": rows}, workers, tokens) for rows in fetch["pairwise"]]
        else:
            self.fetch = [[row] * self.m for row in dense(fetch, workers, tokens)]

    def path(self, b):
        """The chunk and its ancestors."""
        return [b, *self.path(self.parents[b])] if b >= 0 else []

    def fetched(self, m, h, b):
        """Demand * [w - f]_+ of m when h serves it; 0 across compatibility groups."""
        w, f = self.recompute[m][b], self.fetch[m][h][b]
        if f >= w or self.group[m] != self.group[h]:
            return Fraction(0)
        return Fraction(self.demand[m][b]) * (Fraction(w) - Fraction(f))

    def saving(self, m, h, b):
        """s_{m,h}(b)."""
        if m == h:
            return Fraction(self.demand[m][b]) * Fraction(self.recompute[m][b])
        return self.fetched(m, h, b)

    def value(self, resident):
        """F of a placement, after checking that it is one."""
        for m, held in enumerate(resident):
            assert len(held) == len(set(held)) <= self.budgets[m], "over budget"
            assert all(set(self.path(b)) <= set(held) for b in held), "not prefix-complete"
        holders = [[h for h in range(self.m) if b in resident[h]] for b in range(self.n)]
        return sum(
            max((self.saving(m, h, b) for h in holders[b]), default=0)
            for m in range(self.m)
            for b in range(self.n)
        )

    def gains(self, h, b, price):
        """What h gets by serving the rows of chunk b under {(requester or group, chunk): price}."""
        if self.pairwise:
            return [max(self.saving(m, h, b) - price.get((m, b), 0), 0) for m in range(self.m)]
        left = max(self.coverage(h, b) - price.get((self.group[h], b), 0), 0)
        return [left if group == self.group[h] else 0 for group in range(max(self.group) + 1)]

    def profit(self, h, b, prices):
        """What chunk b is worth at h under (prices, {(worker, chunk): what is withheld})."""
        price, withheld = prices
        local = 0 if self.pairwise else self.local(h, b)
        return max(local + sum(self.gains(h, b, price)) - withheld.get((h, b), 0), 0)

    def paid_back(self, b, prices):
        """The most that a set of workers of whom something is withheld could claim for chunk b."""
        price, withheld = prices
        workers = [h for h in range(self.m) if withheld.get((h, b), 0) > 0]
        gains = {h: self.gains(h, b, price) for h in workers}
        claims = [0]
        for size in range(1, len(workers) + 1):
            for chosen in combinations(workers, size):
                rows = list(zip(*(gains[h] for h in chosen), strict=True))
                claim = sum(withheld[h, b] for h in chosen)
                claims.append(claim - sum(sum(row) - max(row) for row in rows))
        return max(claims)

    def local(self, h, b):
        """Requester-side: what only an own copy saves, demand * min(w, f)."""
        return self.saving(h, h, b) - self.fetched(h, h, b)

    def coverage(self, h, b):
        """Requester-side: what any copy in the group of h saves all its workers."""
        return sum(self.fetched(m, m, b) for m in range(self.m) if self.group[m] == self.group[h])

    def summands(self):
        """Numbers of which every F is a sum."""
        for b in range(self.n):
            for h in range(self.m):
                if self.pairwise:
                    yield from (self.saving(m, h, b) for m in range(self.m))
                else:
                    yield from (self.local(h, b), self.coverage(h, b))

    def best(self, h, prices, decisions):
        """The best closed set of h that obeys the decisions (worker, chunk, in); -1 for none."""
        taken = {a for g, b, inside in decisions if g == h and inside for a in self.path(b)}
        barred = {b for g, b, inside in decisions if g == h and not inside}
        order = sorted(range(self.n), key=lambda b: self.path(b)[::-1])
        k = min(self.budgets[h], self.n)
        rows = {self.n: [0] * (k + 1)}
        for i in range(self.n - 1, -1, -1):
            b = order[i]
            after = next((q for q in range(i + 1, self.n) if b not in self.path(order[q])), self.n)
            p, below, skip = self.profit(h, b, prices), rows[i + 1], rows[after]
            take = [-1] + [p + below[j] if below[j] >= 0 else -1 for j in range(k)]
            if b in taken & barred:
                return -1
            rows[i] = take if b in taken else skip if b in barred else list(map(max, take, skip))
        return rows[0][k]

    def bound(self, prices, decisions):
        """UB(prices | decisions); -1 where some worker has no set that obeys."""
        values = [self.best(h, prices, decisions) for h in range(self.m)]
        paid = sum(prices[0].values()) + sum(self.paid_back(b, prices) for b in range(self.n))
        return -1 if min(values) < 0 else paid + sum(values)


def table_of(lists, first):
    """Three lists as {(first, chunk): value}."""
    columns = (lists[name] for name in (first, "chunk", "value"))
    table = {(who, b): Fraction(value) for who, b, value in zip(*columns, strict=True)}
    assert all(value >= 0 for value in table.values())
    return table


def check(instance_file, certificate):
    """Return F of the placement and the proven bound; AssertionError where the claim fails."""
    problem = Instance(instance_file)
    nothing = {"worker": [], "chunk": [], "value": []}
    tables = [
        (table_of(lists, "requester"), table_of(lists.get("withheld", nothing), "worker"))
        for lists in certificate["prices"]
    ]
    tree, stack, bounds, seen = certificate["tree"], [(0, [])], [], []
    while stack:
        at, above = stack.pop()
        node = tree[at]
        seen.append(at)
        if "worker" in node:
            stack.append((node["in"], [*above, (node["worker"], node["chunk"], True)]))
            stack.append((node["out"], [*above, (node["worker"], node["chunk"], False)]))
        elif "fixed" in node:
            fixed = node["fixed"]
            fixed = list(zip(fixed["worker"], fixed["chunk"], map(bool, fixed["in"]), strict=True))
            for h, b, inside in fixed:
                opposite = [*above, (h, b, not inside)]
                bounds.append(problem.bound(tables[node["prices"]], opposite))
            stack.append((node["child"], above + fixed))
        else:
            bounds.append(problem.bound(tables[node["prices"]], above))
    assert sorted(seen) == list(range(len(tree))), "not a tree"
    value, bound = problem.value(certificate["resident"]), max(bounds)
    if "granularity" in certificate:
        step = Fraction(certificate["granularity"])
        assert all(number % step == 0 for number in problem.summands()), "granularity"
        bound = bound // step * step
    assert Fraction(certificate["lower"]) <= value, "lower is too high"
    assert Fraction(certificate["upper"]) >= bound, "upper is too low"
    return value, bound


if __name__ == "__main__":
    files = [json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]
    print("accepted: the placement is worth {}, none is worth more than {}".format(*check(*files)))
