"""The official conformance suite against a live server: ``make conformance``.

``fixtures`` holds what the suite asks of a server, a module for each capability, written with
public features alone. Each module has ``urlpatterns``, and adds what it needs to ``registry``.
"""
