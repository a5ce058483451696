"""What the source of a project's code shows of its request and its answer."""
