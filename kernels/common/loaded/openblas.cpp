// SPDX-License-Identifier: MIT
// libmprof_openblas.so: the part of OpenBLAS that variants call. OpenBLAS starts threads and takes memory for
// each CPU as soon as it is loaded, so it is loaded only in a process that multiplies with it.
#include "kernels/common/loaded/openblas.h"

#include <cblas.h>

extern "C" {

void mprof_openblas_use_one_thread() {
  openblas_set_num_threads(1);
}

const char* mprof_openblas_config() {
  return openblas_get_config();
}

const char* mprof_openblas_core_type() {
  return openblas_get_corename();
}

void mprof_openblas_sgemm(int m, int n, int k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
}
}
