"""HTTP, stdio and calls in this process."""
