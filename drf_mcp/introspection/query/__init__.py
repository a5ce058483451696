"""Query parameters: of filters, paginators and versioning classes."""
