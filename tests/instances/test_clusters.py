"""The workers file: what it means, and every way in which it can be wrong."""

from pathlib import Path

import pytest

from prefixplace_opt.instances.clusters import Cluster, read_cluster, shipped_clusters
from prefixplace_opt.problem import AffineCost, InputError, InterpolatedCost

WORKER = 'name = "a"\nhardware = "A100"\nbudget = 10\ngoodput_gbps = 3\n'
GOOD = f'model = "qwen2.5-7b"\n[[workers]]\n{WORKER}'


def cluster_of(text: str, tmp_path: Path) -> Cluster:
    path = tmp_path / "workers.toml"
    path.write_text(text, encoding="utf-8")
    return read_cluster(path)


@pytest.mark.parametrize("name", shipped_clusters())
def test_shipped_examples_serve_a_problem(name: str) -> None:
    cluster = read_cluster(name)
    sized = cluster.sized(512)
    cluster.check_objective(cluster.default_objective)
    workers = sized.workers(5000)
    assert sum(worker.budget for worker in workers) > 0
    assert sized.fetch(cluster.default_objective).goodput_gbps.shape[0] == len(workers)


def test_count_budgets_and_hardware(tmp_path: Path) -> None:
    cluster = cluster_of(
        """
model = "qwen2.5-7b"
[[workers]]
name = "a"
count = 2
hardware = "A100"
budget_gb = 1
goodput_gbps = 3.0
[[workers]]
name = "b"
hardware = "L4"
gpus = 2
budget_share = 0.1
compatibility = "fp8"
goodput_gbps = 1.5
latency_ms = 2
[[workers]]
name = "c"
budget = 7
goodput_gbps = 0
recompute = { base_ms = 100, per_prefix_token_ms = 0.5, chunk_tokens = 256 }
""",
        tmp_path,
    )
    sized = cluster.sized(512)
    workers = sized.workers(n=105)
    assert [(w.name, w.budget, w.hardware, w.compatibility) for w in workers] == [
        ("a-0", 34, "A100", None),
        ("a-1", 34, "A100", None),
        ("b", 10, "2 x L4", "fp8"),
        ("c", 7, None, None),
    ]
    recompute = sized.recompute(height=3)
    assert isinstance(recompute, AffineCost)
    assert recompute.base[0] == 48.1
    assert recompute.base[3] == 2 * 100 + 0.5 * 256
    assert recompute.per_prefix_token[3] == 1.0
    fetch = sized.fetch("requester")
    assert fetch.goodput_gbps.tolist() == [3, 3, 1.5, 0]
    assert fetch.latency_ms.tolist() == [0, 0, 2, 0]


def test_a_table_among_the_profiles(tmp_path: Path) -> None:
    cluster = cluster_of(
        GOOD + '[[workers]]\nname = "b"\nbudget = 1\ngoodput_gbps = 1\n'
        "recompute = { prefix_tokens = [0, 1000], cost_ms = [5, 9] }\n",
        tmp_path,
    )
    table = cluster.sized(512).recompute(height=4)
    assert isinstance(table, InterpolatedCost)
    assert table.prefix_tokens.tolist() == [0, 1000, 3 * 512]
    assert table.values[1].tolist() == [5, 9, 9]


def test_links_by_rack_and_pair(tmp_path: Path) -> None:
    workers = "".join(
        f'[[workers]]\nname = "{name}"\nrack = "{rack}"\nhardware = "L4"\nbudget = 1\n'
        for name, rack in (("a", "x"), ("b", "x"), ("c", "y"))
    )
    links = """
[links]
same_rack = { goodput_gbps = 10, latency_ms = 0.5 }
[[links.pair]]
requester = "c"
holder = "a"
goodput_gbps = 2
latency_ms = 3
"""
    cluster = cluster_of(f'model = "qwen2.5-7b"\n{workers}{links}', tmp_path)
    assert cluster.default_objective == "pairwise"
    fetch = cluster.sized(512).fetch("pairwise")
    assert fetch.goodput_gbps.tolist() == [[10, 10, 0], [10, 10, 0], [2, 0, 10]]
    assert fetch.latency_ms[2, 0] == 3
    with pytest.raises(InputError, match=r"workers\[0\]: missing key 'goodput_gbps'.*by pair"):
        cluster.check_objective("requester")


def test_links_as_matrices(tmp_path: Path) -> None:
    text = GOOD.replace('name = "a"\n', 'name = "a"\ncount = 2\n')
    cluster = cluster_of(
        text + "[links]\ngoodput_gbps = [[0, 1], [2, 0]]\nlatency_ms = 4\n", tmp_path
    )
    fetch = cluster.sized(512).fetch("pairwise")
    assert fetch.goodput_gbps.tolist() == [[0, 1], [2, 0]]
    assert fetch.latency_ms.tolist() == [[4, 4], [4, 4]]
    assert cluster.sized(512).fetch("requester").goodput_gbps.shape == (2,)


WRONG = {
    "no TOML": ("[[workers", "expected TOML"),
    "not UTF-8": (b"\xff\xfe", "expected UTF-8"),
    "empty": ("", "missing key 'workers'"),
    "no worker": ("workers = []", "workers: expected at least one"),
    "unknown key": (GOOD + "colour = 1", r"workers\[0\]: unknown key 'colour'"),
    "unknown top key": ("x = 1\n" + GOOD, "unknown key 'x'"),
    "unknown model": (
        GOOD.replace("qwen2.5-7b", "gpt"),
        "model: expected a model of the catalogue",
    ),
    "model no text": ("model = 7\n" + GOOD[21:], "model: expected a model"),
    "model part": ("model = { layers = 3 }\n[[workers]]\n" + WORKER, "model: missing key"),
    "both sizes": ("bytes_per_token = 5\n" + GOOD, "bytes_per_token: expected either"),
    "zero bytes": ("bytes_per_token = 0\n[[workers]]\n" + WORKER, "bytes_per_token: expected"),
    "no name": (GOOD.replace('name = "a"\n', ""), r"workers\[0\]: missing key 'name'"),
    "empty name": (GOOD.replace('"a"', '""'), r"workers\[0\].name: expected a non-empty string"),
    "same name": (GOOD + "[[workers]]\n" + WORKER, r"workers\[1\].name: expected unique"),
    "unknown GPU": (GOOD.replace("A100", "V100"), r"workers\[0\].hardware: expected a GPU"),
    "no hardware": (GOOD.replace('hardware = "A100"\n', ""), r"workers\[0\]: expected 'hardware'"),
    "no model": (GOOD.split("\n", 1)[1], r"workers\[0\]: expected the file to name a 'model'"),
    "no budget": (GOOD.replace("budget = 10\n", ""), "exactly one of budget.*got none"),
    "two budgets": (GOOD + "budget_gb = 3", "exactly one of budget.*got budget, budget_gb"),
    "half a chunk": (GOOD.replace("= 10", "= 1.5"), r"workers\[0\].budget: expected a whole"),
    "negative": (GOOD.replace("= 10", "= -1"), r"workers\[0\].budget: expected a whole"),
    "share": (GOOD.replace("budget = 10", "budget_share = 2"), "budget_share: expected a share"),
    "inf": (GOOD.replace("budget = 10", "budget_gb = inf"), "budget_gb: expected a finite"),
    "nan": (GOOD.replace("= 3", "= nan"), r"workers\[0\].goodput_gbps: expected a finite"),
    "text": (GOOD.replace("= 3", '= "3"'), r"workers\[0\].goodput_gbps: expected a number"),
    "count": (GOOD + "count = 0", r"workers\[0\].count: expected a whole number from 1"),
    "huge count": (GOOD + "count = 1000000000", r"workers\[0\].count: expected a whole number"),
    "gpus": (GOOD + "gpus = 1.5", r"workers\[0\].gpus: expected a whole number"),
    "recompute": (GOOD + "recompute = 5", r"workers\[0\].recompute: expected a table or"),
    "half a line": (GOOD + "recompute = { base_ms = 1 }", r"recompute: missing key 'per_prefix"),
    "bad line": (
        GOOD + "recompute = { base_ms = -1, per_prefix_token_ms = 0 }",
        r"workers\[0\].recompute.base_ms: expected a finite number",
    ),
    "falling knots": (
        GOOD + "recompute = { prefix_tokens = [2, 1], cost_ms = [1, 1] }",
        r"recompute.prefix_tokens: expected a strictly increasing",
    ),
    "lengths": (
        GOOD + "recompute = { prefix_tokens = [1, 2], cost_ms = [1] }",
        r"recompute.cost_ms: expected 2 numbers",
    ),
    "lone latency": (GOOD.replace("goodput_gbps", "latency_ms"), "missing key 'goodput_gbps'"),
    "links no table": (GOOD.replace("[[", "links = 3\n[["), "links: expected an object"),
    "links empty": (GOOD + "[links]", "links: missing key 'goodput_gbps'"),
    "links both": (
        GOOD + "[links]\ngoodput_gbps = 1\nsame_rack = { goodput_gbps = 1 }",
        "links: expected either",
    ),
    "shape": (GOOD + "[links]\ngoodput_gbps = [[1, 2]]", r"links.goodput_gbps: expected shape"),
    "no rack": (
        GOOD + "[links]\nsame_rack = { goodput_gbps = 1 }",
        r"workers\[0\]: missing key 'rack'",
    ),
    "pair": (
        GOOD + '[[links.pair]]\nrequester = "a"\nholder = "z"\ngoodput_gbps = 1',
        r"links.pair\[0\].holder: expected the name of a worker, got 'z'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_every_fault_has_one_clear_error(case: str, tmp_path: Path) -> None:
    text, message = WRONG[case]
    path = tmp_path / "workers.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message) as caught:
        read_cluster(path)
    assert caught.value.source == str(path)


def test_faults_that_only_the_chunk_size_shows(tmp_path: Path) -> None:
    bare = "[[workers]]\nname = 'a'\nbudget = 1\ngoodput_gbps = 1\nrecompute = "
    cluster = cluster_of(bare + "{ base_ms = 1, per_prefix_token_ms = 0 }", tmp_path)
    with pytest.raises(InputError, match="model: expected 'model' or 'bytes_per_token'"):
        cluster.sized(512)
    assert cluster.sized(512, chunk_bytes=1000).chunk_bytes == 1000
    table = "{ prefix_tokens = [0], cost_ms = [1], chunk_tokens = 512 }"
    cluster = cluster_of("bytes_per_token = 1000\n" + bare + table, tmp_path)
    with pytest.raises(InputError, match=r"workers\[0\].recompute.chunk_tokens: .* multiple"):
        cluster.sized(500)


def test_missing_file_names_the_examples() -> None:
    with pytest.raises(InputError, match=r"one of the examples .*mixed-8"):
        read_cluster("nonesuch")
    with pytest.raises(InputError, match=r"nonesuch.toml: cannot be read"):
        read_cluster("nonesuch.toml")
