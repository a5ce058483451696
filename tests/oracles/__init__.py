"""What judges every message of every test; `watching` says which, and where they leave."""
