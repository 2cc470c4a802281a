// SPDX-License-Identifier: MIT
// The program around a convolution: the two layers of a LeNet on images that it makes itself. It takes host
// times and verifies the output on the CPU. A .cu includes it and defines the three functions below. What it
// prints are the lines of the course's project (University of Illinois, ECE 408).
//  ./PROGRAM [BATCH]
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

/// A convolution without padding: `in` is batch x channels x height x width, `mask` maps x channels x kernel
/// x kernel, `out` batch x maps x out_height() x out_width().
struct Shape {
  int batch, maps, channels, height, width, kernel;
  __host__ __device__ int out_height() const { return height - kernel + 1; }
  __host__ __device__ int out_width() const { return width - kernel + 1; }
  __host__ __device__ int pixels() const { return out_height() * out_width(); }
  __host__ __device__ size_t in_item() const { return size_t(channels) * height * width; }
  __host__ __device__ size_t out_item() const { return size_t(maps) * pixels(); }
  __host__ __device__ size_t mask_size() const { return size_t(maps) * channels * kernel * kernel; }
  size_t in_bytes() const { return sizeof(float) * batch * in_item(); }
  size_t out_bytes() const { return sizeof(float) * batch * out_item(); }
  size_t mask_bytes() const { return sizeof(float) * mask_size(); }
};

/// The buffers of a layer: pinned ones of the host, and the device's, which prolog() allocates.
struct Buffers {
  const float *in, *mask;
  float* out;
  float *device_in = nullptr, *device_mask = nullptr, *device_out = nullptr;
};

// What a program defines. The time of conv_forward_gpu() is the op time; the time of all three is the layer
// time.
void conv_forward_gpu_prolog(Buffers& buffers, const Shape& shape);
void conv_forward_gpu(Buffers& buffers, const Shape& shape);
void conv_forward_gpu_epilog(Buffers& buffers, const Shape& shape);

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

// --- What programs have in common ---

inline void allocate(Buffers& buffers, const Shape& shape) {
  CHECK(cudaMalloc(&buffers.device_in, shape.in_bytes()));
  CHECK(cudaMalloc(&buffers.device_mask, shape.mask_bytes()));
  CHECK(cudaMalloc(&buffers.device_out, shape.out_bytes()));
  CHECK(cudaMemcpy(buffers.device_mask, buffers.mask, shape.mask_bytes(), cudaMemcpyHostToDevice));
}

inline void release(Buffers& buffers) {
  CHECK(cudaFree(buffers.device_in));
  CHECK(cudaFree(buffers.device_mask));
  CHECK(cudaFree(buffers.device_out));
}

// --- The harness ---

/// Numbers between -1 and 1, the same in each run.
class Random {
 public:
  float operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return float(int32_t(state_ >> 32)) / 2147483648.0f;
  }

 private:
  uint64_t state_ = 408;
};

inline float* pinned(size_t count) {
  float* memory = nullptr;
  CHECK(cudaMallocHost(&memory, sizeof(float) * count));
  return memory;
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

inline void run_layer(const char* name, Buffers buffers, const Shape& shape) {
  using clock = std::chrono::steady_clock;
  nvtxRangePushA(name);
  const auto layer = clock::now();
  conv_forward_gpu_prolog(buffers, shape);
  CHECK(cudaDeviceSynchronize());
  const auto op = clock::now();
  conv_forward_gpu(buffers, shape);
  CHECK(cudaDeviceSynchronize());
  const double op_time = milliseconds_since(op);
  conv_forward_gpu_epilog(buffers, shape);
  CHECK(cudaDeviceSynchronize());
  const double layer_time = milliseconds_since(layer);
  nvtxRangePop();
  std::printf("Conv-GPU==\nLayer Time: %.4f ms\nOp Time: %.4f ms\n", layer_time, op_time);
}

/// Means of 2 x 2 pixels, and what is below 0 becomes 0.
template <class T>
void pool(const T* in, float* out, int planes, int height, int width) {
  for (int p = 0; p < planes; ++p) {
    for (int y = 0; y + 1 < height; y += 2) {
      for (int x = 0; x + 1 < width; x += 2) {
        const T* at = in + (size_t(p) * height + y) * width + x;
        const T mean = (at[0] + at[1] + at[width] + at[width + 1]) / 4;
        *out++ = float(mean > 0 ? mean : 0);
      }
    }
  }
}

/// One image on the CPU, in double precision.
inline std::vector<double> convolved(const float* in, const float* mask, const Shape& shape) {
  std::vector<double> out;
  out.reserve(shape.out_item());
  const int k = shape.kernel;
  for (int m = 0; m < shape.maps; ++m) {
    for (int y = 0; y < shape.out_height(); ++y) {
      for (int x = 0; x < shape.out_width(); ++x) {
        double sum = 0;
        for (int c = 0; c < shape.channels; ++c) {
          for (int p = 0; p < k; ++p) {
            for (int q = 0; q < k; ++q)
              sum += double(in[(size_t(c) * shape.height + y + p) * shape.width + x + q]) *
                     mask[((size_t(m) * shape.channels + c) * k + p) * k + q];
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

inline int class_of(const float* features, const std::vector<float>& weights) {
  constexpr int classes = 10;
  const size_t count = weights.size() / classes;
  double best = 0;
  int found = 0;
  for (int c = 0; c < classes; ++c) {
    double score = 0;
    for (size_t i = 0; i < count; ++i) score += double(features[i]) * weights[c * count + i];
    if (c > 0 && score <= best) continue;
    best = score;
    found = c;
  }
  return found;
}

/// Adds what an output differs from the right one by, as a share of its largest value, to `worst`.
inline void compare(const float* out, const std::vector<double>& right, double& worst) {
  double largest = 0, difference = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::abs(right[i]));
    const double here = std::abs(out[i] - right[i]);
    difference = here <= difference ? difference : here;  // no number is larger
  }
  const double error = difference / largest;
  worst = error <= worst ? worst : error;
}

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (batch < 1) {
    std::fprintf(stderr, "usage: %s [BATCH]\n", argv[0]);
    return 2;
  }
  std::printf("Test batch size: %d\n", batch);
  const Shape first{batch, 4, 1, 86, 86, 7}, second{batch, 16, 4, 40, 40, 7};
  float *images = pinned(batch * first.in_item()), *out1 = pinned(batch * first.out_item());
  float *in2 = pinned(batch * second.in_item()), *out2 = pinned(batch * second.out_item());
  float *mask1 = pinned(first.mask_size()), *mask2 = pinned(second.mask_size());
  Random random;
  std::generate_n(mask1, first.mask_size(), random);
  std::generate_n(mask2, second.mask_size(), random);
  std::generate_n(images, batch * first.in_item(), random);
  const size_t features = second.out_item() / 4;
  std::vector<float> weights(10 * features);
  std::generate(weights.begin(), weights.end(), random);

  run_layer("layer1", {images, mask1, out1}, first);
  pool(out1, in2, batch * first.maps, first.out_height(), first.out_width());
  run_layer("layer2", {in2, mask2, out2}, second);

  // So many images are enough to see that an output is right, and few enough for a CPU.
  const int checked = std::min(batch, 32);
  int right = 0;
  double worst = 0;
  std::vector<float> in(second.in_item()), ours(features), theirs(features);
  for (int i = 0; i < checked; ++i) {
    const size_t at = size_t(batch - 1) * i / std::max(checked - 1, 1);
    const auto right1 = convolved(images + at * first.in_item(), mask1, first);
    compare(out1 + at * first.out_item(), right1, worst);
    pool(right1.data(), in.data(), first.maps, first.out_height(), first.out_width());
    const auto right2 = convolved(in.data(), mask2, second);
    compare(out2 + at * second.out_item(), right2, worst);
    pool(right2.data(), ours.data(), second.maps, second.out_height(), second.out_width());
    pool(out2 + at * second.out_item(), theirs.data(), second.maps, second.out_height(), second.out_width());
    right += class_of(ours.data(), weights) == class_of(theirs.data(), weights);
  }
  std::printf("\nMax Error: %.3g\nTest Accuracy: %.4g\n", worst, double(right) / checked);
  for (float* memory : {images, out1, in2, out2, mask1, mask2}) CHECK(cudaFreeHost(memory));
  return 0;
}
