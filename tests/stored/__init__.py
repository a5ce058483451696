"""The archive: storing what results leave out, and fetching it."""
