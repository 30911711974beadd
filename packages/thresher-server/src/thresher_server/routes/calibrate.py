"""Calibrates a judge on a collection."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from thresher import recipes
from thresher_server.jobs import Jobs, wake
from thresher_server.naming import Opened, Served
from thresher_server.problems import replies
from thresher_server.receiving import on_disk
from thresher_server.security.access import Writer
from thresher_server.shapes import Body, JobStarted

router = APIRouter(prefix="/api/collections/{collection}", tags=["calibrate"])

MOST_QUESTIONS = 5000


class CalibrateBody(Body):
    """Options of a calibration."""

    recipe: str | None = Field(None, max_length=100)
    number: int = Field(200, ge=40, le=MOST_QUESTIONS, description="questions to make where none are given")
    questions: Annotated[list[tuple[str, bool]], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = Field(
        None,
        description="questions, each with whether the documents answer it",
        examples=[[["When was the lighthouse built?", True]]],
    )


@router.post("/calibrate", summary="Calibrate", status_code=202, responses=replies(404, 507), response_model=JobStarted)
async def calibrate(caller: Writer, collection: Opened, body: CalibrateBody, service: Served) -> JSONResponse:
    """Starts a job that calibrates the recipe's judge on the collection; later questions use and report the result."""
    recipe = recipes.get(body.recipe or service.front.recipe).name
    arguments = {"recipe": recipe, "number": body.number, "questions": body.questions}
    with on_disk():
        job = await run_in_threadpool(Jobs(service.home).make, "calibrate", collection.name, caller.name, arguments)
    wake(service)
    return JSONResponse({"job": job.id}, 202, {"Location": f"/api/jobs/{job.id}"})
