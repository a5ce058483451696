"""What a view's error means: its code, its problems, and what to do next."""
