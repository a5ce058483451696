"""The official conformance suite against a live server: ``make conformance``.

``fixtures`` has a module for each capability that the suite tests, written with public features
only. Each module has ``urlpatterns``, and adds what it needs to ``registry``.
"""
