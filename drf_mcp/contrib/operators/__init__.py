"""What operators and authors run: checks, lint, lock file, reports."""
