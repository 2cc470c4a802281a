// SPDX-License-Identifier: MIT
#include "cpu-new-forward.h"

#define B_STRIDE (M * out_h * out_w)

void conv_forward_cpu(float* y, const float* x, const float* k, const int B, const int M, const int C,
                      const int H, const int W, const int K, const int S) {
  const int out_h = (H - K) / S + 1;
  const int out_w = (W - K) / S + 1;
  for (int b = 0; b < B; ++b)
    for (int m = 0; m < M; ++m)
      for (int h = 0; h < out_h; ++h)
        for (int w = 0; w < out_w; ++w) {
          float sum = 0;
          for (int c = 0; c < C; ++c)
            for (int p = 0; p < K; ++p)
              for (int q = 0; q < K; ++q)
                sum += x[((b * C + c) * H + h * S + p) * W + w * S + q] * k[((m * C + c) * K + p) * K + q];
          y[b * B_STRIDE + (m * out_h + h) * out_w + w] = sum;
        }
}
