"""What the source of a project's code proves about what it does."""
