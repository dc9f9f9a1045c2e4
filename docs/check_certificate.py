"""Check a certificate with nothing but Python: a JSON reader and rational arithmetic.

    python check_certificate.py instance.json certificate.json

Exit status 0 accepted, 1 rejected, 2 nothing to check. It shares nothing with the package. The
instance is read as docs/formats.md says, every cost as the double that its table states; from
there on all is exact and as docs/certificates.md says. Plain and slow on purpose: for instances
of some hundred chunks, or thousands with patience. It judges the claim, not the format: that the
instance is a sound file is taken for granted.
"""

import base64
import gzip
import hashlib
import json
import struct
import sys
import zlib
from bisect import bisect_right
from fractions import Fraction
from itertools import combinations
from math import inf, prod
from pathlib import Path

TYPES = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q", "<u4": "I", "<u8": "Q"}
MOST_WITHHELD = 16  # workers a chunk


class ClaimError(Exception):
    """The certificate does not prove what it claims."""


def require(condition, message):
    if not condition:
        raise ClaimError(message)


# ------------------------------------------------------------------ the files: docs/formats.md


def read(path, form):
    """A JSON file, gzipped or not."""
    raw = Path(path).read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document = json.loads(raw.decode("utf-8"))
    if not isinstance(document, dict) or (document["format"], document["version"]) != (form, 1):
        raise ValueError(f"expected format {form!r}, version 1")
    return document


def numbers(array):
    """A number or nested lists of them as doubles, also from base64; null is infinity."""
    if isinstance(array, dict):
        raw, shape = base64.b64decode(array["base64"], validate=True), array["shape"]
        array = [x for (x,) in struct.iter_unpack("<" + TYPES[array["dtype"]], raw)]
        if len(array) != prod(shape):
            raise ValueError(f"expected {prod(shape)} numbers in base64, got {len(array)}")
        for size in shape[:0:-1]:
            array = [array[i : i + size] for i in range(0, len(array), size)]
    if isinstance(array, list):
        return [numbers(x) for x in array]
    return inf if array is None else float(array) + 0.0


def whole(array):
    return [int(x) for x in numbers(array)]


def table(declared):
    """A cost table's kind and its arrays, by the names that the digest has for them."""
    if not isinstance(declared, dict):
        return "UniformCost", {"value": numbers(declared)}
    if "goodput_gbps" in declared:
        names = ("goodput_gbps", "latency_ms")
        return "LinkCost", {name: numbers(declared[name]) for name in names}
    ((kind, content),) = declared.items()
    if kind == "affine":
        names = ("base", "per_prefix_token")
        return "AffineCost", {name: numbers(content[name]) for name in names}
    if kind == "table":
        tokens, values = numbers(content["prefix_tokens"]), numbers(content["cost"])
        return "InterpolatedCost", {"prefix_tokens": tokens, "values": values}
    return {"dense": "DenseCost", "pairwise": "PairwiseCost"}[kind], {"values": numbers(content)}


def interpolated(points, values, at):
    """The curve through (points, values), clamped at both ends."""
    i = bisect_right(points, at) - 1
    if i < 0 or i == len(points) - 1 or at == points[i]:
        return values[max(i, 0)]
    slope = (values[i + 1] - values[i]) / (points[i + 1] - points[i])
    return slope * (at - points[i]) + values[i]


class Instance:
    """An instance file: its tree in preorder, and the savings as the definition has them."""

    def __init__(self, file):
        self.file, tree, workers = file, file["tree"], file["workers"]
        self.pairwise = file["objective"] == "pairwise"
        self.m, self.budgets = len(workers), [int(worker["budget"]) for worker in workers]
        names = list(dict.fromkeys(worker.get("compatibility") for worker in workers))
        self.group = [names.index(worker.get("compatibility")) for worker in workers]
        self.parents = whole(tree["parents"])
        self.n = len(self.parents)
        self.walk()
        self.demand = {}
        for m, b, value in self.requests():
            self.demand[m, b] = self.demand.get((m, b), 0.0) + value
        self.demand = {cell: value for cell, value in sorted(self.demand.items()) if value > 0}
        self.tables = {part: table(file[part]) for part in ("recompute", "fetch")}
        self.normal_form()

    def walk(self):
        """Number the chunks in preorder; a subtree is order[i : end[i]] of its root order[i]."""
        children = {b: [] for b in range(-1, self.n)}
        for b, parent in enumerate(self.parents):
            children[parent].append(b)
        self.order, self.depth, stack = [], [0] * self.n, children[-1][::-1]
        while stack:
            b = stack.pop()
            self.order.append(b)
            for child in children[b]:
                self.depth[child] = self.depth[b] + 1
            stack += children[b][::-1]
        if len(self.order) < self.n:
            raise ValueError("tree.parents: expected no cycle")
        size = [1] * self.n
        for b in reversed(self.order):
            if self.parents[b] >= 0:
                size[self.parents[b]] += size[b]
        self.end = [i + size[b] for i, b in enumerate(self.order)]

    def requests(self):
        """Demand entries in their order, as (worker, chunk, value)."""
        if "dense" in self.file["demand"]:
            for m, row in enumerate(numbers(self.file["demand"]["dense"])):
                yield from ((m, b, value) for b, value in enumerate(row))
        else:
            lists = self.file["demand"]["sparse"]
            columns = whole(lists["worker"]), whole(lists["chunk"]), numbers(lists["value"])
            yield from zip(*columns, strict=True)

    def digest(self):
        """SHA-256 of the canonical content."""
        hasher, tree = hashlib.sha256(), self.file["tree"]

        def text(tag, value):
            content = repr(value).encode("utf-8", "surrogatepass")
            hasher.update(f"{tag}:{type(value).__name__}:{len(content)}\n".encode() + content)

        def array(tag, values, form):
            shape = []
            level = values
            while isinstance(level, list):
                shape.append(len(level))
                level = level[0] if level else None
            for _ in shape[1:]:
                values = [x for row in values for x in row]
            content = struct.pack(f"<{len(values)}{TYPES[form]}", *values)
            hasher.update(f"{tag}:{form}:{tuple(shape)}:{len(content)}\n".encode() + content)

        size = tree.get("chunk_bytes")
        text("format", "prefixplace-instance 1")
        text("objective", self.file["objective"])
        array("parents", self.parents, "<i8")
        text("chunk_tokens", int(tree["chunk_tokens"]))
        text("chunk_bytes", None if size is None else int(size))
        for key in tree.get("keys") or ():
            text("key", key)
        for worker, budget in zip(self.file["workers"], self.budgets, strict=True):
            text("worker", worker["name"])
            text("budget", budget)
            text("compatibility", worker.get("compatibility"))
        array("demand.worker", [m for m, _ in self.demand], "<i8")
        array("demand.chunk", [b for _, b in self.demand], "<i8")
        array("demand.value", list(self.demand.values()), "<f8")
        for tag, (kind, arrays) in self.tables.items():
            text(tag, kind)
            for name, values in arrays.items():
                put = array if isinstance(values, list) else lambda tag, value, _: text(tag, value)
                put(f"{tag}.{name}", values, "<f8")
        return hasher.hexdigest()

    def cost(self, part, m, h, b):
        """Milliseconds of m for chunk b, in double precision, fetched from h."""
        kind, arrays = self.tables[part]
        first, second = (*arrays.values(), None)[:2]
        prefix_tokens = self.depth[b] * int(self.file["tree"]["chunk_tokens"])
        match kind:
            case "UniformCost":
                return first
            case "DenseCost":
                return first[m][b]
            case "PairwiseCost":
                return first[m][h][b]
            case "AffineCost":
                return first[m] + second[m] * prefix_tokens
            case "InterpolatedCost":
                return interpolated(first, second[m], float(prefix_tokens))
        goodput, latency = first[m], second[m]
        if isinstance(goodput, list):
            goodput, latency = goodput[h], latency[h]
        size = int(self.file["tree"]["chunk_bytes"])
        return size * 8 / (goodput * 1e6) + latency if goodput else inf

    # ------------------------------------------------------------ savings: docs/certificates.md

    def saving(self, m, h, b):
        """s_{m,h}(b), exactly: demand times w for an own copy, else times [w - f]_+."""
        demand, w = Fraction(self.demand[m, b]), Fraction(self.cost("recompute", m, h, b))
        return demand * w if m == h else demand * w - self.remaining(m, h, b)

    def remaining(self, m, h, b):
        """Demand times min(w, f): what is left to pay where h serves m."""
        w = self.cost("recompute", m, h, b)
        f = self.cost("fetch", m, h, b) if self.group[m] == self.group[h] else inf
        return Fraction(self.demand[m, b]) * Fraction(min(w, f))

    def normal_form(self):
        """Rows {chunk: {requester or group: [v_{r,h} of all h]}} and local values {(h, b): l}."""
        self.rows, self.local = {b: {} for b in range(self.n)}, {}
        for m, b in self.demand:
            if self.pairwise:
                self.rows[b][m] = [self.saving(m, h, b) for h in range(self.m)]
                continue
            # Whom m fetches from does not matter here, so itself stands for its whole group.
            self.local[m, b] = self.remaining(m, m, b)
            row = self.rows[b].setdefault(self.group[m], [Fraction(0)] * self.m)
            for h in range(self.m):
                if self.group[h] == self.group[m]:
                    row[h] += self.saving(m, m, b) - self.local[m, b]

    def summands(self):
        """Numbers of which every F is a sum."""
        yield from self.local.values()
        for rows in self.rows.values():
            for values in rows.values():
                yield from values

    def value(self, resident):
        """F of a placement by its definition, after checking that it is one."""
        require(len(resident) == self.m, "resident: one list for each worker is expected")
        for m, held in enumerate(resident):
            name = f"resident[{m}]"
            require(all(0 <= b < self.n for b in held), f"{name}: unknown chunk")
            require(len(held) == len(set(held)), f"{name}: a chunk stands there twice")
            require(len(held) <= self.budgets[m], f"{name}: over budget")
            above = {self.parents[b] for b in held} - {-1}
            require(above <= set(held), f"{name}: not prefix-complete")
        resident = [set(held) for held in resident]
        return sum(
            max((self.saving(m, h, b) for h in range(self.m) if b in resident[h]), default=0)
            for m, b in self.demand
        )


# ----------------------------------------------------------------- the bound: docs/certificates.md


class Bounds:
    """UB(prices, withheld | decisions) for one price vector."""

    def __init__(self, problem, vector, where):
        self.problem, workers, n = problem, range(problem.m), problem.n
        requesters = problem.m if problem.pairwise else max(problem.group) + 1
        price = self.amounts(vector, "requester", requesters, where)
        nothing = {"worker": [], "chunk": [], "value": []}
        held_back = vector.get("withheld", nothing)
        withheld = self.amounts(held_back, "worker", problem.m, f"{where}.withheld")
        self.paid, self.known = sum(price.values()), {}
        profits = [[Fraction(0)] * n for _ in workers]
        for b in range(n):
            rows = problem.rows[b].items()
            gains = [[max(v - price.get((r, b), 0), 0) for v in values] for r, values in rows]
            beta = {h: withheld[h, b] for h in workers if (h, b) in withheld}
            require(len(beta) <= MOST_WITHHELD, f"{where}: too many workers for chunk {b}")
            self.paid += most_claimed(beta, gains)
            for h in workers:
                worth = problem.local.get((h, b), 0) + sum(row[h] for row in gains)
                profits[h][b] = max(worth - beta.get(h, 0), Fraction(0))
        # All are multiples of powers of two: as whole numbers of the finest they add up faster.
        self.unit = Fraction(1, max((p.denominator for row in profits for p in row), default=1))
        self.profits = [[int(p / self.unit) for p in row] for row in profits]

    def amounts(self, lists, who, most, where):
        """Three lists as {(who, chunk): value}."""
        cells = list(zip(whole(lists[who]), whole(lists["chunk"]), strict=True))
        values = numbers(lists["value"])
        known = all(0 <= first < most and 0 <= b < self.problem.n for first, b in cells)
        require(known and len(set(cells)) == len(cells), f"{where}: unknown or repeated entries")
        require(all(0 <= x < inf for x in values), f"{where}: numbers >= 0 are expected")
        return dict(zip(cells, map(Fraction, values), strict=True))

    def of(self, decisions):
        """The bound over all placements that obey decisions (worker, chunk, in); -1 for none."""
        best = []
        for h in range(self.problem.m):
            own = frozenset((b, inside) for g, b, inside in decisions if g == h)
            if (h, own) not in self.known:
                self.known[h, own] = self.best(h, own)
            best.append(self.known[h, own])
        return self.paid + sum(best) * self.unit if min(best) >= 0 else -1

    def best(self, h, decisions):
        """The most that a closed set of worker h is worth, in units; -1 where none obeys."""
        problem, profits = self.problem, self.profits[h]
        taken, barred = set(), {b for b, inside in decisions if not inside}
        for b, inside in decisions:
            while inside and b >= 0:
                taken.add(b)
                b = problem.parents[b]  # noqa: PLW2901
        if taken & barred:
            return -1
        k = min(problem.budgets[h], problem.n)
        rows = {problem.n: [0] * (k + 1)}
        for i in range(problem.n - 1, -1, -1):
            b, skip, below = problem.order[i], rows[problem.end[i]], rows[i + 1]
            if b in barred:
                rows[i] = skip
                continue
            p = profits[b]
            take = [-1] + [p + below[j] if below[j] >= 0 else -1 for j in range(k)]
            rows[i] = take if b in taken else list(map(max, take, skip))
        return rows[0][k]


def most_claimed(beta, gains):
    """c(b): the most that holders of whom something is withheld could claim together."""
    claims = [Fraction(0)]
    for size in range(1, len(beta) + 1):
        for chosen in combinations(beta, size):
            overlap = sum(
                sum(row[h] for h in chosen) - max(row[h] for h in chosen) for row in gains
            )
            claims.append(sum(beta[h] for h in chosen) - overlap)
    return max(claims)


def tree_bounds(problem, vectors, tree):
    """Yield the bounds of all leaves and of the opposites of all fixed chunks."""
    stack, seen = [(0, ())], set()
    while stack:
        at, above = stack.pop()
        require(at < len(tree), f"tree[{at}]: no such node")
        require(at not in seen, f"tree[{at}]: it has two parents")
        seen.add(at)
        node, children = tree[at], []
        if "worker" in node:
            h, b = node["worker"], node["chunk"]
            children = [(node["in"], (h, b, True)), (node["out"], (h, b, False))]
            children = [(child, (decision,)) for child, decision in children]
        else:
            require(0 <= node["prices"] < len(vectors), f"tree[{at}]: no such prices")
            bounds = vectors[node["prices"]]
            if "fixed" in node:
                lists = [whole(node["fixed"][name]) for name in ("worker", "chunk", "in")]
                fixed = tuple((h, b, inside == 1) for h, b, inside in zip(*lists, strict=True))
                children = [(node["child"], fixed)]
                for h, b, inside in fixed:
                    yield bounds.of((*above, (h, b, not inside)))
            else:
                yield bounds.of(above)
        for child, decisions in children:
            known = all(0 <= h < problem.m and 0 <= b < problem.n for h, b, _ in decisions)
            require(known, f"tree[{at}]: unknown worker or chunk")
            require(child > at, f"tree[{at}]: a child comes before its parent")
            pairs = [(h, b) for h, b, _ in above + decisions]
            require(len(set(pairs)) == len(pairs), f"tree[{at}]: decided on twice")
            stack.append((child, above + decisions))
    require(len(seen) == len(tree), "tree: a node has no parent")


def check(instance, certificate):
    """Return F of the placement and the proven bound; raise ClaimError where the claim fails."""
    problem = Instance(instance)
    require(certificate["instance"] == problem.digest(), "instance: it is of another one")
    require(certificate["objective"] == instance["objective"], "objective: it is of another one")
    claims = {name: certificate.get(name) for name in ("lower", "upper", "granularity")}
    for name, claim in claims.items():
        require(claim is None or 0 <= claim < inf, f"{name}: a number >= 0 is expected")
    value = problem.value([whole(chunks) for chunks in certificate["resident"]])
    vectors = [
        Bounds(problem, lists, f"prices[{i}]") for i, lists in enumerate(certificate["prices"])
    ]
    bound = max(tree_bounds(problem, vectors, certificate["tree"]))
    if claims["granularity"] is not None:
        step = Fraction(claims["granularity"])
        divides = step > 0 and all(number % step == 0 for number in problem.summands())
        require(divides, "granularity: some saving is no multiple of it")
        bound = bound // step * step
    low, high = Fraction(claims["lower"]), Fraction(claims["upper"])
    require(
        low <= value, f"lower is too high: {shown(low)}, but the placement is worth {shown(value)}"
    )
    require(high >= bound, f"upper is too low: {shown(high)}, but the bound is {shown(bound)}")
    return value, bound


def shown(number):
    return str(number) if number == int(number) else f"about {float(number)!r}"


def main(paths):
    """Print what the certificate proves; return the exit status."""
    forms = ("prefixplace-instance", "prefixplace-certificate")
    try:
        value, bound = check(*(read(*file) for file in zip(paths, forms, strict=True)))
    except ClaimError as reason:
        print(f"rejected: {reason}")
        return 1
    except (OSError, EOFError, zlib.error) as error:
        print(f"cannot be read: {error}")
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        struct.error,
    ) as error:
        print(f"not of the format: {type(error).__name__}: {error}")
    else:
        print(f"accepted: the placement is worth {shown(value)}, ", end="")
        print(f"none is worth more than {shown(bound)}")
        return 0
    return 2


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
