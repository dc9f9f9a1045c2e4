"""Family ``multi-tenant``: tenants of very different size, each with a subtree of its own.

Below a common prompt of ``system_chunks`` chunks (0: none), each of ``tenants`` has a chain of 1
to ``prompt_chunks_max`` chunks and below it a random recursive tree, its size uniform from
``tenant_chunks_min`` to ``tenant_chunks_max``. The tenant of rank r is asked for in proportion to
``r ** -zipf``; its requests end at its ``hot`` hottest chunks, drawn without regard to depth, in
proportion to squares of uniform numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .apportion import zipf
from .draw import Draw
from .parameters import parameter
from .traffic import Growth, TrafficParameters, problem_of_growth

if TYPE_CHECKING:
    from prefixplace_opt.problem import Problem

HOT_SKEW = 2


@dataclass(frozen=True, kw_only=True)
class MultiTenantParameters(TrafficParameters):
    """Parameters of the family ``multi-tenant``."""

    ordered = (("tenant_chunks_min", "tenant_chunks_max"),)

    sharing: float = parameter(
        0.3, "share of a tenant's requests that leave its home worker", least=0, most=1
    )
    tenants: int = parameter(12, "tenants", least=1, most=10**6)
    zipf: float = parameter(1.2, "exponent of the tenants' sizes", least=0, most=10)
    system_chunks: int = parameter(1, "chunks of the common prompt", least=0, most=10**5)
    prompt_chunks_max: int = parameter(
        3, "chunks of the longest tenant's prompt", least=1, most=10**5
    )
    tenant_chunks_min: int = parameter(10, "chunks of the smallest subtree", least=1, most=10**6)
    tenant_chunks_max: int = parameter(40, "chunks of the largest subtree", least=1, most=10**6)
    hot: int = parameter(8, "chunks of a tenant at which requests end", least=1, most=10**6)


def multi_tenant(parameters: MultiTenantParameters, seed: int) -> Problem:
    """Generate one instance of the family."""
    draw = Draw("multi-tenant", seed, "tree")
    growth = Growth()
    system = growth.chain(-1, parameters.system_chunks)
    popularity = zipf(parameters.units, parameters.tenants, parameters.zipf)
    for tenant, units in enumerate(popularity):
        own = [growth.chain(system, draw.between(1, parameters.prompt_chunks_max))]
        for _ in range(draw.between(parameters.tenant_chunks_min, parameters.tenant_chunks_max)):
            own.append(growth.chain(draw.choice(own), 1))
        draw.shuffle(own)
        hot = own[: parameters.hot]
        for chunk, share in zip(hot, draw.skewed(units, len(hot), HOT_SKEW), strict=True):
            growth.visit(chunk, share, tenant)
    return problem_of_growth(growth, parameters, "multi-tenant", seed)
