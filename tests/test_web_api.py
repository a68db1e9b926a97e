"""The server of kgmi serve: tables, jobs, results, and who may talk to it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import kgmi
from tests.web_drills import serving, small_table


@pytest.fixture(scope="module")
def server():
    with serving(upload_bytes=200_000) as client:
        yield client


@pytest.fixture(scope="module")
def done(server):
    """A job on a table that was sent, and its description."""
    status, table = server.send(small_table(), "my table.csv")
    assert status == 201, table
    return server.wait(server.start(table["id"], tab="one"))


def test_a_table_is_described_before_it_is_learned_from(server):
    lines = [
        "id,size,colour",
        *(f"row{n},{n * 37 % 101 / 7:.3f},{('red', 'blue')[n % 3 == 0]}" for n in range(300)),
    ]
    status, table = server.send("\n".join(lines).encode(), "shapes.csv")
    assert status == 201
    assert (table["name"], table["n_rows"], table["n_columns"]) == ("shapes.csv", 300, 3)
    assert table["names"] == ["id", "size", "colour"]
    assert table["rows"][0] == ["row0", "0.000", "blue"]
    assert "'id'" in table["as_it_is"]["failure"]["error"]  # as it is, it has an identifier
    assert [column["name"] for column in table["prepared"]["columns"]] == ["size", "colour"]
    assert any("id is left out" in note for note in table["prepared"]["notes"])
    assert server.ask("GET", f"/api/tables/{table['id']}") == (200, table)
    assert server.ask("DELETE", f"/api/tables/{table['id']}")[0] == 200
    assert server.ask("GET", f"/api/tables/{table['id']}")[0] == 404


def test_all_kinds_of_files_are_known_by_their_content(server):
    columns = {"a": [0, 1] * 40, "b": [1, 1, 0, 0] * 20}
    arrow = pa.table(columns)
    files = {}
    for kind, write in (("parquet", parquet.write_table), ("feather", feather.write_feather)):
        sink = io.BytesIO()
        write(arrow, sink)
        files[f"t.{kind}"] = sink.getvalue()
    sink = io.BytesIO()
    np.save(sink, np.stack(list(columns.values()), axis=1))
    files["t.npy"] = sink.getvalue()
    text = "a,b\n" + "".join(f"{a},{b}\n" for a, b in zip(*columns.values(), strict=True))
    files |= {"no ending": text.encode(), "t.tsv": text.replace(",", "\t").encode()}
    files["t.csv.gz"] = gzip.compress(text.encode())
    for name, content in files.items():
        status, table = server.send(content, name)
        assert status == 201, table
        assert (table["n_rows"], table["n_columns"]) == (80, 2)
        assert table["rows"][:3] == [["0", "1"], ["1", "1"], ["0", "0"]]


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        ("empty.csv", b"", 422, "empty.csv is empty"),
        ("header.csv", b"a,b\n", 422, "header.csv"),
        ("ragged.csv", b"a,b\n0,1\n1,0\n0,1,1\n", 422, "Line 4 of ragged.csv"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 415, "picture.csv is not a table"),
        ("book.xlsx", b"PK\x03\x04 xl/workbook.xml", 415, "spreadsheet"),
        ("table.parquet", b"a,b\n0,1\n1,0\n", 415, "named like a Parquet file"),
        ("broken.parquet", b"PAR1" + bytes(200) + b"PAR1", 422, "broken.parquet"),
        ("broken.csv.gz", gzip.compress(b"a,b\n0,1\n")[:-6], 422, "broken.csv.gz"),
        ("large.csv", b"a,b\n" + b"0,1\n" * 60_000, 413, "larger than 200 kB"),
        ("huge.csv", b"a,b\n" + b"0,1\n" * 300_000, 413, "larger than 200 kB"),
    ],
)
def test_a_bad_file_is_refused_in_words_and_leaves_nothing(server, name, content, status, said):
    before = sorted(server.hub.folder.iterdir())
    found, answer = server.send(content, name)
    assert (found, set(answer)) == (status, {"error", "advice"})
    assert said in answer["error"]
    assert str(server.hub.folder) not in json.dumps(answer)
    assert sorted(server.hub.folder.iterdir()) == before


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\up.csv", "/tmp/x.csv", "a\0b.csv", "<img src=x>.csv", "", "."]
)
def test_the_name_of_a_file_is_shown_and_never_a_path(server, name):
    status, table = server.send(small_table(), name)
    assert status == 201
    assert "/" not in table["name"]
    assert "\\" not in table["name"]
    folder = server.hub.folder / table["id"]
    assert [path.name for path in folder.iterdir()] == ["table.csv"]  # under our own name, in our own folder
    assert server.ask("DELETE", f"/api/tables/{table['id']}")[0] == 200
    assert not folder.exists()


def test_a_job_learns_and_all_of_its_files_can_be_had(server, done):
    assert done["state"] == "done", done
    base = f"/api/jobs/{done['id']}"
    result = server.ask("GET", f"{base}/result")[1]
    assert sorted(map(tuple, result["edges"])) == [("one", "child"), ("two", "child")]
    assert result["view"]["trust"]["sentence"]
    assert result["exports"] == dict.fromkeys(("graphml", "dot", "json", "bif", "dagitty", "csv"), "")
    for kind in result["exports"]:
        status, content, headers = server.raw("GET", f"{base}/graph/{kind}")
        assert status == 200
        assert b"child" in content
        assert headers["content-disposition"].startswith('attachment; filename="my-table.')
    assert server.ask("GET", f"{base}/graph/png")[0] == 422
    _, content, headers = server.raw("GET", f"{base}/report")
    assert content.startswith(b"<!doctype html>")
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")  # it cannot reach the server
    assert "allow-same-origin" not in headers["content-security-policy"]
    headers = server.raw("GET", f"{base}/record")[2]
    assert headers["content-disposition"] == 'attachment; filename="my-table-record.zip"'


def test_the_record_is_what_was_learned(server, done, tmp_path):
    with zipfile.ZipFile(io.BytesIO(server.raw("GET", f"/api/jobs/{done['id']}/record")[1])) as packed:
        packed.extractall(tmp_path)
    learned = kgmi.load(tmp_path)
    assert learned.parents["child"] == ("one", "two")
    assert learned.configuration["n_rows"] == 300


def test_jobs_are_listed_to_their_own_tab_only(server, done):
    assert [job["id"] for job in server.ask("GET", "/api/jobs?tab=one")[1]["jobs"]] == [done["id"]]
    assert server.ask("GET", "/api/jobs?tab=two") == (200, {"jobs": []})
    assert server.ask("GET", "/api/jobs")[0] == 422  # nobody sees those of all


def test_columns_can_be_left_out_and_unknown_ones_are_an_error(server):
    table = server.send(small_table(), "t.csv")[1]
    job = server.wait(server.start(table["id"], leave_out=["two"]))
    result = server.ask("GET", f"/api/jobs/{job['id']}/result")[1]
    assert result["view"]["names"] == ["one", "child"]
    assert result["notes"] == ["two left out, as asked."]
    job = server.wait(server.start(table["id"], leave_out=["three"]))
    assert job["failure"]["error"] == "three: the table has no such column to leave out"


def test_guides_are_compared_in_words_and_the_collapse_is_told(server):
    jobs = [server.start("collapse", guide=guide) for guide in ("plain", "stationary")]
    ids = [server.wait(job)["id"] for job in jobs]
    status, found = server.ask("GET", f"/api/compare?job={ids[0]}&job={ids[1]}")
    assert status == 200
    assert len(found["both"]) == 8
    assert found["only"][ids[0]] == []
    assert len(found["only"][ids[1]]) == 8
    told = " ".join(found["sentences"])
    assert "Both agree on 8 edges; 8 edges more are found by some only." in told
    assert "With plain mutual information the heads collapsed: both heads have exactly the same attention" in told
    results = [server.ask("GET", f"/api/jobs/{key}/result")[1] for key in ids]
    assert [result["collapsed"] for result in results] == [True, False]
    assert results[1]["truth"] == "16 of the 16 edges of the true graph were found, and none besides."
    assert server.ask("GET", f"/api/compare?job={ids[0]}&job={ids[0]}")[0] == 422
    assert server.ask("GET", f"/api/compare?job={ids[0]}")[0] == 422


@pytest.mark.parametrize(
    ("fit", "status", "said"),
    [
        ({"table": "nothing"}, 404, "There is no such table here."),
        ({"table": "../paper"}, 404, "There is no such table here."),
        ({"table": "paper", "parents": 0}, 422, "parents:"),
        ({"table": "paper", "guide": "magic"}, 422, "guide:"),
        ({"table": "paper", "shell": "rm"}, 422, "shell:"),
        ({"table": "paper", "tab": "../x"}, 422, "tab:"),
        ({}, 422, "table:"),
    ],
)
def test_a_bad_request_is_answered_in_words(server, fit, status, said):
    found, answer = server.ask("POST", "/api/jobs", fit)
    assert found == status
    assert answer["error"].startswith(said)
    assert answer["advice"]


def test_what_only_learning_can_refuse_is_a_failed_job_with_a_sentence(server):
    table = server.send(small_table(), "mine.csv")[1]
    job = server.wait(server.start(table["id"], guide="stationary"))
    assert job["state"] == "failed"
    assert "needs to be told the kernel" in job["failure"]["error"]
    status, answer = server.ask("GET", f"/api/jobs/{job['id']}/result")
    assert (status, answer["error"]) == (409, "The job has failed, so that there is no result.")
    job = server.wait(server.start("paper", divergence="magic", guide="plain"))
    assert "there is no divergence 'magic'" in job["failure"]["error"].lower()


def test_examples_are_offered_and_described(server):
    examples = server.ask("GET", "/api/examples")[1]
    assert [one["key"] for one in examples] == ["paper", "collapse", "pedigree", "weather", "shuffled", "clinic"]
    table = server.ask("GET", "/api/tables/weather")[1]
    assert (table["names"], table["suggested"]["windows"]) == (["weather"], 6)
    job = server.wait(server.start("weather", **{"windows": 6, "parents": 3, "prepare": False}))
    result = server.ask("GET", f"/api/jobs/{job['id']}/result")[1]
    assert result["truth"].startswith("2 of the 2 edges of the true graph were found")
    assert server.ask("DELETE", "/api/tables/weather")[0] == 409
