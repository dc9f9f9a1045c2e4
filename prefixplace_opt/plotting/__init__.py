"""Pictures: the tree with who holds what, savings side by side, a run's progress.

Every function returns a matplotlib figure that is bound to no window system; matplotlib is
imported when one is called.
"""

from .figure import write_figure
from .progress import draw_progress
from .savings import draw_savings
from .tree import draw_tree

__all__ = ["draw_progress", "draw_savings", "draw_tree", "write_figure"]
