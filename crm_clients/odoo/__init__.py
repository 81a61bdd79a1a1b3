"""Odoo: JSON-2 for version 19 and later, JSON-RPC before."""
