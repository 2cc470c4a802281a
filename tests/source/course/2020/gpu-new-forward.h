// SPDX-License-Identifier: MIT
#pragma once

// A sample in the shape of the 2020 edition, written for mprof's tests.
class GPUInterface {
 public:
  void get_device_properties();
  void conv_forward_gpu(float* host_y, const float* host_x, const float* host_k, const int B, const int M,
                        const int C, const int H, const int W, const int K);
};
