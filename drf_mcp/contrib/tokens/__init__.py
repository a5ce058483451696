"""Tokens for agents: each opens some tools to one user, until it expires or is revoked."""
