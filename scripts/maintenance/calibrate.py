#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether intervals and verdicts hold from one run to the next, on this machine: records the same plan several times, compares
every pair of runs, and counts. Python 3 alone.

  scripts/maintenance/calibrate.py --mprof build/release/mprof --runs 10 --out results/calibration -- --all --batch 1000 --passes timing

Runs that are in the folder already are kept, so that it can be called again. Ends with 1 when the figures are worse than what
mprof promises: of all pairs more than one in twenty called slower, or less than 90 % of the next runs within an interval.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys


def record(mprof, folder, plan):
    """One run, unless it is there; one that was interrupted goes on."""
    file = folder / "run.json"
    if file.exists() and json.loads(file.read_text())["state"] == "complete":
        return
    options = ["--resume"] if file.exists() else plan
    command = [mprof, "run", *options, "--out", str(folder), "--quiet"]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"calibrate: {' '.join(command)} failed")


def comparison(mprof, before, after):
    """Exit code and JSON of one comparison."""
    done = subprocess.run([mprof, "compare", str(before), str(after), "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"calibrate: comparing {before} and {after}: {done.stderr.strip()}")
    return done.returncode, json.loads(done.stdout)


def times_of(data):
    for case in data["cases"]:
        for time in case["times"]:
            yield case["id"], time


class Count:
    """Next runs within intervals, by kind of time."""

    def __init__(self):
        self.within, self.all, self.widths = 0, 0, []

    def add(self, interval, value):
        self.all += 1
        self.within += interval[0] <= value <= interval[1]
        self.widths.append((interval[1] - interval[0]) / (interval[1] + interval[0]))

    def line(self, name):
        width = sorted(self.widths)[len(self.widths) // 2]
        return f"  {name:<11} {self.within:>6} of {self.all:>6} = {100 * self.within / self.all:5.1f} %   median ±{100 * width:.2f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mprof", default="build/release/mprof")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("plan", nargs="+", help="options of mprof run, behind --")
    arguments = parser.parse_args()
    if arguments.runs < 2:
        parser.error(f"--runs {arguments.runs}: a pair takes two")
    folders = [arguments.out / f"run-{i + 1:02}" for i in range(arguments.runs)]
    for folder in folders:
        record(arguments.mprof, folder, arguments.plan)
        print(f"recorded {folder}", flush=True)
    counts, verdicts, failing, called = {}, {}, 0, []
    for before, after in itertools.combinations(folders, 2):
        code, data = comparison(arguments.mprof, before, after)
        failing += code
        for case, time in times_of(data):
            verdicts[time["verdict"]] = verdicts.get(time["verdict"], 0) + 1
            if time["verdict"] in ("faster", "slower"):
                called.append(f"{before.name} {after.name} {case} {time['op'] or 'total'} {100 * time['change']:+.2f} %")
            for one, other in (("a", "b"), ("b", "a")):
                if "interval" in time[one] and time[other]["median"] is not None:
                    counts.setdefault(time["metric"], Count()).add(time[one]["interval"], time[other]["median"])
    pairs = len(folders) * (len(folders) - 1) // 2
    print(f"\n{failing} of {pairs} pairs of runs exit with 1; verdicts on times: {verdicts}")
    for line in called:
        print(f"  called: {line}")
    print("next runs within the printed 95 % intervals:")
    for metric, count in counts.items():
        print(count.line(metric))
    worst = min(count.within / count.all for count in counts.values())
    return 1 if failing > pairs / 20 or worst < 0.9 else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("calibrate: interrupted; the same command goes on")
