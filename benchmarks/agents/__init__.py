"""The agents' judge: an agent that reads nothing but the list of tools and the errors."""
