# SPDX-License-Identifier: MIT
"""mprof as a Python package: the program itself, which `mprof` or `python -m mprof` runs."""
