"""Who may use the endpoint: authentication."""
