"""Customers, products, orders and support tickets."""
