"""A library of long documents with six ways to search it: the retrieval example."""
