"""The structure that carries a proof from a solver to a certificate."""

import numpy as np

from prefixplace_opt.problem import Branch, Decision, Fixing, Leaf, Prices, Proof


def test_prices_keep_what_is_positive():
    dense = np.array([0.0, 2.5, 0.0, 1e-300])
    prices = Prices.of(dense)
    assert prices.rows.tolist() == [1, 3]
    assert prices.dense(4).tolist() == dense.tolist()


def test_paths_collect_the_decisions_above_every_node():
    first = Decision(0, 7, inside=True)
    nodes = (Branch(1, 3, inside=1, outside=2), Leaf(0), Fixing(0, (first,), child=3), Leaf(1))
    proof = Proof((Prices.of([1.0]), Prices.of([2.0])), nodes)
    out = Decision(1, 3, inside=False)
    assert proof.paths() == [(), (out.opposite,), (out,), (out, first)]
    assert proof.leaves == [1, 3]


def test_a_proof_without_decisions_is_one_leaf():
    proof = Proof.single([0.0, 4.0])
    assert proof.nodes == (Leaf(0),)
    assert proof.paths() == [()]
