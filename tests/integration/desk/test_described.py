"""Whatever a program sends that OpenAPI describes, the API answers as OpenAPI says, and never with a bug."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from intake.api import openapi
from intake.api.routes import Route
from intake.desk.serving import create
from intake.desk.tools import Tools
from intake.rates import Rates
from tests.conftest import fresh_database
from tests.desk_lab import QUICK, desk_lab
from tests.desk_scenes import day
from tests.lab import lab

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.specs.openapi.schemas import OpenApiSchema

# Of each route.
EXAMPLES: Final = 12


@dataclass(frozen=True, slots=True)
class Described:
    """A desk with a morning's events.  `known` gives by the name of a path's argument what there is."""

    schema: OpenApiSchema
    headers: dict[str, str]
    known: dict[str, list[str]]


@pytest.fixture(scope="module")
def described(
    postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Described]:
    """Of its own, since programs decide what they like here."""
    import schemathesis  # noqa: PLC0415  # takes a second, which only this test needs

    with (
        fresh_database(postgres_server, template=migrated_template) as (_, url),
        lab(url, tmp_path_factory.mktemp("described")) as made,
    ):
        happened, desk = day(made), desk_lab(made.pool, made.settings)
        patient = Rates(count(0.0, 60.0).__next__)
        app = create(Tools(made.settings, made.pool, lambda: None, QUICK, patient))
        known = {
            "event_id": [str(each) for each in (happened.confirmed, happened.review, happened.uncertain)],
            "item_id": [str(each) for each in (happened.conflict_item, happened.quarantine_item, 1)],
            "bulk_id": [str(happened.run)],
            "name": [*made.settings.sources, *made.settings.destinations],
        }
        yield Described(schemathesis.openapi.from_wsgi("/api/openapi.json", app), desk.token("admin"), known)


@pytest.mark.parametrize("route", openapi.ROUTES, ids=lambda route: route.name)
def test_every_answer_is_one_that_is_described(described: Described, route: Route) -> None:
    operation = described.schema[openapi.path_of(route)][route.method]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        case = data.draw(operation.as_strategy())
        for name in case.path_parameters:
            if data.draw(st.booleans()):
                case.path_parameters[name] = data.draw(st.sampled_from(described.known[name]))
        validate(case, described.headers)

    ask()


def validate(case: Case[Any], headers: dict[str, str]) -> None:
    """No bug, and as the description says."""
    from schemathesis.specs.openapi import checks  # noqa: PLC0415

    answer = case.call(headers=headers)
    assert answer.status_code != HTTPStatus.INTERNAL_SERVER_ERROR, case.as_curl_command()
    case.validate_response(
        answer,
        checks=[checks.content_type_conformance, checks.response_schema_conformance, checks.status_code_conformance],
    )
