"""The way into every page: who it is, what they may, and that a form was made here.

Each view says by `needs` what it asks of its reader; one that says nothing cannot be registered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final, ParamSpec
from urllib.parse import quote

import psycopg
import psycopg_pool
import structlog
from flask import Blueprint, Flask, Response, abort, g, make_response, redirect, render_template, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from intake.at_rest import Damaged
from intake.console.i18n import _
from intake.desk import sessions
from intake.desk.access import Viewer
from intake.desk.passwords import TooBusy
from intake.desk.roles import Permission
from intake.desk.sessions import Session
from intake.desk.tools import connection, tools
from intake.lead_schema import NotALead

log = structlog.get_logger()

P = ParamSpec("P")
View = Callable[P, "str | AnyResponse"]

# Views that need nobody to be signed in.
OPEN: Final = frozenset({"console.login", "console.enter", "console.static"})
# What may be done before a password that somebody else knows is changed.
BEFORE_CHANGE: Final = OPEN | {"console.account", "console.change_password", "console.leave"}

# Bears what a page asks for by itself to stay up to date: nobody uses it, and a session ends in time.
LIVE: Final = "Intake-Live"

# A page of ours to go to after the login: nothing that a browser could read as another site.
LOCAL: Final = re.compile(r"/console(?:/(?!\.\.?(?:[/?]|$))[A-Za-z0-9._~-]+)*/?(?:\?[A-Za-z0-9._~=&%+:-]*)?", re.ASCII)


def cookie_name() -> str:
    """A browser takes a __Host- cookie only from this very host, by HTTPS (RFC 6265bis, section 4.1.3.2)."""
    return "__Host-intake" if tools().is_secure else "intake"


def needs(permission: Permission) -> Callable[[View[P]], View[P]]:
    """Let in whoever may."""

    def guard(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> str | AnyResponse:
            if not signed_in().operator.may(permission):
                abort(HTTPStatus.FORBIDDEN)
            return view(*args, **kwargs)

        guarded.needs = permission  # type: ignore[attr-defined]  # read by the test that walks all routes
        return guarded

    return guard


def signed_in() -> Session:
    """Whose page this is."""
    found: Session = g.session
    return found


def viewer() -> Viewer:
    """Whom the access log names."""
    return Viewer(signed_in().operator.name, "console")


def local(target: str | None) -> str:
    """Where to go after the login; the inbox where the target is not one of our pages."""
    return target if target and LOCAL.fullmatch(target) else url_for("console.home")


# --- before each request --------------------------------------------------------------------------------------------


def blueprint() -> Blueprint:
    """Where the pages go."""
    pages = Blueprint("console", __name__, url_prefix="/console", static_folder="static", template_folder="templates")
    pages.before_request(_identify)
    pages.before_request(_check_form)
    pages.register_error_handler(Exception, refuse)
    return pages


def install(app: Flask, pages: Blueprint) -> None:
    """Put the pages into the application."""
    app.register_blueprint(pages)


def _identify() -> AnyResponse | None:
    g.session = None
    if request.endpoint == "console.static":
        return None
    token = request.cookies.get(cookie_name())
    if token:
        with connection() as conn:
            g.session = sessions.find(conn, token, used=LIVE not in request.headers)
    if g.session is None:
        return None if request.endpoint in OPEN else _to_login()
    if g.session.operator.must_change and request.endpoint not in BEFORE_CHANGE:
        return redirect(url_for("console.account"))
    return None


def _to_login() -> AnyResponse:
    here = request.full_path.rstrip("?") if request.method == "GET" else ""
    wanted = f"?next={quote(here, safe='')}" if LOCAL.fullmatch(here) and here != "/console/" else ""
    return redirect(url_for("console.login") + wanted)


def _check_form() -> None:
    """A form carries the proof that it was made for this cookie; and no browser says that it came from elsewhere."""
    if request.method in {"GET", "HEAD", "OPTIONS"}:
        return
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        abort(HTTPStatus.FORBIDDEN, "csrf")
    secret = g.session.token if g.session is not None else request.cookies.get(before_login_cookie(), "")
    if not secret or not sessions.is_form_token(secret, request.form.get("csrf", "")):
        abort(HTTPStatus.FORBIDDEN, "csrf")


def before_login_cookie() -> str:
    """Holds what the login form is bound to; it is no session."""
    return cookie_name() + "-login"


# --- what went wrong ------------------------------------------------------------------------------------------------


def refuse(error: Exception) -> Response:
    """Every error of the pages."""
    match error:
        case HTTPException():
            return _refuse_http(error)
        case psycopg.OperationalError() | psycopg_pool.PoolTimeout() | TooBusy():
            return page_of(HTTPStatus.SERVICE_UNAVAILABLE)
        case Damaged() | NotALead():
            return page_of(HTTPStatus.INTERNAL_SERVER_ERROR, _told_of_damage())
        case _:
            log.error("desk failed", endpoint=request.endpoint, error=type(error).__name__)
            return page_of(HTTPStatus.INTERNAL_SERVER_ERROR)


def _refuse_http(error: HTTPException) -> Response:
    status = HTTPStatus(error.code or HTTPStatus.BAD_REQUEST)
    if error.response is not None:  # a redirect that Flask wants
        return make_response(error.response)
    return page_of(status, _told_of_form() if error.description == "csrf" else None)


def page_of(status: HTTPStatus, told: str | None = None) -> Response:
    """A page that says what cannot be done."""
    g.setdefault("session", None)
    return make_response(render_template("refused.html", text=told or _told(status), status=status.value), status)


def _told_of_form() -> str:
    return _("El formulario era de otra sesión o de una página anterior. Vuelva, recargue e intente otra vez.")


def _told_of_damage() -> str:
    return _("Su contenido no se puede leer: se dañó en la base de datos.")


def _told(status: HTTPStatus) -> str:
    return {
        HTTPStatus.FORBIDDEN: _("Su rol no permite esto. Quien administra puede darle otro."),
        HTTPStatus.NOT_FOUND: _("Aquí no hay nada. Quizás el enlace está incompleto, o lo que mostraba ya se borró."),
        HTTPStatus.TOO_MANY_REQUESTS: _("Demasiadas búsquedas seguidas. Espere un minuto."),
        HTTPStatus.SERVICE_UNAVAILABLE: _(
            "La base de datos no responde ahora. Lo que llega se sigue guardando; intente en un momento."
        ),
        HTTPStatus.INTERNAL_SERVER_ERROR: _("Algo falló de nuestro lado y quedó anotado. No se cambió nada."),
    }.get(status, _("Esto no se pudo leer. Vuelva e intente otra vez."))
