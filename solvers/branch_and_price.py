"""Branch and price: Lagrangian bounds in a tree of decisions on (worker, chunk).

Every node bounds its subproblem by prices inherited from its parent and improved by a descent;
iterates of the descent are refined to plans; what the bound refutes is fixed; and where something
is left, the node branches on a chunk of a worker, in (with its ancestors) or out (with its
subtree), so that the oracle stays a tree recurrence. Dives follow the child of the larger bound;
after a dive the open node of the largest bound is next. The proof is the tree with its prices.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefixplace_opt.problem import PrefixTree, Proof, Savings

from .branching import choose_slot
from .coordinate_refinement import Refinement
from .fixing import forced_bounds
from .incumbent import Incumbent
from .lagrangian import QUICK, THOROUGH, Descent, Pace, descend
from .price_guided import PriceGuided
from .pricing import Pricer, Pricing
from .proof_tree import ProofTree
from .run import Run
from .subproblem import FREE, IN, OUT, FullPrices, States, Subproblem, decide

Floats = NDArray[np.float64]

Ending = Literal["time-limit", "interrupted", "node-limit"]

Descents = tuple[tuple[int, Pace], ...]

#: Most evaluations of the descents at the root, one after the other, and at any other node. At the
#: root a quick one comes first: its prices lead to better plans, and mostly it is enough.
ROOT_DESCENTS: Descents = ((250, QUICK), (1600, THOROUGH))
NODE_DESCENTS: Descents = ((50, QUICK),)
#: A node is contracted and priced again while fixing decides this share of its slots.
WORTHWHILE_FIXING = 0.1
#: One in so many iterates is refined to a plan; where tables are too large for that, the prices of
#: one in so many guide a plan.
REFINE_EVERY, GUIDE_EVERY = 3, 10


@dataclass(order=True)
class Node:
    """An open node; the order is that of the best-bound queue."""

    rank: tuple[float, int]
    bound: float = field(compare=False)
    states: States = field(compare=False, repr=False)
    prices: FullPrices = field(compare=False, repr=False)
    proof_node: int = field(compare=False)
    depth: int = field(compare=False)


class BranchAndPrice:
    """One search; it ends when the incumbent is proven or a limit is met.

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
    improve
        Called with prices and bound of the root, after every descent there; may improve the
        incumbent.
    root_descents
        Most evaluations, and pace, of the descents at the root, one after the other.
    with_credits
        Whether chunks of several rows may have credits (:mod:`.subproblem`): the tighter bound in
        the end, but later where all chunks are free, and no row prices to guide plans there.
    quiet
        Whether events are kept from whoever follows the run.
    """

    def __init__(
        self,
        form: Savings,
        tree: PrefixTree,
        budgets: NDArray[np.int64],
        run: Run,
        incumbent: Incumbent,
        pool: Executor | None = None,
        *,
        improve: Callable[[FullPrices, float], object] | None = None,
        root_descents: Descents = ROOT_DESCENTS,
        with_credits: bool = True,
        quiet: bool = False,
    ) -> None:
        self.form, self.tree, self.budgets = form, tree, budgets
        self._run, self._incumbent, self._pool = run, incumbent, pool
        self._improve, self._root_descents, self._quiet = improve, root_descents, quiet
        self._with_credits = with_credits
        self._proof = ProofTree(tree)
        self._queue: list[Node] = []
        self._current: Node | None = None
        self._closed = 0.0
        self._node_limit: int | None = None
        self.nodes = 0
        self.evaluations = 0

    @cached_property
    def _guided(self) -> PriceGuided:
        seed, stopped = self._run.options.seed, self._run.stopped
        return PriceGuided(self.form, self.tree, self.budgets, seed, stopped)

    @property
    def upper(self) -> float:
        """What is proven: the largest bound of anything open, closed or refuted."""
        bounds = [self._closed]
        if self._current is not None:
            bounds.append(self._current.bound)
        if self._queue:
            bounds.append(self._queue[0].bound)
        return max(bounds)

    def search(
        self,
        prices: FullPrices,
        states: States | None = None,
        node_limit: int | None = None,
    ) -> Ending | None:
        """Search from ``prices`` on; return why the search ended early, or None.

        The root is bounded by one evaluation at least, whatever the limits. With ``states``,
        decisions of shape (M, n) by position, only placements that obey them are searched; the
        bound and the proof are then of those.
        """
        self._node_limit = node_limit
        if states is None:
            states = np.full((self.form.m, self.form.n), FREE, dtype=np.int8)
        self._current = Node((-np.inf, 0), np.inf, states, prices, 0, 0)
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
            self._report("branch and price", self.upper)
        return None

    def proof(self) -> Proof:
        """Return the proof of :attr:`upper`."""
        return self._proof.proof()

    def _ended(self) -> Ending | None:
        if self._node_limit is not None and self.nodes > self._node_limit:
            return "node-limit"
        return self._run.stopped()

    def _next(self) -> Node | None:
        while self._queue:
            node = heapq.heappop(self._queue)
            if node.bound > self._incumbent.cutoff:
                return node
            self._closed = max(self._closed, node.bound)
        return None

    def _process(self, node: Node) -> list[Node]:
        """Bound a node and decide what can be; return the open nodes that are left of it."""
        descents = self._root_descents if node.depth == 0 else NODE_DESCENTS
        while True:
            sub = Subproblem.of(
                self.form,
                self.tree,
                self.budgets,
                node.states,
                with_credits=self._with_credits,
            )
            if not sub.feasible:
                return []
            pricer = Pricer(sub, self._pool)
            for steps, pace in descents:
                node, descent = self._bound(node, pricer, steps, pace)
                if node.bound <= self._incumbent.cutoff:
                    self._closed = max(self._closed, node.bound)
                    return []
                if self._run.stopped():
                    return [node]
            inside, outside = forced_bounds(pricer, descent.prices)
            self.evaluations += 3
            fixed = self._fix(node, sub, inside, outside)
            if fixed < WORTHWHILE_FIXING * sub.slots or sub.slots == 0:
                break
        return self._branch(node, sub, descent, inside, outside)

    def _bound(self, node: Node, pricer: Pricer, steps: int, pace: Pace) -> tuple[Node, Descent]:
        """Improve the bound of ``node``, and at the root the incumbent; return it as it is then."""
        sub = pricer.subproblem
        descent = self._descend(pricer, node, steps, pace)
        # The proof must hold the very prices that anything is concluded from.
        bound = min(node.bound, descent.bound)
        node = replace(
            node,
            rank=(-bound, -node.depth),
            bound=bound,
            prices=sub.extend(descent.prices),
        )
        self._proof.price(node.proof_node, sub.proof_prices(descent.prices, self.tree))
        open_still = bound > self._incumbent.cutoff and not self._run.stopped()
        if open_still and node.depth == 0 and self._improve is not None:
            self._improve(node.prices, bound)
        return node, descent

    def _descend(self, pricer: Pricer, node: Node, steps: int, pace: Pace) -> Descent:
        sub = pricer.subproblem
        refinement = Refinement(pricer)
        count = 0

        def visit(pricing: Pricing, best: float) -> float | None:
            nonlocal count
            count += 1
            if refinement.possible and count % REFINE_EVERY == 1:
                value, taken = refinement.refine(pricing.taken)
                self._incumbent.offer(value, lambda: sub.held(taken))
            elif not refinement.possible and count % GUIDE_EVERY == 0:
                value, held = self._guided.plan(sub.extend(pricing.prices).rows, sub.states == IN)
                self._incumbent.offer(value, lambda: held)
            if best <= self._incumbent.cutoff or self._run.stopped():
                return None
            if node.depth == 0:
                self._report("bound", min(best, node.bound))
            return self._incumbent.value

        descent = descend(pricer, sub.restrict(node.prices), steps, visit, pace)
        self.evaluations += descent.steps
        return descent

    def _fix(self, node: Node, sub: Subproblem, inside: Floats, outside: Floats) -> int:
        """Fix what the bound refutes, in the node's states and proof; return how many slots."""
        cutoff = self._incumbent.cutoff
        goes_out, comes_in = inside <= cutoff, outside <= cutoff
        count = int(goes_out.sum() + comes_in.sum())
        if count == 0:
            return 0
        above = np.where(sub.parent >= 0, sub.parent + sub.first[sub.worker], -1)
        # One decision brings its subtree or its ancestors along.
        topmost = goes_out & ~((above >= 0) & goes_out[above])
        deepest = comes_in.copy()
        deepest[above[comes_in & (above >= 0)]] = False
        decisions = [
            (int(sub.worker[s]), int(sub.position[s]), state)
            for which, state in ((topmost, OUT), (deepest, IN))
            for s in np.flatnonzero(which)
        ]
        node.states = node.states.copy()
        for h, position, state in decisions:
            decide(node.states, self.tree, h, position, state)
        self._closed = max(
            self._closed,
            float(inside[goes_out].max(initial=0.0)),
            float(outside[comes_in].max(initial=0.0)),
        )
        node.proof_node = self._proof.fix(node.proof_node, decisions)
        return count

    def _branch(
        self, node: Node, sub: Subproblem, descent: Descent, inside: Floats, outside: Floats
    ) -> list[Node]:
        free = node.states[sub.worker, sub.position] == FREE
        s = choose_slot(node.bound, inside, outside, descent.share, free)
        h, p = int(sub.worker[s]), int(sub.position[s])
        proof_nodes = self._proof.branch(node.proof_node, h, p)
        children = []
        for state, forced, proof_node in zip(
            (IN, OUT), (inside[s], outside[s]), proof_nodes, strict=True
        ):
            states = node.states.copy()
            decide(states, self.tree, h, p, state)
            bound = min(node.bound, float(forced))
            children.append(
                replace(
                    node,
                    rank=(-bound, -node.depth - 1),
                    bound=bound,
                    states=states,
                    proof_node=proof_node,
                    depth=node.depth + 1,
                )
            )
        return children

    def _report(self, phase: str, upper: float) -> None:
        if not self._quiet:
            lower = self._incumbent.value
            self._run.report(phase, lower, max(upper, lower), self.nodes)
