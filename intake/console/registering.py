"""Putting the pages of the console into an application."""

from __future__ import annotations

from flask import Flask

from intake.console import deeds, events, figures, gate, i18n, items, lists, login, many, steering, wording
from intake.desk.tools import Tools


def register(app: Flask, tools: Tools) -> None:
    """Put the pages under /console."""
    i18n.install(app, tools)
    wording.install(app)
    pages = gate.blueprint()
    for part in (login, lists, events, deeds, items, many, steering, figures):
        part.add(pages)
    gate.install(app, pages)
