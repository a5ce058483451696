"""What a view may say while it runs."""
