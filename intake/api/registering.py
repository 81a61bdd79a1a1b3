"""Putting the API into an application."""

from __future__ import annotations

import json

from flask import Blueprint, Flask, Response, render_template

from intake.api import openapi, problems
from intake.desk.tools import Tools, tools


def register(app: Flask, _tools: Tools) -> None:
    """Put it under /api/v1, with its description beside it."""
    routes = Blueprint("api", __name__, url_prefix=openapi.BASE)
    for route in openapi.ROUTES:
        routes.add_url_rule(route.path, route.name, route.serve(), methods=[route.method])
    routes.register_error_handler(Exception, problems.handle)
    app.register_blueprint(routes)
    about = Blueprint("about_api", __name__, url_prefix="/api", template_folder="templates")
    about.add_url_rule("/openapi.json", "openapi", document, methods=["GET"])
    about.add_url_rule("/", "reference", reference, methods=["GET"])
    about.register_error_handler(Exception, problems.handle)
    app.register_blueprint(about)


def document() -> Response:
    """OpenAPI 3.1."""
    return Response(json.dumps(openapi.document(), ensure_ascii=False, indent=2), content_type="application/json")


def reference() -> str:
    """The same for people."""
    return render_template(
        "reference.html", routes=openapi.ROUTES, codes=openapi.codes(), path_of=openapi.path_of,
        scope_of=openapi.scope_of, base=tools().settings.public_base_url,
    )  # fmt: skip
