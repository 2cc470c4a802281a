# SPDX-License-Identifier: MIT
"""Runs the mprof program of this package in place of Python."""
import os
import site
import sys
from pathlib import Path

program = Path(__file__).resolve().parent / "program" / "bin" / "mprof"


def cupti_folders():
    """Where wheels of NVIDIA's have CUPTI: nvidia-cuda-cupti-cu12, and of CUDA 13 nvidia-cuda-cupti."""
    roots = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    places = [Path(root) / "nvidia" / part / "lib" for root in roots if root for part in ("cuda_cupti", "cu13")]
    return [str(place.resolve()) for place in dict.fromkeys(places) if any(place.glob("libcupti.so.*"))]


def environment():
    """The environment, with CUPTI's folders last where libraries are looked for: only what is nowhere else comes from them."""
    variables = dict(os.environ)
    given = [folder for folder in variables.get("LD_LIBRARY_PATH", "").split(":") if folder]
    folders = [*given, *(folder for folder in cupti_folders() if folder not in given)]
    if folders:
        variables["LD_LIBRARY_PATH"] = ":".join(folders)  # never with an empty element, which is the current directory
    return variables


def main():
    os.execve(program, [str(program), *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
