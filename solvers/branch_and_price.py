"""Branch and price: Lagrangian bounds in a tree of decisions on (worker, chunk).

Every node bounds its subproblem by prices inherited from its parent and improved by a descent;
iterates of the descent are refined to plans; what the bound refutes is fixed; and where something
is left, the node branches on a chunk of a worker, in (with its ancestors) or out (with its
subtree), so that the oracle stays a tree recurrence. Dives follow the child of the larger bound;
after a dive the open node of the largest bound is next. The proof is the tree with its prices.
"""

from __future__ import annotations

import heapq
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Proof, Savings

from .coordinate_refinement import Refinement
from .fixing import forced_bounds
from .incumbent import Incumbent
from .lagrangian import Descent, descend
from .pricing import Pricer, Pricing
from .proof_tree import ProofTree
from .run import Run
from .subproblem import FREE, IN, OUT, States, Subproblem, decide
from .whole_refinement import WholeRefinement

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

Ending = Literal["time-limit", "interrupted", "node-limit"]

#: Most evaluations of a descent at the root, in all, and at any other node.
ROOT_STEPS, NODE_STEPS = 400, 50
#: A node is contracted and priced again while fixing decides this share of its slots.
WORTHWHILE_FIXING = 0.1
#: One in so many iterates is refined to a plan; on the whole problem, where tables are too large.
REFINE_EVERY, REFINE_WHOLE_EVERY = 3, 10


@dataclass(order=True)
class Node:
    """An open node; the order is that of the best-bound queue."""

    rank: tuple[float, int]
    bound: float = field(compare=False)
    states: States = field(compare=False, repr=False)
    prices: Floats = field(compare=False, repr=False)
    proof_node: int = field(compare=False)
    proof_prices: int = field(compare=False)
    depth: int = field(compare=False)


class BranchAndPrice:
    """One search; :meth:`run` ends when the incumbent is proven or a limit is met.

    Parameters
    ----------
    form, tree, budgets
        The problem.
    run
        Clock, limits and reporting.
    incumbent
        The best plan known; improved in place. Its ``cutoff`` says which bounds are good enough.
    pool
        Where the workers of large problems are solved in parallel.
    """

    def __init__(
        self,
        form: Savings,
        tree: PrefixTree,
        budgets: NDArray[np.int64],
        run: Run,
        incumbent: Incumbent,
        pool: Executor | None = None,
    ) -> None:
        self.form, self.tree, self.budgets = form, tree, budgets
        self._run, self._incumbent, self._pool = run, incumbent, pool
        self._proof = ProofTree(tree)
        self._queue: list[Node] = []
        self._current: Node | None = None
        self._closed = 0.0
        self.nodes = 0
        self.evaluations = 0

    @cached_property
    def _whole(self) -> WholeRefinement:
        return WholeRefinement(self.form, self.tree, self.budgets, self._run.stopped)

    @property
    def upper(self) -> float:
        """What is proven: the largest bound of anything open, closed or refuted."""
        bounds = [self._closed]
        if self._current is not None:
            bounds.append(self._current.bound)
        if self._queue:
            bounds.append(self._queue[0].bound)
        return max(bounds)

    def search(self, prices: Floats) -> Ending | None:
        """Search from ``prices`` of all rows; return why the search ended early, or None.

        The root is bounded by one evaluation at least, whatever the limits.
        """
        states = np.full((self.form.m, self.form.n), FREE, dtype=np.int8)
        root = self._proof.open()
        self._current = Node(
            (-np.inf, 0), np.inf, states, prices, root, self._proof.add_prices(prices), 0
        )
        while self._current is not None:
            reason = self._ended() if self.nodes else None
            if reason is not None:
                heapq.heappush(self._queue, self._current)
                self._current = None
                return reason
            self.nodes += 1
            children = self._process(self._current)
            self._current = None
            dive = min(children, default=None)
            for child in children:
                if child is not dive:
                    heapq.heappush(self._queue, child)
            self._current = self._next() if dive is None else dive
            self._report()
        return None

    def proof(self) -> Proof:
        """Return the proof of :attr:`upper`."""
        return self._proof.proof({node.proof_node: node.proof_prices for node in self._queue})

    def _ended(self) -> Ending | None:
        limit = self._run.options.node_limit
        if limit is not None and self.nodes > limit:
            return "node-limit"
        return self._run.stopped()

    def _next(self) -> Node | None:
        while self._queue:
            node = heapq.heappop(self._queue)
            if node.bound > self._incumbent.cutoff:
                return node
            self._leaf(node, node.bound)
        return None

    def _leaf(self, node: Node, bound: float) -> None:
        self._proof.leaf(node.proof_node, node.proof_prices)
        self._closed = max(self._closed, bound)

    def _process(self, node: Node) -> list[Node]:
        """Bound a node and decide what can be; return the open nodes that are left of it."""
        steps = ROOT_STEPS if node.depth == 0 else NODE_STEPS
        while True:
            sub = Subproblem.of(self.form, self.tree, self.budgets, node.states)
            if not sub.feasible:
                self._leaf(node, -np.inf)
                return []
            pricer = Pricer(sub, self._pool)
            descent = self._descend(pricer, node, steps)
            if descent.bound < node.bound:
                full = sub.extend(descent.prices)
                node = replace(
                    node,
                    rank=(-descent.bound, -node.depth),
                    bound=descent.bound,
                    prices=full,
                    proof_prices=self._proof.add_prices(full),
                )
            if node.bound <= self._incumbent.cutoff:
                self._leaf(node, node.bound)
                return []
            if self._run.stopped():
                return [node]
            # What was forced in since the prices were found changes what they amount to here; the
            # proof must hold those that the forced bounds are computed with.
            prices = sub.restrict(node.prices)
            full = sub.extend(prices)
            if not np.array_equal(full, node.prices):
                number = self._proof.add_prices(full)
                node = replace(node, prices=full, proof_prices=number)
            inside, outside = forced_bounds(pricer, prices)
            self.evaluations += 3
            fixed = self._fix(node, sub, inside, outside)
            if fixed < WORTHWHILE_FIXING * sub.slots or sub.slots == 0:
                break
        return self._branch(node, sub, descent, inside, outside)

    def _descend(self, pricer: Pricer, node: Node, steps: int) -> Descent:
        sub = pricer.subproblem
        refinement = Refinement(pricer)
        count = 0

        def visit(pricing: Pricing, best: float) -> float | None:
            nonlocal count
            count += 1
            if refinement.possible and count % REFINE_EVERY == 1:
                value, taken = refinement.refine(pricing.taken)
                self._incumbent.offer(value, lambda: sub.held(taken))
            elif not refinement.possible and count % REFINE_WHOLE_EVERY == 0:
                value, held = self._whole.refine(sub.held(pricing.taken))
                self._incumbent.offer(value, lambda: held)
            if best <= self._incumbent.cutoff or self._run.stopped():
                return None
            if node.depth == 0:
                self._run.report("bound", self._incumbent.value, min(best, node.bound))
            return self._incumbent.value

        descent = descend(pricer, sub.restrict(node.prices), steps, visit)
        self.evaluations += descent.steps
        return descent

    def _fix(self, node: Node, sub: Subproblem, inside: Floats, outside: Floats) -> int:
        """Fix what the bound refutes, in the node's states and proof; return how many slots."""
        cutoff = self._incumbent.cutoff
        goes_out, comes_in = inside <= cutoff, outside <= cutoff
        count = int(goes_out.sum() + comes_in.sum())
        if count == 0:
            return 0
        worker = np.repeat(np.arange(self.form.m), np.diff(sub.first))
        above = np.where(sub.parent >= 0, sub.parent + sub.first[worker], -1)
        # One decision brings its subtree or its ancestors along.
        topmost = goes_out & ~((above >= 0) & goes_out[above])
        deepest = comes_in.copy()
        deepest[above[comes_in & (above >= 0)]] = False
        decisions = [
            (int(worker[s]), int(sub.position[s]), state)
            for which, state in ((topmost, OUT), (deepest, IN))
            for s in np.flatnonzero(which)
        ]
        states = node.states.copy()
        for h, position, state in decisions:
            decide(states, self.tree, h, position, state)
        self._closed = max(
            self._closed,
            float(inside[goes_out].max(initial=0.0)),
            float(outside[comes_in].max(initial=0.0)),
        )
        node.states = states
        node.proof_node = self._proof.fix(node.proof_node, node.proof_prices, decisions)
        return count

    def _branch(
        self, node: Node, sub: Subproblem, descent: Descent, inside: Floats, outside: Floats
    ) -> list[Node]:
        worker = np.repeat(np.arange(self.form.m), np.diff(sub.first))
        free = node.states[worker, sub.position] == FREE
        drop_in, drop_out = node.bound - inside, node.bound - outside
        small = 1e-6 * abs(node.bound)
        score = (drop_in + small) * (drop_out + small)
        unsure = np.minimum(descent.share, 1 - descent.share)
        score = np.where(free, score * (0.01 + unsure), -1.0)
        s = int(np.argmax(score))
        h, p = int(worker[s]), int(sub.position[s])
        proof_nodes = self._proof.branch(node.proof_node, h, p)
        children = []
        for state, bound, proof_node in zip(
            (IN, OUT), (inside[s], outside[s]), proof_nodes, strict=True
        ):
            states = node.states.copy()
            decide(states, self.tree, h, p, state)
            below = min(node.bound, float(bound))
            children.append(
                replace(
                    node,
                    rank=(-below, -node.depth - 1),
                    bound=below,
                    states=states,
                    proof_node=proof_node,
                    depth=node.depth + 1,
                )
            )
        return children

    def _report(self) -> None:
        self._run.report(
            "branch and price",
            self._incumbent.value,
            max(self.upper, self._incumbent.value),
            self.nodes,
        )
