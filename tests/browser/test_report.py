"""report.html in a real browser, opened from the file system."""

import re
from itertools import combinations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.report import write_report
from tests.report_drills import HOSTILE, KINDS, hostile_result, paper_result, wide_result

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(visit, tmp_path):
    """A function that writes the report of a result and opens it."""

    def go(learned, **options):
        path = write_report(learned, tmp_path / "report.html")
        return visit(path.as_uri(), **options)

    return go


def node(page, name):
    return page.get_by_role("button", name=re.compile(rf"^{re.escape(name)}, "))


def until(page, check):
    """Wait until something holds; the page's own policy forbids Playwright's way of waiting for an expression."""
    for _ in range(200):
        if check():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen within ten seconds")


def chosen(page):
    """The name in the panel, or None."""
    title = page.locator(".kgmi-panel .kgmi-title strong")
    return title.inner_text() if title.count() else None


def pedigree():
    rng = np.random.default_rng(109)
    parents = [()] * 10 + [tuple(sorted(rng.choice(k, 2, replace=False).tolist())) for k in range(10, 40)]
    process = Process(Dag(parents), Kernel.mendelian())
    return learn(sample(process, 3_000, rng=rng), n_parents=2, names=[f"animal {k + 1}" for k in range(40)])


def test_it_opens_from_a_file_and_asks_for_nothing_else(opened, shoot):
    page = opened(paper_result())
    assert page.title().endswith("· kgmi")
    assert page.locator(".kgmi-node").count() == 10
    assert page.locator(".kgmi-edge").count() == 16
    assert page.locator(".still").count() == 0  # the picture made way for the graph that can be used
    assert page.locator(".kgmi-heat canvas").count() == 2
    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []
    shoot(page, "report-10-nodes")


def test_a_click_shows_the_candidates_of_a_node(opened, shoot):
    page = opened(paper_result())
    assert chosen(page) is None
    node(page, "X4").click()
    assert chosen(page) == "X4"
    panel = page.locator(".kgmi-panel")
    captions = panel.locator("caption").all_inner_texts()
    assert [caption.split(" by ")[0] for caption in captions] == [
        "Head 1: prefers X1 to X2",
        "Head 2: prefers X3 to X2",
    ]
    assert panel.locator("tr.kgmi-is-parent").count() == 2
    assert "parents X1, X3; children X5, X7" in page.locator(".kgmi-graph [aria-live]").inner_text()
    assert node(page, "X4").get_attribute("aria-pressed") == "true"
    shoot(page, "report-chosen-node")
    panel.get_by_role("button", name="X7").first.click()  # a name in the panel leads on
    assert chosen(page) == "X7"
    assert page.evaluate("document.activeElement.dataset.node") == "6"
    page.locator(".kgmi-picture").click(position={"x": 5, "y": 5})  # beside all nodes
    assert chosen(page) is None


def test_keys_walk_along_the_graph(opened):
    page = opened(paper_result())
    node(page, "X1").focus()
    for key, where in (
        ("ArrowRight", 1),
        ("ArrowDown", 2),  # the first child of X2 is X3
        ("ArrowUp", 0),  # the first parent of X3 is X1
        ("ArrowLeft", 0),
        ("End", 9),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.node") == str(where), key
    assert page.locator(".kgmi-node[tabindex='0']").count() == 1  # one tab stop for the whole graph
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert chosen(page) == "X10"
    assert page.evaluate("document.activeElement.dataset.node") == "9"  # choosing keeps the focus
    page.keyboard.press("Escape")
    assert chosen(page) is None


def test_zoom_by_keys_buttons_wheel_and_drag(opened):
    page = opened(paper_result())

    def place():
        return node(page, "X4").get_attribute("transform")

    until(page, place)
    home = place()

    def changes(work):
        before = place()
        work()
        until(page, lambda: place() != before)

    node(page, "X9").focus()
    changes(lambda: page.keyboard.press("+"))
    changes(lambda: page.keyboard.press("-"))
    assert place() == home
    changes(lambda: page.get_by_role("button", name="Larger").click())
    changes(lambda: page.get_by_role("button", name="Fit the whole graph").click())
    assert place() == home
    box = page.locator(".kgmi-picture").bounding_box()
    x, y = box["x"] + 40, box["y"] + box["height"] - 40
    scrolled = page.evaluate("scrollY")
    page.mouse.move(x, y)
    page.mouse.wheel(0, 200)  # nobody has clicked into the graph: the page scrolls
    until(page, lambda: page.evaluate("scrollY") > scrolled)
    assert place() == home
    node(page, "X9").focus()
    page.locator(".kgmi-tools").scroll_into_view_if_needed()
    box = page.locator(".kgmi-picture").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 30)
    changes(lambda: page.mouse.wheel(0, -200))

    def drag():
        page.mouse.down()
        page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
        page.mouse.up()

    changes(drag)
    assert chosen(page) is None  # a drag is no click
    node(page, "X9").focus()
    changes(lambda: page.keyboard.press("0"))
    assert place() == home


def test_the_slider_plays_from_uniform_to_concentrated(opened, shoot):
    page = opened(paper_result(), expect=["willReadFrequently"])  # the test reads pixels back
    slider = page.get_by_role("slider", name="Epoch")
    last = slider.get_attribute("max")
    epochs = paper_result().trace.epochs
    assert slider.input_value() == last
    assert slider.get_attribute("aria-valuetext") == f"epoch {epochs[-1]} of {epochs[-1]}"

    def dark():  # pixels in the right half of the first head's map
        return page.evaluate(
            """() => { const c = document.querySelector('.kgmi-heat canvas');
            const [w, h] = [c.width, c.height];
            const d = c.getContext('2d').getImageData(w * 0.55, h * 0.1, w * 0.4, h * 0.5).data;
            let found = 0;
            for (let k = 0; k < d.length; k += 4) found += d[k + 3] > 0 && d[k] + d[k + 1] + d[k + 2] < 220;
            return found; }"""
        )

    end = dark()
    assert end > 1_000
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == f"epoch 0 of {epochs[-1]}"
    assert dark() == 0  # while attention is uniform
    shoot(page, "report-uniform")
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "1"
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").click()
    assert 1 <= int(slider.input_value()) <= int(last)
    page.get_by_role("button", name="Play").click()
    until(page, lambda: slider.input_value() == last)
    assert dark() == end
    page.get_by_role("button", name="Play").wait_for()  # it stops by itself


def test_little_motion_is_respected(opened):
    page = opened(paper_result(), calm=True)
    slider = page.get_by_role("slider", name="Epoch")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Play").click()
    until(page, lambda: slider.input_value() == "1")
    assert page.locator(".kgmi-epoch").inner_text().startswith("epoch 1 of")


def test_hostile_names_are_only_names(opened, shoot):
    page = opened(hostile_result())
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main iframe, main object").count() == 0
    for number, name in enumerate(HOSTILE):
        page.locator(f"[data-node='{number}']").click()
        shown = name.replace("\u202e", "\ufffd").replace("\t", "\ufffd")
        assert chosen(page) == shown
    assert page.evaluate("window.hit") is None
    shoot(page, "report-hostile-names")


def test_without_a_script_it_is_a_document(opened, shoot):
    page = opened(paper_result(), script=False)
    assert page.locator("svg.still").is_visible()
    assert page.get_by_role("table", name="Parents of the 10 nodes").is_visible()
    assert page.get_by_role("table", name="Best candidates of every head").is_visible()
    shoot(page, "report-without-script")


def test_a_pedigree_can_be_searched(opened, shoot):
    page = opened(pedigree())
    box = page.get_by_role("combobox", name="Find a node")
    box.fill("animal 33")
    box.press("Enter")
    assert chosen(page) == "animal 33"
    box.fill("nobody")
    box.press("Enter")
    assert box.evaluate("box => box.validationMessage") == "There is no such node."
    shoot(page, "report-pedigree")
    page.get_by_role("button", name="Arcs").click()
    assert page.get_by_role("button", name="Arcs").get_attribute("aria-pressed") == "true"
    shoot(page, "report-pedigree-arcs")


def test_500_nodes(opened, shoot):
    page = opened(wide_result())
    assert page.locator(".kgmi-node").count() == 500
    assert page.locator(".kgmi-line[d]").count() < 30  # bundled
    assert "4 × 4 pairs" in page.locator(".kgmi-player").inner_text()
    box = page.get_by_role("combobox", name="Find a node")
    box.fill("X250")
    box.press("Enter")
    assert chosen(page) == "X250"
    shoot(page, "report-500-nodes")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screens_do_not_scroll_sideways(opened, shoot, width):
    page = opened(paper_result(), width=width, touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    node(page, "X4").tap()
    assert chosen(page) == "X4"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shoot(page, f"report-{width}-pixels")


def test_dark(opened, shoot):
    page = opened(paper_result(), dark=True)
    tones = page.evaluate("getComputedStyle(document.body).backgroundColor").strip("rgb()").split(", ")
    assert max(map(int, tones)) < 60
    shoot(page, "report-dark")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result_can_be_used(opened, kind):
    """No complaint from the page (the fixture sees to that), whatever there is or is not to show."""
    page = opened(KINDS[kind]())
    n_nodes = page.locator(".kgmi-node").count()
    page.locator(f"[data-node='{n_nodes - 1}']").focus()
    page.keyboard.press("Enter")
    assert chosen(page) is not None
    page.get_by_role("button", name="Arcs").click()
    if page.get_by_role("slider").count():
        page.get_by_role("slider").fill("0")
        assert re.search("epoch 0 of|uniform", page.locator(".kgmi-epoch").inner_text())


def test_print(opened, tmp_path):
    """The PDF has the whole graph, whatever was chosen and enlarged before, and no controls."""
    page = opened(paper_result())
    node(page, "X9").click()
    page.keyboard.press("+")
    page.emulate_media(media="print")
    assert not page.locator(".kgmi-tools").is_visible()
    assert not page.locator(".kgmi-panel").is_visible()
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    (tmp_path / "report.pdf").write_bytes(pdf)
    n_pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 3 <= n_pages <= 12


def test_paper_has_all_names_and_whole_words(opened):
    """Nobody can point at a dot on paper: all nodes have names, none covers another, and no word is broken."""
    process = Process(Dag.random(31, 2, rng=np.random.default_rng(141)), Kernel.paper())
    names = [f"{kind} compactness {number}" for number in range(16) for kind in ("mean", "worst")][:31]
    rows = sample(process, 1_000, rng=np.random.default_rng(142))
    page = opened(learn(rows, n_parents=2, names=names))
    shown = "[...document.querySelectorAll('.kgmi-node text[visibility=visible]')]"
    before = page.evaluate(f"{shown}.length")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(f"{shown}.length") == 31 > before
    boxes = page.evaluate(
        f"{shown}.map(one => one.parentNode.querySelector('rect').getBoundingClientRect())"
        ".map(box => [box.left, box.top, box.right, box.bottom])"
    )
    for one, other in combinations(boxes, 2):
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(f"{shown}.length") == before
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 660, "height": 900})
    broken = page.evaluate(
        """() => [...document.querySelectorAll('#candidates tbody th')].filter(cell => {
        const range = document.createRange(), text = cell.firstChild, start = text.data.indexOf('compactness');
        range.setStart(text, start); range.setEnd(text, start + 11);
        return range.getClientRects().length > 1; }).length"""
    )
    assert broken == 0
    assert page.locator("#candidates tbody th").count() > 20


def test_two_views_on_one_page_do_not_meet(opened):
    page = opened(paper_result())
    page.evaluate(
        """() => { const view = JSON.parse(document.getElementById('view').textContent);
        const place = document.createElement('div'); place.id = 'second'; document.body.append(place);
        window.second = kgmiView.show(place, view, { graph: { selected: 3 } }); }"""
    )
    assert page.locator("#second .kgmi-title strong").inner_text() == "X4"
    assert page.locator("#graph-here .kgmi-title").count() == 0
    identities = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(identities) == len(set(identities))
    page.evaluate("window.second.destroy()")
    assert page.locator("#second *").count() == 0
