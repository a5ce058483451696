"""DRF endpoints as JSON Schema 2020-12, and the portable subset every client accepts."""
