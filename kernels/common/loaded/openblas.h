// SPDX-License-Identifier: MIT
#pragma once

/// What libmprof_openblas.so has.
#define MPROF_LOADED __attribute__((visibility("default")))

extern "C" {
/// OpenBLAS stays on the calling thread from then on, in this process.
MPROF_LOADED void mprof_openblas_use_one_thread();
MPROF_LOADED const char* mprof_openblas_config();
MPROF_LOADED const char* mprof_openblas_core_type();
/// c [m][n] = a [m][k] x b [k][n], row by row.
MPROF_LOADED void mprof_openblas_sgemm(int m, int n, int k, const float* a, const float* b, float* c);
}
