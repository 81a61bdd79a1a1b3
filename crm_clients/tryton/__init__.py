"""Tryton (trytond), version 8.2."""
