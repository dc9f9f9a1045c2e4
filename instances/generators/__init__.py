"""Generator families: documented distributions of instances, the same on every machine."""

from .families import FAMILIES, Family, family_named, generate

__all__ = ["FAMILIES", "Family", "family_named", "generate"]
