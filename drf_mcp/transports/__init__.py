"""The doors beside HTTP: stdio and this process."""
