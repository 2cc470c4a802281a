#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a result directory with any number of cases: `fabricated_cases.py RESULTS DIR CASES`.

RESULTS holds recorded runs, as results/ of this project does. Twenty variants sweep a parameter at ten batches. Each case has
what a case of RESULTS/sweep has, with times of its own. The same number of cases makes the same files.
"""
import copy
import json
import os
import sys

VARIANTS, BATCHES = 20, [100 * (i + 1) for i in range(10)]
RECORDED = "conv/coarsened@1000"


def file_of(folder, case):
    return os.path.join(folder, "cases", case.replace("/", ".") + ".json")


def read(path):
    with open(path, encoding="utf8") as file:
        return json.load(file)


def write(path, document):
    with open(path, "w", encoding="utf8") as file:
        json.dump(document, file)


def scaled(passes, factor):
    """Times grow by the factor, and no two cases have the same noise."""
    passes = copy.deepcopy(passes)
    for measurement in (row for one in passes for row in one["measurements"]):
        if measurement["metric"].endswith("_time") and "samples" in measurement:
            measurement["samples"] = [s * factor * (1 + i * 7919 % 31 * factor % 1 / 1000)
                                      for i, s in enumerate(measurement["samples"])]
    return passes


def fabricate(recorded, folder, cases):
    os.makedirs(os.path.join(folder, "cases"))
    run, like = read(os.path.join(recorded, "run.json")), read(file_of(recorded, RECORDED))
    points = -(-cases // (VARIANTS * len(BATCHES)))
    values = [str(point) for point in range(points)]
    info = next(one for one in run["variants"] if one["id"] == like["variant"])
    info = {key: info[key] for key in ("family", "title", "idea", "device")}
    info["parameters"] = [{"name": "point", "meaning": "which one it is", "default": "0", "values": values}]
    run["variants"] = [{**info, "id": f"conv/v{v:02}", "title": f"Variant {v}", **({"baseline": "conv/v00"} if v > 0 else {})}
                       for v in range(VARIANTS)]
    problem = run["families"][0]["problems"][0]
    run["families"][0]["problems"] = [{**problem, "problem": {"batch": batch}} for batch in BATCHES]
    run["plan"].update(variants=[one["id"] for one in run["variants"]], problems={"conv": [{"batch": b} for b in BATCHES]},
                       settings={"point": ["*"]})
    run["cases"] = []
    for i in range(cases):
        variant, batch, point = i % VARIANTS, BATCHES[i // VARIANTS % len(BATCHES)], i // (VARIANTS * len(BATCHES))
        name = f"conv/v{variant:02}"
        case = {"id": f"{name}{f'[point={point}]' if point else ''}@{batch}", "variant": name,
                "parameters": {"point": str(point)}, "problem": {"batch": batch}}
        run["cases"].append(case)
        factor = batch / 1000 * (1 + (variant * 37 + point * 101) % 89 / 89)
        write(file_of(folder, case["id"]), {"schema_version": like["schema_version"], "run": like["run"], **case,
                                            "passes": scaled(like["passes"], factor)})
    write(os.path.join(folder, "run.json"), run)


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[3].isdigit():
        sys.exit(__doc__)
    fabricate(os.path.join(sys.argv[1], "sweep"), sys.argv[2], int(sys.argv[3]))
