"""Another package over the same project, scored in the same run by the same rules."""
