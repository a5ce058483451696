"""Large surfaces: a list of pinned tools, and three tools that search, read and write the rest."""
