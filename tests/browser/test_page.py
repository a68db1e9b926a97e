"""The page of kgmi serve in a real browser, with a real server: send, learn, watch, cancel, compare, download."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.web_drills import slow_table, small_table

pytestmark = pytest.mark.browser

AT_THE_END = re.compile(r"epoch ([\d,]+) of \1$")
LONG = 90_000  # milliseconds that a job may take on a busy machine


@pytest.fixture
def expect():
    """Playwright's own way to wait for what a page shows; loaded here, as other tests do without it."""
    from playwright.sync_api import expect

    return expect


@contextmanager
def started():
    """A server that was started as users start it: its process, and where it listens."""
    source = str(Path(__file__).parents[2] / "src")
    command = [
        sys.executable,
        "-m",
        "kgmi",
        "serve",
        "--port",
        "0",
        "--no-open",
        "--upload-limit",
        "3MB",
        "--jobs",
        "2",
    ]
    environment = os.environ | {"PYTHONPATH": source}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield process, re.search(r"http://\S+", process.stdout.readline())[0]
        process.terminate()


@pytest.fixture(scope="module")
def server():
    """Where a server listens for all of these tests."""
    with started() as (_, address):
        yield address


@pytest.fixture
def page(server, visit):
    """A function that opens the page and waits until it can be used."""

    def go(**options):
        opened = visit(server, **options)
        opened.wait_for_selector("#ready", state="attached")
        return opened

    return go


def choose(page, key):
    page.click(f"[data-key={key}]")
    page.wait_for_selector("#offer", timeout=LONG)


def send(page, content, name="table.csv"):
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": content})


def learn(page):
    page.click("#learn")
    page.wait_for_selector("#result:not([hidden]) .card", timeout=LONG)


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_an_example_is_learned_and_its_heads_are_watched(page, shoot, expect):
    one = page()
    assert one.is_disabled("#learn")
    assert one.locator(".example").count() == 6
    shoot(one, "page-start")
    choose(one, "paper")
    assert "20,000 rows, 10 columns" in one.inner_text("#table")
    shoot(one, "page-table")
    learn(one)
    # The player runs by itself, from uniform to concentrated attention.
    first = one.inner_text(".kgmi-epoch")
    expect(one.locator(".kgmi-epoch")).not_to_have_text(first)
    expect(one.locator(".kgmi-epoch")).to_have_text(AT_THE_END, timeout=20_000)
    said = one.inner_text("#result")
    assert "Trust it far" in said
    assert "16 of the 16 edges of the true graph were found" in said
    assert one.locator("#result table tbody tr").count() == 10
    one.locator(".kgmi-node", has_text="X9").click()
    assert "X6" in one.inner_text(".kgmi-panel")
    assert all(address.startswith(one.url) for address in one.requests)
    shoot(one, "page-result")


def test_a_table_is_sent_prepared_and_learned_with_the_keyboard_alone(page, shoot):
    one = page()
    lines = ["id,size,colour,kind"]
    for n in range(400):
        colour = "red" if n * 37 % 101 > 50 else "blue"
        lines.append(f"row{n},{n * 37 % 101 / 7:.2f},{colour},{'a' if (n % 11 > 1) == (colour == 'red') else 'b'}")
    send(one, "\n".join(lines).encode(), "shapes & <b>sizes.csv")
    one.wait_for_selector("#offer .notes")
    assert "id is left out" in one.inner_text("#offer")
    assert "shapes & <b>sizes.csv" in one.inner_text("#table")  # shown as it is, not as a page
    shoot(one, "page-prepared")
    one.focus("#set-parents")
    one.keyboard.press("1")
    one.focus("#learn")
    one.keyboard.press("Enter")
    one.wait_for_selector("#result:not([hidden]) .card", timeout=LONG)
    assert one.locator("#result table tbody th").all_inner_texts() == ["size", "colour", "kind"]
    one.click("text=How it went")
    assert "id is left out" in one.inner_text("#result")


def test_a_long_job_is_cancelled(page, shoot, expect):
    one = page()
    start_slowly(one)
    expect(one.locator(".job .phase")).not_to_have_text("Starting", timeout=LONG)
    assert "so far, stopped after 2 min" in one.inner_text(".job")
    shoot(one, "page-progress", whole=False)
    one.click(".job button")
    one.wait_for_selector(".job[data-state=cancelled]")
    assert one.is_enabled("#learn")
    assert not one.is_visible("#result")


def start_slowly(page):
    """Start a job that takes long."""
    send(page, slow_table(), "slow.csv")
    page.wait_for_selector("#offer", timeout=LONG)
    page.check("input[name=order][value=learn]")
    page.select_option("#set-parents", "4")
    page.focus("#learn")
    page.keyboard.press("Enter")
    page.wait_for_selector(".job[data-state=running]")


def test_a_reload_takes_up_what_runs_and_the_keyboard_keeps_its_place(page):
    one = page()
    start_slowly(one)
    assert one.evaluate("document.activeElement.id") == "main"
    one.reload()
    one.wait_for_selector(".job[data-state=running]")
    one.click(".job button")
    one.wait_for_selector(".job[data-state=cancelled]")


def test_a_server_that_is_gone_is_told_of(visit):
    with started() as (process, address):
        one = visit(address, expect=["Failed to load resource"])
        one.wait_for_selector("#ready", state="attached")
        start_slowly(one)
        process.terminate()
        process.wait()
        one.wait_for_selector("#message :text('The connection to the server was lost')")
        one.click(".job button")
        one.wait_for_selector("#message :text('The server does not answer')")
        assert one.is_enabled(".job button")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "empty.csv is empty."),
        ("ragged.csv", b"a,b\n0,1\n1,0,1\n", "Line 3 of ragged.csv has 3 values, the first line 2"),
        ("photo.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "photo.csv is not a table"),
        ("wrong.parquet", b"a,b\n0,1\n1,0\n", "wrong.parquet is named like a Parquet file, but it is none."),
        ("large.csv", b"a,b\n" + b"0,1\n" * 1_000_000, "large.csv is larger than 3.0 MB"),
    ],
)
def test_a_bad_file_is_refused_in_words_and_the_page_goes_on(page, shoot, name, content, said):
    one = page(expect=("status of 4",))  # the browser notes every answer that refuses something
    send(one, content, name)
    one.wait_for_selector("#message .bad")
    assert said in one.inner_text("#message")
    assert one.is_disabled("#learn")
    shoot(one, f"page-bad-{name.split('.')[0]}", whole=False)
    send(one, small_table(), "good.csv")
    one.wait_for_selector("#offer")
    assert one.inner_text("#message") == ""
    assert one.is_enabled("#learn")


def test_guides_are_compared_and_the_collapse_is_told(page, shoot, expect):
    one = page()
    choose(one, "clinic")  # whose columns have states of their own, and no kernel is known
    choose(one, "collapse")
    assert one.inner_text("#learn") == "Learn with 2 guides and compare"
    learn(one)
    assert one.locator(".side-by-side").count() == 2
    said = one.inner_text("#result")
    assert "Both agree on 8 edges; 8 edges more are found by some only." in said
    assert "With plain mutual information the heads collapsed" in said
    for player in one.locator(".kgmi-epoch").all():
        expect(player).to_have_text(AT_THE_END, timeout=20_000)
    assert "all of them show the same map" in one.inner_text("[data-guide=plain]")
    assert "show the same map" not in one.inner_text("[data-guide=stationary]")
    shoot(one, "page-compare")
    one.click("[data-guide=plain] >> text=Show this one in full")
    assert "Trust it little" in one.inner_text("#result")
    assert "heads collapsed" in one.inner_text("#result .warn >> nth=0")
    one.click("#history button")
    one.wait_for_selector(".side-by-side")


def test_two_tabs_do_not_disturb_each_other(page):
    one, other = page(), page()
    choose(one, "paper")
    choose(other, "pedigree")
    one.click("#learn")
    other.click("#learn")
    for tab, rows in ((one, 10), (other, 40)):
        tab.wait_for_selector("#result:not([hidden]) .card", timeout=LONG)
        assert tab.locator("#result table tbody tr").count() == rows
        assert tab.locator("#history li").count() == 1
    one.reload()  # the run is still there, and only that of this tab
    one.wait_for_selector("#ready", state="attached")
    assert one.locator("#history li").count() == 1
    one.click("#history button")
    one.wait_for_selector("#result:not([hidden]) .card", timeout=LONG)
    assert one.locator("#result table tbody tr").count() == 10


@pytest.mark.parametrize(("width", "dark"), [(390, False), (360, True)])
def test_a_narrow_screen_has_room_for_everything(page, shoot, width, dark):
    one = page(width=width, height=800, dark=dark, touch=True)
    assert fits(one)
    choose(one, "pedigree")
    assert fits(one)
    learn(one)
    assert fits(one)
    shoot(one, f"page-narrow-{width}")


def test_dark_and_wide(page, shoot):
    one = page(dark=True)
    choose(one, "clinic")
    # What cannot be used says why.
    assert "No kernel is known" in one.inner_text("#guides")
    assert one.is_disabled("input[value=stationary]")
    learn(one)
    assert "Trust it " in one.inner_text("#result")
    shoot(one, "page-dark")


def test_everything_can_be_downloaded_and_the_report_opens_apart(page, tmp_path, shoot):
    one = page(calm=True)
    choose(one, "weather")
    learn(one)
    one.click("text=Save graph as")
    saved = {}
    for name in ("JSON", "CSV (edges)", "GraphML", "DOT (Graphviz)", "BIF (Bayesian network)", "DAGitty"):
        with one.expect_download() as download:
            one.click(f".menu a >> text='{name}'")
        saved[name] = download.value
        download.value.save_as(tmp_path / name.split()[0])
        assert (
            "lag 3" in (tmp_path / name.split()[0]).read_text()
            or "lag_3" in (tmp_path / name.split()[0]).read_text()
        )
    assert saved["BIF (Bayesian network)"].suggested_filename == "lags-in-a-sequence.bif"
    with one.expect_download() as download:
        one.click("text=Save record")
    download.value.save_as(tmp_path / "record.zip")
    assert "record.json" in zipfile.ZipFile(tmp_path / "record.zip").namelist()
    with one.context.expect_page() as opened:
        one.click("text=Open report")
    report = opened.value
    report.wait_for_selector("svg")
    assert report.evaluate("window.origin") == "null"  # in a sandbox: its script cannot reach the server
    shoot(report, "page-report", whole=False)


def test_the_list_of_addresses_works_without_the_network(server, visit, shoot):
    one = visit(server + "api")
    one.wait_for_selector("details")
    assert one.locator("details").count() >= 14
    one.locator("summary", has_text="/api/jobs").first.click()
    assert "The most parents of a node" in one.inner_text("main")
    shoot(one, "page-addresses")
