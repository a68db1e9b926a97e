"""What the server says when something cannot be done: a sentence and what to do, never a trace."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kgmi.errors import KgmiError
from kgmi.web.wording import FULL, is_full

__all__ = ["Problem", "add_handlers", "log", "unexpected"]

log = logging.getLogger("kgmi.web")

_LONGEST = 300  # letters of something a user sent that a message repeats

_USUAL = {
    400: ("The body of the request cannot be read.", "See /api for what it takes; text must be JSON in UTF-8."),
    404: ("There is nothing at this address.", "The addresses that exist are listed at /api."),
    405: ("This address does not take such a request.", "See /api for what it takes."),
}


class Problem(Exception):
    """Something that the user should know: an HTTP status, what is wrong, and what to do."""

    def __init__(self, status: int, error: str, advice: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.advice = status, error, advice

    @property
    def content(self) -> dict[str, Any]:
        """As it is sent."""
        return {"error": self.error, "advice": self.advice}


def add_handlers(app: FastAPI) -> None:
    """Have all that goes wrong in ``app`` end in words."""

    @app.exception_handler(Problem)
    async def problem(_: Request, error: Problem) -> JSONResponse:
        return JSONResponse(error.content, error.status)

    @app.exception_handler(KgmiError)
    async def refused(_: Request, error: KgmiError) -> JSONResponse:
        return JSONResponse({"error": str(error), "advice": ""}, 422)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": _what_is_wrong(error), "advice": "See /api for what it takes."}, 422)

    @app.exception_handler(HTTPException)
    async def usual(_: Request, error: HTTPException) -> JSONResponse:
        wrong, advice = _USUAL.get(error.status_code, (str(error.detail), ""))
        return JSONResponse({"error": wrong, "advice": advice}, error.status_code)


def unexpected(error: Exception) -> Problem:
    """What is said of an error that nobody foresaw: a number, under which the terminal has all of it."""
    if is_full(error):
        return Problem(507, *FULL)
    number = secrets.token_hex(4)
    log.error("unexpected error %s", number, exc_info=error)
    return Problem(
        500,
        f"Something went wrong in the server (error {number}).",
        "The terminal where kgmi serve runs has the details under this number; please report them.",
    )


def _what_is_wrong(error: RequestValidationError) -> str:
    """The first thing that is wrong with a request, in one sentence."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "The body of the request is no proper JSON."
    place = " → ".join(str(part) for part in first["loc"][1:]) or "the request"
    text = f"{place}: {first['msg']}"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
