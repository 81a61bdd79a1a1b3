"""Ports for servers that are started, stopped and started again."""

from __future__ import annotations

from workers.prove.chaos.ports import free_port

__all__ = ["free_port"]
