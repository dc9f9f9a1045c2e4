"""The neutral plan and the warm-up list: whole prefixes, each chunk counted once."""

import numpy as np
import pytest

from prefixplace_opt import Placement, Problem, generate, solve
from prefixplace_opt.exporting import plan_document, targets, warm_up_requests
from prefixplace_opt.problem import InputError, PrefixTree
from prefixplace_opt.problem.objective import objective_value


@pytest.fixture(scope="module")
def rag() -> Problem:
    return generate("rag", documents=8, seed=3)


def with_keys(problem: Problem) -> Problem:
    from dataclasses import replace

    tree = problem.tree
    keyed = PrefixTree(
        tree.parents,
        chunk_tokens=4,
        chunk_bytes=tree.chunk_bytes,
        keys=[f"k{chunk}" for chunk in range(tree.n)],
    )
    return replace(problem, tree=keyed)


def test_targets_cover_the_placement_once_and_their_values_are_losses(rag: Problem) -> None:
    placement = solve(rag).placement
    held = placement.held(rag.n)
    for m in range(rag.m):
        own = [target for target in targets(rag, placement) if target.worker == m]
        covered = sorted({chunk for target in own for chunk in target.path})
        assert covered == placement.resident[m].tolist()
        assert sum(target.added for target in own) == len(covered)
        for target in own:
            assert rag.tree.parents[target.path[0]] == -1
            assert list(target.path) == rag.tree.path(target.path[-1])
        without = held.copy()
        without[m] = False
        loss = placement.value - objective_value(rag, without)
        assert sum(target.value for target in own) == pytest.approx(loss)


def test_neutral_plan_adds_up(rag: Problem) -> None:
    placement = solve(rag).placement
    document = plan_document(rag, placement)
    assert document["named_by"] == "id"
    assert document["value"] == placement.value
    for worker, chunks in zip(document["workers"], placement.resident, strict=True):
        assert worker["chunks"] == chunks.size
        assert worker["bytes"] == sum(target["bytes"] for target in worker["targets"])
    keyed = with_keys(rag)
    document = plan_document(keyed, solve(keyed).placement)
    assert document["named_by"] == "key"
    assert document["workers"][0]["targets"][0]["path"][0].startswith("k")


def test_warm_up_requests_are_whole_prefixes_of_tokens(rag: Problem) -> None:
    problem = with_keys(rag)
    placement = solve(problem).placement
    tokens = {f"k{c}": [c, c + 1, c + 2, c + 3] for c in range(problem.n)}
    requests = list(warm_up_requests(problem, placement, tokens))
    assert len(requests) == len(targets(problem, placement))
    for request, target in zip(requests, targets(problem, placement), strict=True):
        assert request["worker"] == problem.workers[target.worker].name
        assert request["max_tokens"] == 1
        assert request["token_ids"] == [c + i for c in target.path for i in range(4)]


@pytest.mark.parametrize("ids", [[1, 2, 3], [1, 2, 3, -4], [1, 2, 3, "4"], [1, 2, 3, True], "abcd"])
def test_partial_or_wrong_tokens_are_refused(rag: Problem, ids: object) -> None:
    problem = with_keys(rag)
    placement = solve(problem).placement
    tokens = {f"k{c}": [0, 0, 0, 0] for c in range(problem.n)}
    root = problem.tree.roots[0]
    with pytest.raises(InputError, match="expected 4 token ids"):
        list(warm_up_requests(problem, placement, {**tokens, f"k{root}": ids}))  # type: ignore[dict-item]
    del tokens[f"k{root}"]
    with pytest.raises(InputError, match="found none"):
        list(warm_up_requests(problem, placement, tokens))


def test_ids_alone_load_nothing(rag: Problem) -> None:
    with pytest.raises(InputError, match="expected an instance with keys"):
        list(warm_up_requests(rag, solve(rag).placement, {}))
    other = Placement("0" * 64, "requester", tuple(np.empty((rag.m, 0), dtype=np.int32)), 0.0)
    with pytest.raises(InputError, match="of this instance"):
        targets(rag, other)
