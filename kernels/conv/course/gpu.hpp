// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <mprof/calls.hpp>
#include <mprof/course/faults.hpp>
#include <mprof/cuda.hpp>
#include <mprof/variant.hpp>

/// The launches by which the course's queries on exports find a layer.
static __global__ void prefn_marker_kernel() {}
static __global__ void do_not_remove_this_kernel() {}

/// The course's file for a GPU as a plug-in, whatever the edition. It is a class GPUInterface, declared in
/// the student's own header. In 2020 it has
///
///     conv_forward_gpu(host_y, host_x, host_k, B, M, C, H, W, K)
///
/// Since 2021 it has three functions, each with a last S in 2022 and 2023:
///
///     conv_forward_gpu_prolog(host_y, host_x, host_k, &device_y, &device_x, &device_k, B ... K)
///     conv_forward_gpu(device_y, device_x, device_k, B ... K)
///     conv_forward_gpu_epilog(host_y, device_y, device_x, device_k, B ... K)
///
/// They are called as the course's own program calls them, so that whatever it accepts is accepted here.
namespace mprof::course {

template <class Interface, class... Stride>
concept HasForward = requires(Interface i, float* p, int n, Stride... s) {
  i.conv_forward_gpu(p, p, p, n, n, n, n, n, n, s...);
};
template <class Interface, class... Stride>
concept HasProlog = requires(Interface i, float* p, float** q, int n, Stride... s) {
  i.conv_forward_gpu_prolog(p, p, p, q, q, q, n, n, n, n, n, n, s...);
};
template <class Interface>
concept HasStride = HasForward<Interface, int>;
template <class Interface>
concept HasStages = HasProlog<Interface, int> || HasProlog<Interface>;

/// Throws what CUDA says, of the student's function that was called last, and of the call there that failed.
inline void require_success(cudaError_t result, const char* function) {
  using plugin::detail::calls;
  if (result == cudaSuccess) {
    calls.error = cudaSuccess;
    return;
  }
  const std::string why = cudaGetErrorString(result);
  const bool is_of_call = calls.error == result && !calls.failed.empty();
  // These errors come from a kernel that ran before: CUDA reports them to the next call, whatever it is.
  const bool is_of_kernel = result == cudaErrorIllegalAddress || result == cudaErrorLaunchFailure ||
                            result == cudaErrorMisalignedAddress || result == cudaErrorAssert ||
                            result == cudaErrorLaunchTimeout || result == cudaErrorIllegalInstruction ||
                            result == cudaErrorInvalidAddressSpace || result == cudaErrorInvalidPc ||
                            result == cudaErrorHardwareStackError;
  std::string message = std::string("CUDA error in ") + function + "(): ";
  if (is_of_kernel) {
    message += why + ", of a kernel that was launched before";
    if (calls.kernel != nullptr) message += "; the last one is " + plugin::detail::last_kernel();
    if (is_of_call) message += "; the first call that says so is " + calls.failed;
  } else {
    message += is_of_call ? calls.failed + ": " + why : why;
  }
  calls.error = cudaSuccess;
  throw std::runtime_error(message);
}

/// What mprof launches itself is no call of the student's.
template <class Launch>
void launch_aside(Launch launch) {
  const plugin::detail::Calls before = plugin::detail::calls;
  launch();
  plugin::detail::calls = before;
}

/// Words of the output that lie behind this device pointer: streams keep less there than an output. All of
/// them where the driver does not say.
inline std::size_t words_behind(const void* pointer, std::size_t output) {
  using GetRange = int (*)(unsigned long long*, std::size_t*, unsigned long long);
  static const auto get_range = [] {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return driver == nullptr ? nullptr
                             : reinterpret_cast<GetRange>(::dlsym(driver, "cuMemGetAddressRange_v2"));
  }();
  if (pointer == nullptr) return 0;
  unsigned long long base = 0;
  std::size_t bytes = 0;
  const auto address = reinterpret_cast<unsigned long long>(pointer);
  if (get_range == nullptr || get_range(&base, &bytes, address) != 0) return output;
  return std::min<std::size_t>(output, (base + bytes - address) / sizeof(float));
}

template <class Interface>
class GpuConvolution final : public plugin::Op {
  static_assert(HasForward<Interface> || HasStride<Interface>,
                "GPUInterface::conv_forward_gpu has the arguments of none of the course's editions");

 public:
  void prepare(const plugin::Task& task) override {
    task_ = std::make_unique<plugin::Task>(task);
    launch_aside([] { prefn_marker_kernel<<<1, 1>>>(); });
    if (!is_decided_) decide();
    if (!computes_in_prolog_) prolog();
  }

  void forward() override {
    if (computes_in_prolog_) {
      end_prolog();
      prolog();
      is_begun_ = true;
    }
    compute();
    require_success(cudaGetLastError(), "conv_forward_gpu");
  }

  void finish() override {
    if (!computes_in_prolog_) epilog();
    end_prolog();
    launch_aside([] { do_not_remove_this_kernel<<<1, 1>>>(); });
    require_success(cudaDeviceSynchronize(), "conv_forward_gpu");
  }

  void poison_output(std::uint32_t pattern) override {
    end_prolog();
    if (HasStages<Interface> && !computes_in_prolog_) {
      const std::size_t words = words_behind(device_y_, task_->output_elements());
      if (words > 0) launch_aside([&] { plugin::fill(device_y_, words, pattern); });
    } else {
      std::fill_n(reinterpret_cast<std::uint32_t*>(task_->output()), task_->output_elements(), pattern);
    }
  }

 private:
  /// What streams make of these files: the prolog copies in, computes and copies out, and conv_forward_gpu()
  /// does nothing. Then the op is the prolog too, since otherwise it would have the time of nothing. Tried
  /// once, on the first task: conv_forward_gpu() leaves the device's output as it was.
  void decide() {
    is_decided_ = true;
    if constexpr (HasStages<Interface>) {
      constexpr std::uint32_t pattern = 0x7FC0'DEAD;
      prolog();
      require_success(cudaDeviceSynchronize(), "conv_forward_gpu_prolog");
      const std::size_t words = words_behind(device_y_, task_->output_elements());
      if (words > 0) launch_aside([&] { plugin::fill(device_y_, words, pattern); });
      compute();
      require_success(cudaGetLastError(), "conv_forward_gpu");
      require_success(cudaDeviceSynchronize(), "conv_forward_gpu");
      std::vector<std::uint32_t> left(words);
      if (words > 0)
        plugin::check(cudaMemcpy(left.data(), device_y_, words * sizeof(float), cudaMemcpyDeviceToHost));
      computes_in_prolog_ =
          std::all_of(left.begin(), left.end(), [&](std::uint32_t w) { return w == pattern; });
      epilog();
    }
  }

  /// Frees what the prolog of the forward() before allocated.
  void end_prolog() {
    if (!is_begun_) return;
    is_begun_ = false;
    epilog();
  }

  [[nodiscard]] int size(const char* name) const { return static_cast<int>(task_->size(name)); }
  [[nodiscard]] float* x() const { return const_cast<float*>(task_->input(0)); }
  [[nodiscard]] float* k() const { return const_cast<float*>(task_->input(1)); }

  /// Calls `function` with its first arguments, B to K, and S where the edition has it.
  template <class Function>
  void with_sizes(Function function) const {
    const int b = size("batch"), m = size("maps"), c = size("channels"), h = size("height"),
              w = size("width"), mask = size("mask");
    if constexpr (HasStride<Interface>)
      function(b, m, c, h, w, mask, size("stride"));
    else
      function(b, m, c, h, w, mask);
  }

  void prolog() {
    if constexpr (HasStages<Interface>) {
      device_y_ = device_x_ = device_k_ = nullptr;
      const FaultWords words(*task_, "conv_forward_gpu_prolog");
      with_sizes([&](auto... sizes) {
        interface_.conv_forward_gpu_prolog(task_->output(), x(), k(), &device_y_, &device_x_, &device_k_,
                                           sizes...);
      });
      require_success(cudaGetLastError(), "conv_forward_gpu_prolog");
    }
  }

  void compute() {
    with_sizes([&](auto... sizes) {
      if constexpr (HasStages<Interface>)
        interface_.conv_forward_gpu(device_y_, device_x_, device_k_, sizes...);
      else
        host_compute(sizes...);
    });
  }

  template <class... Sizes>
  void host_compute(Sizes... sizes) {
    const FaultWords words(*task_, "conv_forward_gpu");
    interface_.conv_forward_gpu(task_->output(), x(), k(), sizes...);
  }

  void epilog() {
    if constexpr (HasStages<Interface>) {
      const FaultWords words(*task_, "conv_forward_gpu_epilog");
      with_sizes([&](auto... sizes) {
        interface_.conv_forward_gpu_epilog(task_->output(), device_y_, device_x_, device_k_, sizes...);
      });
      require_success(cudaGetLastError(), "conv_forward_gpu_epilog");
    }
  }

  Interface interface_;
  std::unique_ptr<plugin::Task> task_;
  float* device_y_ = nullptr;
  float* device_x_ = nullptr;
  float* device_k_ = nullptr;
  bool is_decided_ = false;
  bool computes_in_prolog_ = false;
  bool is_begun_ = false;  ///< a prolog that computed, and whose epilog is still to come
};

template <class Interface>
plugin::Declaration gpu_variant() {
  const char* const title = !HasStages<Interface>  ? "Course file of 2020"
                            : HasStride<Interface> ? "Course file of 2022 and 2023"
                                                   : "Course file of 2021 and since 2024";
  return {.family = "conv",
          .title = title,
          .idea =
              "GPUInterface as the course's project calls it. Where all of the work is done in the prolog, "
              "the op is the prolog with it.",
          .device = "cuda",
          .baseline = "conv/baseline",
          .flags = HasStride<Interface> ? MPROF_AT_ODD_SIZES : 0,
          .make = [](const plugin::Parameters&) { return std::make_unique<GpuConvolution<Interface>>(); }};
}

}  // namespace mprof::course
