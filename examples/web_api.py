"""The page of kgmi serve without the page: start the server, send a table, learn, follow the job, get the graph."""

import json
import os
import subprocess
import sys
from urllib.request import Request, urlopen

import numpy as np

import kgmi

# A table as a file would hold it: 400 families, the genotype of both parents and of their child.
rng = np.random.default_rng(11)
family = kgmi.Process(kgmi.Dag([(), (), (0, 1)], root_blocks=[[0], [1]]), kgmi.Kernel.mendelian())
rows = kgmi.sample(family, 400, rng=rng)
table = "mother,father,child\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def ask(path, body=None, kind="application/json"):
    """The server's answer to a question; with a body, to a request."""
    headers = {} if body is None else {"content-type": kind}
    with urlopen(Request(address + path, data=body, headers=headers), timeout=60) as answer:
        return answer.read().decode()


# Port 0 takes any that is free; the first line says which.
command = [sys.executable, "-m", "kgmi", "serve", "--port", "0", "--no-open"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
try:
    address = server.stdout.readline().split()[-1].rstrip("/")
    print("The server listens on this machine only.")

    sent = json.loads(ask("/api/tables?name=families.csv", table.encode(), "application/octet-stream"))
    print(f"It has {sent['n_rows']} rows of {', '.join(sent['names'])}.")

    job = json.loads(ask("/api/jobs", json.dumps({"table": sent["id"], "parents": 2}).encode()))
    phases = []
    for line in ask(f"/api/events?job={job['id']}").splitlines():  # the stream ends when the job is over
        if line.startswith("data: "):
            job = json.loads(line.removeprefix("data: "))
            phases.append(job["state"])
    print("The job was", ", then ".join(dict.fromkeys(phases)) + ".")

    found = json.loads(ask(f"/api/jobs/{job['id']}/result"))
    print("Edges:", ", ".join(f"{parent} → {child}" for parent, child in found["edges"]))
    print(found["view"]["trust"]["sentence"])
finally:
    server.terminate()
    server.communicate(timeout=30)
