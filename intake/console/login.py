"""Signing in and out, and what belongs to one's own account."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Final

from flask import Blueprint, g, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from intake.console import gate
from intake.console.i18n import _
from intake.desk import operators, sessions
from intake.desk.operators import Operator, Refusal, Secret
from intake.desk.passwords import SHORTEST, WeakPassword
from intake.desk.sessions import form_token
from intake.desk.tools import connection, tools
from intake.rates import visitor

# Of one address, in one of the web processes: a check of a password takes a tenth of a second of the door's processors.
PER_MINUTE: Final = 60


def add(pages: Blueprint) -> None:
    """These pages."""
    pages.add_url_rule("/login", "login", login, methods=["GET"])
    pages.add_url_rule("/login", "enter", enter, methods=["POST"])
    pages.add_url_rule("/logout", "leave", leave, methods=["POST"])
    pages.add_url_rule("/account", "account", account, methods=["GET"])
    pages.add_url_rule("/account/password", "change_password", change_password, methods=["POST"])
    pages.add_url_rule("/account/language", "change_language", change_language, methods=["POST"])
    pages.add_url_rule("/account/sessions", "end_sessions", end_sessions, methods=["POST"])


def login() -> str | Response:
    """The form."""
    if g.session is not None:
        return redirect(gate.local(request.args.get("next")))
    return _form(HTTPStatus.OK, "", request.args.get("next", ""))


def _form(status: HTTPStatus, told: str, target: str) -> Response:
    secret = secrets.token_urlsafe(32)
    page = render_template(
        "login.html", csrf_token=form_token(secret), told=told, next=target, name=request.form.get("name", "")
    )
    answer = make_response(page, status)
    _set(answer, gate.before_login_cookie(), secret)
    return answer


def _set(answer: Response, name: str, value: str) -> None:
    # Lax, not strict: a link in an alert must find the session.
    answer.set_cookie(name, value, secure=tools().is_secure, httponly=True, samesite="Lax", path="/")


def enter() -> str | Response:
    """Name and password; a new session, whatever the browser brought."""
    address = visitor(request.remote_addr or "", request.headers.get("X-Forwarded-For", ""))
    if tools().rates.wait("login", address, PER_MINUTE):
        told = _("Demasiados intentos desde su dirección. Espere un minuto.")
        return _form(HTTPStatus.TOO_MANY_REQUESTS, told, request.form.get("next", ""))
    with connection() as conn:
        found = operators.identify(
            conn, tools().passwords, request.form.get("name", ""), request.form.get("password", "")
        )
        if not isinstance(found, Operator):
            return _form(HTTPStatus.UNAUTHORIZED, _refused(found), request.form.get("next", ""))
        begun = sessions.begin(conn, found)
    answer = redirect(gate.local(request.form.get("next")), HTTPStatus.SEE_OTHER)
    _set(answer, gate.cookie_name(), begun.token)
    answer.delete_cookie(gate.before_login_cookie(), secure=tools().is_secure, httponly=True, samesite="Lax", path="/")
    return answer


def _refused(why: Refusal) -> str:
    if why == "locked":
        return _("Demasiados intentos. Espere 15 minutos, o pida a quien administra que le dé otra contraseña.")
    return _("El nombre o la contraseña no son correctos.")


def leave() -> Response:
    """The session ends here, and its cookie with it."""
    with connection() as conn:
        sessions.end(conn, gate.signed_in())
    answer = redirect(url_for("console.login"), HTTPStatus.SEE_OTHER)
    answer.delete_cookie(gate.cookie_name(), secure=tools().is_secure, httponly=True, samesite="Lax", path="/")
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


leave.needs = "see"  # type: ignore[attr-defined]  # anybody who is signed in


# --- the account ----------------------------------------------------------------------------------------------------


@gate.needs("see")
def account() -> str | Response:
    """Password, language, sessions."""
    return render_template("account.html", shortest=SHORTEST)


@gate.needs("see")
def change_password() -> str | Response:
    """The old one is asked for: an unlocked screen must not be enough."""
    session = gate.signed_in()
    name, new = session.operator.name, request.form.get("new", "")
    with connection() as conn:
        if not isinstance(operators.identify(conn, tools().passwords, name, request.form.get("old", "")), Operator):
            return _again(_("La contraseña actual no es correcta."))
        if new != request.form.get("again", ""):
            return _again(_("La contraseña nueva no se repitió igual."))
        if new == request.form.get("old", ""):
            return _again(_("La contraseña nueva es la misma que la actual."))
        try:
            operators.set_password(conn, tools().passwords, name, Secret(new, must_change=False))
        except WeakPassword as weak:
            return _again(_weak(str(weak)))
        begun = sessions.begin(conn, session.operator)
    answer = redirect(url_for("console.home"), HTTPStatus.SEE_OTHER)
    _set(answer, gate.cookie_name(), begun.token)
    return answer


def _again(told: str) -> Response:
    page = render_template("account.html", shortest=SHORTEST, told=told)
    return make_response(page, HTTPStatus.UNPROCESSABLE_ENTITY)


def _weak(rule: str) -> str:
    match rule:
        case "too_short":
            return _("La contraseña debe tener al menos %(number)s caracteres.", number=SHORTEST)
        case "too_long":
            return _("La contraseña debe tener 200 caracteres como máximo.")
        case _:
            return _("La contraseña no debe contener su nombre ni repetir un solo carácter.")


@gate.needs("see")
def change_language() -> Response:
    """At once, and for later."""
    with connection() as conn:
        operators.speak(conn, gate.signed_in().operator.name, "en" if request.form.get("language") == "en" else "es")
    return redirect(url_for("console.account"), HTTPStatus.SEE_OTHER)


@gate.needs("see")
def end_sessions() -> Response:
    """Everywhere else."""
    with connection() as conn:
        sessions.end_others(conn, gate.signed_in())
    return redirect(url_for("console.account", ended=1), HTTPStatus.SEE_OTHER)
