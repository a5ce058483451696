"""From a bound call to an outcome: the view's own callback, its request, response and errors."""
