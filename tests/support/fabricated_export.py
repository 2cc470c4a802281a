#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes an export of Nsight Systems with any number of kernels: `fabricated_export.py FILE KERNELS [LAYER]`.

A call launches each kernel; there is a copy for each hundredth kernel and an NVTX range for each thousandth. 40 kernels
have 160 launch configurations on four streams. The same number of kernels makes the same rows, but that those of kernel LAYER
(0 to 39) take half as long.
"""
import sqlite3
import sys

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
  gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
"""

# :i counts kernels from 0; each has 10 us. :g is the process, :t its thread; ids 1 to 9 are names of calls.
COUNT = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count) "
ROWS = (
    # Durations differ, so that a median is no value of all rows: 2 to 6 us, by two multiplications without a pattern.
    COUNT + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10000 + 4000, i * 10000 + 6000 + i * 7919 % 4001, 0, 1, NULL, "
    "7 + i / 40 % 4, i + 1, :g, 10 + i % 40, 50 + i % 40, 90 + i % 40, 2, 0, 32 + i % 40, 100 + i / 40 % 4, 1, 1, 256, 1, 1, "
    "0, 1024 * (i % 40), 0, 150000000, i + 61, 65536, NULL, 0 FROM n",
    COUNT + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 10000, i * 10000 + 2000 + i * 104729 % 1009, 0, :t, i + 1, 1, 0, "
    "NULL FROM n",
    COUNT + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 1000000 + 3000, i * 1000000 + 3900, 0, :t, :launches + i + 1, 2, "
    "0, NULL FROM n",
    COUNT + "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT i * 1000000 + 3500, i * 1000000 + 3900 + i % 50, 0, 1, 7, "
    ":launches + i + 1, :g, 4096 + i % 7, 1 + i % 2, 1, 2 FROM n",
    COUNT + "INSERT INTO NVTX_EVENTS SELECT i * 10000000, i * 10000000 + 9990000, 59, 'step ' || (i % 10), :t, NULL, NULL, 0 FROM n",
)


def fabricate(path, kernels, faster=None):
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + SCHEMA)
    names = [(1, "cudaLaunchKernel_v7000"), (2, "cudaMemcpyAsync_v3020")]
    for k in range(40):
        names += [(10 + k, f"void layer{k}<float, {k}>(float const*, float*, int)"), (50 + k, f"layer{k}"),
                  (90 + k, f"_Z{len(f'layer{k}')}layer{k}IfLi{k}EEvPKfPfi")]
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", names)
    process = 4242 << 24
    copies, ranges = max(kernels // 100, 1), max(kernels // 1000, 1)
    for rows, count in zip(ROWS, (kernels, kernels, copies, copies, ranges)):
        known = {"count": count, "g": process, "t": process + 4243, "launches": kernels}
        database.execute(rows, {name: value for name, value in known.items() if ":" + name in rows})
    if faster is not None:
        database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + (end - start) / 2 WHERE shortName = ?", (50 + faster,))
    database.commit()
    database.close()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    fabricate(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:]))
