#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command and prints what it cost as JSON: `measured.py COMMAND...`; as `measured.py --group-by FILE` what two plain
queries of an export of Nsight Systems cost. { code, cpu: s, wall: s, memory: bytes }, and the command's own words as err."""
import json
import resource
import sqlite3
import subprocess
import sys
import time

QUERIES = ("SELECT demangledName, count(*), sum(end - start), min(end - start), max(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
           "GROUP BY 1",
           "SELECT nameId, count(*), sum(end - start), min(end - start), max(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
           "GROUP BY 1")

if len(sys.argv) < 2:
    sys.exit(__doc__)
start, who, code, err = time.monotonic(), resource.RUSAGE_CHILDREN, 0, ""
if sys.argv[1] == "--group-by":
    who = resource.RUSAGE_SELF
    database = sqlite3.connect(sys.argv[2])
    for query in QUERIES:
        database.execute(query).fetchall()
else:
    done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    code, err = done.returncode, done.stderr
usage = resource.getrusage(who)
print(json.dumps({"code": code, "cpu": usage.ru_utime + usage.ru_stime, "wall": time.monotonic() - start,
                  "memory": usage.ru_maxrss * 1024, "err": err}))
