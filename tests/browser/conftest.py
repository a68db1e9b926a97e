"""A real browser for all tests of pages: the system's Chromium, driven by Playwright (``make test-browser``).

``KGMI_CHROMIUM`` says where it is; else it is looked for. What a page writes to the console as an error, or throws,
fails the test that visited it.
"""

import os
import shutil
from pathlib import Path

import pytest

SCREENSHOTS = Path(__file__).parent / "screenshots"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Containers have no sandbox of their own to give, and nothing here may reach out to a network.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    from playwright import sync_api  # make test-browser installs it

    path = os.environ.get("KGMI_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.fail("needs Chromium: install it, or say where it is with KGMI_CHROMIUM")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """A function that opens an address in a window of its own; ``expect`` allows some complaints.

    ``page.requests`` lists every address that the page asked for.
    """
    contexts, complaints = [], []

    def go(address, *, width=1280, height=900, dark=False, script=True, touch=False, calm=False, expect=()):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            has_touch=touch,
            reduced_motion="reduce" if calm else "no-preference",
        )
        contexts.append(context)
        page = context.new_page()
        page.requests = []

        def complain(text):
            if not any(part in text for part in expect):
                complaints.append(text)

        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complain(str(error)))
        page.goto(address)
        return page

    yield go
    for context in contexts:
        context.close()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def shoot(request):
    """A function that keeps a picture of a page under a name, for people to look at."""

    def keep(page, name, *, whole=True):
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)

    return keep
