"""Back ends: foreign solvers behind one interface, with capabilities stated and statuses mapped."""
