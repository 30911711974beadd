"""Every operation of the OpenAPI description, tried with what its schema allows and with what it does not.

No reply is a 5xx, and none is anything that the description does not tell of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import APIOperation, Case, CheckFunction, GenerationMode
from schemathesis.checks import (
    CheckContext,
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response

from tests.servers.own import DOCUMENTS, Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION, added, documents

TRIED = "tried-home"
"""A folder above the home."""

EXAMPLES = 15
"""Of each operation: enough to have met every branch of its schema, and minutes for all of them."""


def names_no_folder(_: CheckContext, response: Response, case: Case) -> None:
    """No reply says where files lie on the server's machine."""
    assert TRIED not in response.text, response.text[:500]


CHECKS: list[CheckFunction] = [
    names_no_folder,
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def tried(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose home may be changed by what is tried."""
    with running(copied(indexed_home, tmp_path_factory.mktemp(TRIED))) as one:
        yield one


def known(one: Running) -> dict[str, str]:
    """Parameters of paths that lead somewhere; what an operation before has removed is there again."""
    if one.client.get(DEFAULT).json()["documents"] < len(DOCUMENTS):
        added(one, [(name, text.encode()) for name, text in DOCUMENTS.items()])
    return {
        "collection": "default",
        "document": documents(one)[0]["id"],
        "trace": one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()["trace"],
        "conversation": one.client.post(f"{DEFAULT}/conversations").json()["id"],
        "job": added(one, [("ferry.md", DOCUMENTS["ferry.md"].encode())])["id"],
        "name": "corrective",
    }


def failures(operation: APIOperation, mode: GenerationMode, path: Mapping[str, str]) -> list[str]:
    """What is wrong with the replies of one operation, to what fits its schema or what does not."""
    found: list[str] = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def tries(case: Case) -> None:
        for name in path.keys() & case.path_parameters.keys():
            case.path_parameters[name] = path[name]
        if isinstance(case.body, dict) and mode is GenerationMode.POSITIVE:
            case.body.update({name: None for name in ("recipe", "where", "settings", "outside") if name in case.body})
        if isinstance(case.body, dict) and isinstance(case.body.get("urls"), list):
            case.body["urls"] = ["http://127.0.0.1:9/"]  # where nobody is: a job would wait for the others
        try:
            case.call_and_validate(checks=CHECKS, timeout=60)
        except FailureGroup as group:
            found.append(f"{operation.label}: {[str(one) for one in group.exceptions]}")

    with suppress(Unsatisfiable):  # what takes nothing cannot be given anything that does not fit
        tries()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("leads", [True, False], ids=["somewhere", "anywhere"])
def test_every_operation_keeps_to_its_description(tried: Running, mode: GenerationMode, leads: bool) -> None:
    described = schemathesis.openapi.from_url(f"{tried.url}/openapi.json")
    found: list[str] = []
    labels = []
    for operation in (one.ok() for one in described.get_all_operations()):
        labels.append(operation.label)
        path = known(tried) if leads and operation.path.startswith("/api") else {}
        found += failures(operation, mode, path)
    assert "POST /api/collections/{collection}/ask" in labels
    assert not found, "\n\n".join(found)
