"""The page that the endpoint shows to people with a browser."""
