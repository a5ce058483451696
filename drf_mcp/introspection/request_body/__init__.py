"""Request bodies: who reads them, and the members they take."""
