"""A tool's arguments: their names and schema, and the request that they become."""
