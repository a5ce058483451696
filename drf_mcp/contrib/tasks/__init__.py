"""Calls that go on in the background, as tasks (SEP-2663)."""
