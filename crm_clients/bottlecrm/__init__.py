"""BottleCRM (MicroPyramid's Django-CRM), version 1.35."""

from crm_clients.bottlecrm.client import BottleCRM

__all__ = ["BottleCRM"]
