"""The pictures of the documentation: the page in a browser, and a terminal at work."""
