"""The cost of a list of tools, compared with a view that sends the same bytes."""
