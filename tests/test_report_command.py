"""``kgmi report``, and the report that ``kgmi learn --out`` writes."""

import json

from kgmi import save

from .commands import expect_refused, run_kgmi
from .report_drills import Page, paper_result


def test_learn_writes_one_and_says_so(tmp_path):
    out = tmp_path / "result"
    code, text, _ = run_kgmi("learn", "--example", "paper", "--out", str(out))
    assert code == 0
    assert f"open {out / 'report.html'}" in " ".join(text.split())
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    commands = [found for _, found in page.all("code")]
    assert commands[0] == f"kgmi learn --example paper --out {out}"


def test_the_name_of_the_file_is_the_title(tmp_path):
    path = tmp_path / "cows.csv"
    path.write_text("a,b\n" + "0,0\n1,1\n" * 40)
    assert run_kgmi("learn", str(path), "--out", str(tmp_path))[0] == 0
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.all("h1")[0][1] == "cows.csv"


def test_report_of_a_saved_result(tmp_path):
    save(paper_result(), tmp_path)
    code, text, error = run_kgmi("report", str(tmp_path), "--title", "Herd 7")
    assert (code, error) == (0, "")
    assert text.startswith(f"wrote {tmp_path / 'report.html'} (")
    assert Page((tmp_path / "report.html").read_text(encoding="utf-8")).all("h1")[0][1] == "Herd 7"
    other = tmp_path / "other.html"
    code, text, _ = run_kgmi("report", str(tmp_path / "record.json"), "--out", str(other), "--json")
    assert json.loads(text) == {"file": str(other), "bytes": other.stat().st_size}


def test_bad_use_is_refused(tmp_path):
    expect_refused(1, "report", str(tmp_path), says=["there is no record", str(tmp_path)])
    save(paper_result(), tmp_path)
    expect_refused(2, "report", str(tmp_path), "--out", str(tmp_path), says=["is a folder"])
