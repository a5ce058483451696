"""Log records, signals, spans and measurements of calls."""
