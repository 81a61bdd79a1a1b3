"""Dolibarr and its forks, REST API of version 20."""
