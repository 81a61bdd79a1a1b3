"""Spanish first: the texts in code and templates are Spanish, and a catalogue says them in English.

The catalogue is read from its .po file at the start, so that nothing has to be compiled.
"""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from flask import Flask, current_app, g, request
from flask_babel import Babel, Domain, gettext
from flask_babel import format_date as babel_date
from flask_babel import format_datetime as babel_datetime
from flask_babel import format_timedelta as babel_timedelta

from intake.desk.tools import Tools
from intake.reason_texts import Language

CATALOGUES: Final = Path(__file__).parent / "translations"
LOCALES: Final[dict[Language, str]] = {"es": "es_PE", "en": "en"}


@cache
def catalogue(locale: str) -> NullTranslations:
    """What a language says; Spanish is what stands in the source."""
    file = CATALOGUES / f"{locale}.po"
    if not file.exists():
        return NullTranslations()
    compiled = io.BytesIO()
    with file.open("rb") as text:
        write_mo(compiled, read_po(text, locale=locale))
    compiled.seek(0)
    return Translations(compiled)


class Catalogues(Domain):  # type: ignore[misc]  # Flask-Babel publishes no types
    """Flask-Babel's domain, which would look for compiled files."""

    def get_translations(self) -> NullTranslations:
        """Those of this request."""
        return catalogue(LOCALES[language()])


class Speaking(Babel):  # type: ignore[misc]
    """Flask-Babel with our catalogues."""

    @property
    def domain_instance(self) -> Domain:
        """The only one."""
        return Catalogues()


def install(app: Flask, tools: Tools) -> None:
    """Choose the language of each request, and show times where the company is."""
    Speaking(
        app,
        default_locale=LOCALES[tools.settings.language],
        default_timezone=str(tools.settings.timezone),
        locale_selector=lambda: LOCALES[language()],
    )
    app.extensions["intake-language"] = tools.settings.language


def language() -> Language:
    """The operator's own, else what the browser wants of ours, else the installation's."""
    chosen: Language | None = g.get("language")
    if chosen is None:
        chosen = g.language = _chosen()
    return chosen


def _chosen() -> Language:
    session = g.get("session")
    if session is not None and session.operator.language is not None:
        own: Language = session.operator.language
        return own
    first: Language = current_app.extensions["intake-language"]
    wanted = request.accept_languages.best_match(("es", "en"))
    if session is None and wanted in {"es", "en"}:
        return "en" if wanted == "en" else "es"
    return first


# --- Flask-Babel's functions, with types ------------------------------------------------------------------------------


def _(text: str, **values: object) -> str:
    """A text of the source in the reader's language, its values put in."""
    return str(gettext(text, **values))


def format_datetime(at: datetime, pattern: str) -> str:
    """A moment where the company is."""
    return str(babel_datetime(at, pattern))


def format_day(at: datetime) -> str:
    """Its day, in full."""
    return str(babel_date(at, "full"))


def format_span(span: timedelta, *, direction: bool = False) -> str:
    """How long, in one unit; `direction`: how long ago, or until then."""
    return str(babel_timedelta(span, granularity="second", threshold=1.2, add_direction=direction))
