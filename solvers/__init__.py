"""How the problem is solved: tree oracle, planners, bounds and solver back ends."""
