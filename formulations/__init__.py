"""What the problem says, free of any solver: models that a solver can be handed."""
