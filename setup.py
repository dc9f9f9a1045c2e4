"""Lists the packages: the rooms at the top level are installed inside `prefixplace_opt`.

Everything else about the distribution stands in pyproject.toml.
"""

from setuptools import find_packages, setup

ROOMS = ("formulations", "instances", "solvers")


def packages() -> list[str]:
    """Every folder with an `__init__.py`, by the name under which it is imported."""
    found = find_packages(include=["prefixplace_opt", "prefixplace_opt.*"])
    for room in ROOMS:
        found.append(f"prefixplace_opt.{room}")
        found.extend(f"prefixplace_opt.{room}.{name}" for name in find_packages(room))
    return found


setup(
    # Not in pyproject.toml, where setuptools before 77 and after it read different forms.
    license="Apache-2.0",
    packages=packages(),
    package_dir={f"prefixplace_opt.{room}": room for room in ROOMS},
)
