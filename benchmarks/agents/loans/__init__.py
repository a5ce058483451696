"""A lending library: the API of a project that has never heard of agents."""
