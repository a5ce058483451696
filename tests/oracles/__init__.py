"""Checks of every message of every test; `watching` lists the checks and the watched functions."""
