"""Runs the command line in this process and catches what it prints."""

import contextlib
import io
import sys
from unittest import mock

from kgmi.cli import main


def run_kgmi(*arguments):
    """Exit code, standard output and standard error of ``kgmi ARGUMENTS``."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["kgmi", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()


def expect_refused(code, *arguments, says):
    """The command fails with this exit code and one line that says all of ``says``."""
    got, out, err = run_kgmi(*arguments)
    assert got == code
    assert out == ""
    assert err.startswith("kgmi: error: ")
    assert err.count("\n") == 1
    for part in says:
        assert part in err
