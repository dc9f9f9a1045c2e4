"""The page on generated instances names every family and parameter."""

from pathlib import Path

import pytest

from prefixplace_opt.instances.generators import FAMILIES
from prefixplace_opt.instances.generators.parameters import described

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instances.md"


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_names_every_parameter(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"`{name}`" in text
    for parameter in described(FAMILIES[name].parameters):
        assert f"`{parameter.name}`" in text
