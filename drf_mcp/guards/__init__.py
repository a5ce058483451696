"""What stands between a call and the view: a chain of small callables, each free to refuse."""
