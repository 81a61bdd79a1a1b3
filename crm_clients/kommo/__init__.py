"""Kommo (formerly amoCRM), API v4."""
