"""Another package, given the same project and judged in the same run by the same rules."""
