"""Suite files, the folders made from them, and manifests read back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from prefixplace_opt import InputError, read_problem
from prefixplace_opt.instances.suites import (
    MANIFEST,
    BestKnown,
    TrafficAbsentError,
    difficulty,
    generate_suite,
    read_suite,
    read_suite_file,
    regenerated,
    write_suite,
)
from prefixplace_opt.problem.schema import schema

SUITE = """
name = "small"
description = "a few"
[defaults]
objective = ["requester", "pairwise"]
documents = 3
[[instances]]
family = "rag"
seed = [0, 1]
[[instances]]
family = "star"
leaves = [5, 9]
objective = "requester"
[[instances]]
family = "degenerate"
case = "ties"
name = "tied"
"""


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return path


def test_lists_multiply_and_defaults_hold_where_they_fit(suite_file: Path) -> None:
    wanted = read_suite_file(suite_file).wanted
    assert [each.family for each in wanted] == ["rag"] * 4 + ["star"] * 2 + ["degenerate"] * 2
    first = wanted[0].parameters.as_dict()
    assert first["documents"] == 3
    rag = [(each.parameters.as_dict()["objective"], each.seed) for each in wanted[:4]]
    assert rag == [("requester", 0), ("requester", 1), ("pairwise", 0), ("pairwise", 1)]


def test_generating_twice_gives_the_same_bytes(suite_file: Path, tmp_path: Path) -> None:
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        generate_suite(read_suite_file(suite_file), folder)
        contents.append(
            {
                path.relative_to(folder): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
        )
    assert contents[0] == contents[1]
    assert len(contents[0]) == 9


def test_the_manifest_says_what_each_instance_is(suite_file: Path, tmp_path: Path) -> None:
    made = generate_suite(read_suite_file(suite_file), tmp_path / "out")
    suite = read_suite(tmp_path / "out")
    assert suite == made
    names = [entry.name for entry in suite.entries]
    assert len(set(names)) == 8
    assert names[-2:] == ["tied", "tied-2"]
    for entry in suite.entries:
        assert entry.file is not None
        problem = read_problem(tmp_path / "out" / entry.file)
        assert problem.digest == entry.digest == regenerated(entry).digest
        assert (problem.n, problem.m, problem.objective) == (
            entry.chunks,
            entry.workers,
            entry.objective,
        )
        assert difficulty(entry) == "open"


def test_without_files_the_manifest_alone_is_enough(suite_file: Path, tmp_path: Path) -> None:
    generate_suite(read_suite_file(suite_file), tmp_path / "out", store=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST]
    for entry in read_suite(tmp_path / "out").entries:
        assert regenerated(entry).name == entry.name


def test_classes_of_difficulty() -> None:
    assert BestKnown(10, 10, 1, "x").difficulty == "easy"
    assert BestKnown(10, 10, 61, "x").difficulty == "hard"
    assert BestKnown(10, 11, 1, "x").difficulty == "open"
    assert BestKnown(10, 11, 1, "x").gap == pytest.approx(1 / 11)
    assert BestKnown(0, 0, 1, "x").difficulty == "easy"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("name = 'x'", "instances"),
        ("name = 3\ninstances = []", "name"),
        ("name = 'x'\ninstances = 3", "instances"),
        ("name = 'x'\nextra = 1\ninstances = []", "extra"),
        ("name = 'x'\n[[instances]]\nfamily = 'rug'", "instances[0].family"),
        ("name = 'x'\n[[instances]]\nseed = 1", "instances[0]"),
        ("name = 'x'\n[[instances]]\nfamily = 'rag'\nzip = 2", "instances[0].parameters"),
        ("name = 'x'\n[[instances]]\nfamily = 'rag'\nzipf = [1, -2]", "instances[0].zipf"),
        ("name = ", "TOML"),
    ],
)
def test_faults_in_suite_files_are_named(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_suite_file(path)
    assert str(path) in str(caught.value)
    assert where in str(caught.value)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"digest": 3}, "instances[0].digest"),
        ({"chunks": -1}, "instances[0].chunks"),
        ({"parameters": []}, "instances[0].parameters"),
        ({"name": "../x"}, "instances[0].name"),
        ({"surprise": 1}, "instances[0]"),
        ({"best": {"lower": 1}}, "instances[0].best"),
        (
            {
                "best": {
                    "lower": 1,
                    "upper": 2,
                    "seconds": 1,
                    "certificate": "x",
                    "difficulty": "easy",
                }
            },
            "instances[0].best.difficulty",
        ),
    ],
)
def test_faults_in_manifests_are_named(
    suite_file: Path, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    generate_suite(read_suite_file(suite_file), tmp_path / "out", store=False)
    path = tmp_path / "out" / MANIFEST
    document = json.loads(path.read_text(encoding="utf-8"))
    document["instances"][0].update(change)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_suite(tmp_path / "out")
    assert caught.value.field == field


def test_another_generator_version_or_digest_is_no_silent_change(
    suite_file: Path, tmp_path: Path
) -> None:
    suite = generate_suite(read_suite_file(suite_file), tmp_path / "out", store=False)
    path = tmp_path / "out" / MANIFEST
    document = json.loads(path.read_text(encoding="utf-8"))
    document["instances"][0]["version"] += 1
    document["instances"][1]["seed"] += 7
    path.write_text(json.dumps(document), encoding="utf-8")
    changed = read_suite(tmp_path / "out").entries
    for at, field in ((0, "version"), (1, "digest")):
        with pytest.raises(InputError) as caught:
            regenerated(changed[at])
        assert caught.value.field == field
    write_suite(suite, tmp_path / "out")
    assert read_suite(tmp_path / "out") == suite


def test_names_that_repeat_get_a_number_that_is_free(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    block = '[[instances]]\nfamily = "rag"\ndocuments = 2\nname = "{}"\n'
    longest = "n" * 200
    names = ["a", "a", "a-2", "a", longest, longest]
    path.write_text('name = "x"\n' + "".join(map(block.format, names)), encoding="utf-8")
    suite = generate_suite(read_suite_file(path), tmp_path / "out")
    expected = ["a", "a-3", "a-2", "a-4", longest, longest + "-2"]
    assert [entry.name for entry in suite.entries] == expected
    assert read_suite(tmp_path / "out") == suite


@pytest.mark.parametrize("taken", ["manifest.json", "instances/a-2.json.gz"])
def test_a_folder_in_the_place_of_a_file(taken: str, tmp_path: Path) -> None:
    path, target = tmp_path / "suite.toml", tmp_path / "out"
    block = '[[instances]]\nfamily = "rag"\ndocuments = 2\nseed = [0, 1, 2]\nname = "a"\n'
    path.write_text('name = "x"\n' + block, encoding="utf-8")
    (target / taken).mkdir(parents=True)
    with pytest.raises(InputError, match="it is a directory") as raised:
        generate_suite(read_suite_file(path), target)
    assert raised.value.source == str(target / taken)
    assert not [each for each in target.rglob("*") if each.is_file()]


def test_a_folder_that_cannot_be_made(suite_file: Path) -> None:
    with pytest.raises(InputError, match="cannot be made"):
        generate_suite(read_suite_file(suite_file), suite_file / "below")


TRACE_SUITE = """
name = "cut"
[[instances]]
family = "trace"
trace = "tiny.jsonl"
stop_s = [1, 2]
objective = ["requester", "pairwise"]
"""


@pytest.mark.parametrize("name", ["", "../evil", "a/b", "/etc/x", "a\\\\b", ".hidden", "n" * 300])
def test_names_that_are_no_file_names_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    block = f'[[instances]]\nfamily = "rag"\ndocuments = 2\nname = "{name}"\n'
    path.write_text('name = "x"\n' + block, encoding="utf-8")
    with pytest.raises(InputError, match="name without slashes") as raised:
        read_suite_file(path)
    assert (raised.value.field, raised.value.source) == ("instances[0].name", str(path))


@pytest.mark.parametrize("store", [True, False])
def test_a_suite_that_cannot_be_made_leaves_nothing(tmp_path: Path, store: bool) -> None:
    path = tmp_path / "suite.toml"
    block = '[[instances]]\nfamily = "rag"\ndocuments = 2\n'
    path.write_text(TRACE_SUITE + block, encoding="utf-8")
    head, tail = TRACE_SUITE.split("[[instances]]")
    path.write_text(head + block + "[[instances]]" + tail, encoding="utf-8")
    with pytest.raises(InputError, match="tiny") as raised:
        generate_suite(read_suite_file(path), tmp_path / "a" / "b", store=store, traces=tmp_path)
    assert (raised.value.field, raised.value.source) == ("instances[1].trace", str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["suite.toml"]


def test_generating_again_keeps_the_bounds_of_what_stays(suite_file: Path, tmp_path: Path) -> None:
    suite = generate_suite(read_suite_file(suite_file), tmp_path / "out")
    known = BestKnown(1.0, 2.0, 3.0, "certificates/x.json.gz")
    write_suite(suite.replaced(replace(suite.entries[0], best=known)), tmp_path / "out")
    again = generate_suite(read_suite_file(suite_file), tmp_path / "out")
    assert [entry.best for entry in again.entries] == [known] + [None] * (len(again.entries) - 1)
    text = suite_file.read_text(encoding="utf-8").replace("documents = 3", "documents = 4")
    suite_file.write_text(text, encoding="utf-8")
    changed = generate_suite(read_suite_file(suite_file), tmp_path / "out")
    assert [entry.best for entry in changed.entries] == [None] * len(changed.entries)


@pytest.mark.parametrize("name", ["", " ", "a\\nb", "\\u001b[31m"])
def test_a_suite_has_a_name_that_can_be_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(f'name = "{name}"\n[[instances]]\nfamily = "rag"\n', encoding="utf-8")
    with pytest.raises(InputError, match="line of text"):
        read_suite_file(path)


def test_a_folder_that_is_there_keeps_what_is_not_of_the_suite(
    suite_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "out" / "instances").mkdir(parents=True)
    (tmp_path / "out" / "instances" / "mine").write_text("x", encoding="utf-8")
    suite = generate_suite(read_suite_file(suite_file), tmp_path / "out")
    found = {each.name for each in (tmp_path / "out" / "instances").iterdir()}
    assert found == {"mine", *(f"{entry.name}.json.gz" for entry in suite.entries)}
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"instances", "manifest.json"}


def test_instances_are_cut_from_traffic_by_a_recipe(tmp_path: Path) -> None:
    rows = [
        {"timestamp": 400 * at, "input_length": 1536, "output_length": 1, "hash_ids": [0, at, at]}
        for at in range(1, 5)
    ]
    trace = tmp_path / "tiny.jsonl"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    file = tmp_path / "suite.toml"
    file.write_text(TRACE_SUITE, encoding="utf-8")
    with pytest.raises(TrafficAbsentError):
        generate_suite(read_suite_file(file), tmp_path / "out")
    suite = generate_suite(read_suite_file(file), tmp_path / "out", store=False, traces=tmp_path)
    assert [entry.chunks for entry in suite.entries] == [5, 5, 9, 9]
    for entry in read_suite(tmp_path / "out").entries:
        assert regenerated(entry, tmp_path).digest == entry.digest
        with pytest.raises(TrafficAbsentError):
            regenerated(entry, tmp_path / "out")
    # Other traffic under the same name is not taken for it.
    trace.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="its parameters give"):
        regenerated(suite.entries[0], tmp_path)


def test_manifests_are_what_their_schema_says(suite_file: Path, tmp_path: Path) -> None:
    generate_suite(read_suite_file(suite_file), tmp_path / "out")
    document = json.loads((tmp_path / "out" / MANIFEST).read_text(encoding="utf-8"))
    document["instances"][0]["best"] = {
        "lower": 1.0,
        "upper": 1.0,
        "seconds": 2.0,
        "certificate": "certificates/x.json.gz",
        "difficulty": "easy",
    }
    validator = jsonschema.Draft202012Validator(schema("suite"))
    assert validator.is_valid(document)
    document["instances"][0]["surprise"] = 1
    assert not validator.is_valid(document)
