"""Scores for lists of tools: a scripted agent reads the list and the errors, and nothing else."""
