// SPDX-License-Identifier: MIT
// Variants that pretend on a GPU: each is a way in which programs that time kernels have been fooled, or
// could be. Only the tests' worker has them: cheats_test.cpp holds mprof to finding each out.
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <cuda_fp16.h>

#include "cuda/driver.hpp"
#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/functions.cuh"

namespace mprof::elementwise {
namespace {

constexpr unsigned block = 256;

/// Every `step`th row.
__global__ void map_rows(const float* input, float* output, unsigned size, unsigned iterations,
                         unsigned step) {
  const unsigned column = blockIdx.x * block + threadIdx.x, row = blockIdx.y * step;
  if (column >= size || row >= size) return;
  const std::size_t element = static_cast<std::size_t>(row) * size + column;
  output[element] = transform(column, input[element], iterations);
}

/// The first row, once more.
__global__ void map_row_again(const float* input, float* output, unsigned size, unsigned iterations) {
  const unsigned column = blockIdx.x * block + threadIdx.x;
  if (column < size) output[column] = transform(column, input[column], iterations);
}

__global__ void round_to_half(float* values, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * block + threadIdx.x;
  if (i < count) values[i] = __half2float(__float2half(values[i]));
}

__global__ void wait_for(unsigned long long nanoseconds) {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

/// Computes what is right. What the cheats spoil.
class Honest : public DeviceMap {
 protected:
  void launch() override { compute(output()); }
  void compute(float* to, unsigned step = 1, cudaStream_t stream = nullptr) const {
    const dim3 grid(static_cast<unsigned>(blocks_for(size(), block)), size());
    map_rows<<<grid, block, 0, stream>>>(input(), to, size(), matrix().iterations, step);
  }
  void copy(float* to, const float* from) const {
    cuda::check(cudaMemcpyAsync(to, from, matrix().elements() * sizeof(float), cudaMemcpyDeviceToDevice));
  }
  /// Computes to the output, and keeps it.
  void compute_and_keep(cuda::DeviceBuffer<float>& kept) const {
    compute(output());
    if (kept.size() == 0) kept = cuda::DeviceBuffer<float>(matrix().elements());
    copy(kept.data(), output());
  }
};

class ReplaysItsOutput final : public Honest {
  void launch() override {
    if (kept_.size() == 0)
      compute_and_keep(kept_);
    else
      copy(output(), kept_.data());
  }
  cuda::DeviceBuffer<float> kept_;
};

class DoesNothingAfterTheFirstCall final : public Honest {
  void launch() override {
    if (calls_++ == 0) compute(output());
  }
  int calls_ = 0;
};

class IsRightTenTimes final : public Honest {
  void launch() override {
    if (calls_++ < 10)
      compute_and_keep(kept_);
    else
      copy(output(), kept_.data());
  }
  int calls_ = 0;
  cuda::DeviceBuffer<float> kept_;
};

class WarmsUpAndThenLeavesRowsOut final : public Honest {
  void launch() override { compute(output(), calls_++ < 12 ? 1 : 2); }
  int calls_ = 0;
};

/// The inputs of an execution are the same each time that forward() is called.
class ComputesForTheFirstCallOfEach final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    is_first_ = true;
  }

 private:
  void launch() override {
    if (std::exchange(is_first_, false))
      compute_and_keep(kept_);
    else
      copy(output(), kept_.data());
  }
  bool is_first_ = true;
  cuda::DeviceBuffer<float> kept_;
};

/// Keeps an output for all inputs that it has seen.
class RemembersInputs final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    now_ = &kept_[std::vector<float>(input, input + 8)];
  }

 private:
  void launch() override {
    if (now_->size() == 0)
      compute_and_keep(*now_);
    else
      copy(output(), now_->data());
  }
  std::map<std::vector<float>, cuda::DeviceBuffer<float>> kept_;
  cuda::DeviceBuffer<float>* now_ = nullptr;
};

/// On a stream that nothing waits for.
class LeavesItsStreamAlone final : public Honest {
  void launch() override {
    wait_for<<<1, 1, 0, stream_.get()>>>(50'000'000);
    compute(output(), 1, stream_.get());
  }
  cuda::Stream stream_;
};

/// No cheat: its op time holds what it does on a stream of its own, which finish() waits for.
class WorksOnItsOwnStream final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    cuda::check(cudaDeviceSynchronize());  // a copy on the default stream is not waited for by others
  }
  void finish() override {
    stream_.synchronize();
    Honest::finish();
  }

 private:
  void launch() override { compute(output(), 1, stream_.get()); }
  cuda::Stream stream_;
};

class ComputesInPrepare final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    if (kept_.size() == 0) kept_ = cuda::DeviceBuffer<float>(matrix.elements());
    compute(kept_.data());
  }

 private:
  void launch() override { copy(output(), kept_.data()); }
  cuda::DeviceBuffer<float> kept_;
};

class ComputesInFinish final : public Honest {
 public:
  void finish() override {
    compute(output());
    Honest::finish();
  }

 private:
  void launch() override {}
};

/// Returns at once, and lets a thread launch.
class ReturnsBeforeItsThread final : public Honest {
 public:
  void finish() override {
    join();
    Honest::finish();
  }
  ~ReturnsBeforeItsThread() override { join(); }

 private:
  void launch() override {
    threads_.emplace_back([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      compute(output());
    });
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::vector<std::thread> threads_;
};

class OverwritesItsInput final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    if (calls_++ == 1) const_cast<float*>(input)[0] = 1;
  }

 private:
  int calls_ = 0;
};

class IsRightForOneShape final : public Honest {
  void launch() override { compute(output(), size() == 1024 ? 1 : 2); }
};

class ComputesInHalfPrecision final : public Honest {
  void launch() override {
    compute(output());
    const std::size_t count = matrix().elements();
    round_to_half<<<static_cast<unsigned>(blocks_for(count, block)), block>>>(output(), count);
  }
};

/// Puts a function of its own where the one is kept that reads times.
class PatchesTheTimer final : public Honest {
  void launch() override {
    auto& driver = const_cast<cuda::Driver&>(cuda::driver());
    if (original_ == nullptr) {
      original_ = driver.elapsed_time;
      driver.elapsed_time = flattering;
    }
    compute(output());
  }
  static CUresult CUDAAPI flattering(float* milliseconds, CUevent start, CUevent end) {
    const CUresult result = original_(milliseconds, start, end);
    *milliseconds /= 10;
    return result;
  }
  static inline decltype(cuda::Driver::elapsed_time) original_ = nullptr;
};

class CarvesOutTheCache final : public Honest {
  void launch() override {
    cuda::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{16} << 20));
    compute(output());
  }
};

bool is_profiled() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libcupti") != std::string::npos) return true;
  }
  return false;
}

/// Leaves rows out where it sees a profiler, for better counters.
class TakesAnotherPathUnderAProfiler final : public Honest {
  void launch() override { compute(output(), is_profiled() ? 4 : 1); }
};

/// Shows a profiler another kernel: both are right.
class ShowsAnotherKernelToAProfiler final : public Honest {
  void launch() override {
    compute(output());
    const dim3 row(static_cast<unsigned>(blocks_for(size(), block)), 1);
    if (is_profiled()) map_row_again<<<row, block>>>(input(), output(), size(), matrix().iterations);
  }
};

template <class Cheat>
Register cheat(const std::string& name) {
  static std::vector<std::string> files;  // an id is made of a file's name, which these do not have
  files.push_back("kernels/elementwise/cheat_" + name + ".cu");
  return Register(Declaration{.title = name,
                              .idea = "none",
                              .device = "cuda",
                              .baseline = {},
                              .make = [](const Parameters&) { return std::make_unique<Cheat>(); }},
                  files.back().c_str());
}

const Register all[] = {
    cheat<Honest>("honest"),
    cheat<ReplaysItsOutput>("replay"),
    cheat<DoesNothingAfterTheFirstCall>("once"),
    cheat<IsRightTenTimes>("ten_times"),
    cheat<WarmsUpAndThenLeavesRowsOut>("warm_up"),
    cheat<ComputesForTheFirstCallOfEach>("first_call"),
    cheat<RemembersInputs>("remembers"),
    cheat<LeavesItsStreamAlone>("stream_alone"),
    cheat<WorksOnItsOwnStream>("own_stream"),
    cheat<ComputesInPrepare>("prepare"),
    cheat<ComputesInFinish>("finish"),
    cheat<ReturnsBeforeItsThread>("thread"),
    cheat<OverwritesItsInput>("overwrites"),
    cheat<IsRightForOneShape>("one_shape"),
    cheat<ComputesInHalfPrecision>("half"),
    cheat<PatchesTheTimer>("timer"),
    cheat<CarvesOutTheCache>("carved_out"),
    cheat<TakesAnotherPathUnderAProfiler>("profiled"),
    cheat<ShowsAnotherKernelToAProfiler>("other_kernel"),
};

}  // namespace
}  // namespace mprof::elementwise
