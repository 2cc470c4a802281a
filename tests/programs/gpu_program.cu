// SPDX-License-Identifier: MIT
// A program with CUDA work as a user's, which ends or misbehaves as its argument says. Its kernels do nothing
// that takes long, and those that wait give up after `patience`.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int elements = 1 << 20;
constexpr int block = 256;
constexpr long long patience = 90'000'000'000;  // ns, longer than mprof waits for a kernel that stands still

/// Each element becomes twice as much, 16 times.
__global__ void scale(float* values) {
  const int i = static_cast<int>(blockIdx.x) * block + static_cast<int>(threadIdx.x);
  float value = values[i];
  for (int step = 0; step < 16; ++step) value = value * 2.0F;
  values[i] = value;
}

__global__ void shift(float* values) {
  values[blockIdx.x * block + threadIdx.x] += 1.0F;
}

__device__ long long now() {
  long long time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// Returns when somebody has set the flag.
__global__ void wait_for(volatile int* flag) {
  const long long since = now();
  while (*flag == 0 && now() - since < patience) __nanosleep(1000);
}

__global__ void raise_flag(volatile int* flag) {
  *flag = 1;
  __threadfence_system();
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Launches of both kernels, as many as the metrics of a counters pass need and more.
void work(float* values, int launches = 200) {
  nvtxRangePushA("work");
  for (int i = 0; i < launches; ++i) {
    scale<<<elements / block, block>>>(values);
    shift<<<elements / block, block>>>(values);
  }
  check(cudaDeviceSynchronize());
  nvtxRangePop();
}

/// A graph of three kernels, launched 20 times.
void launch_graph(float* values) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) scale<<<elements / block, block, 0, stream>>>(values);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 20; ++i) check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
}

/// Ends a capture of a stream that is capturing.
cudaGraph_t captured(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  return graph;
}

/// Two layers and a child graph are captured in ranges, and a clone of that graph is launched in 20 steps.
void launch_layers(float* values) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  nvtxRangePushA("child");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  shift<<<elements / block, block, 0, stream>>>(values);
  cudaGraph_t child = captured(stream);
  nvtxRangePop();
  nvtxRangePushA("capture");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  nvtxRangePushA("layer 0");
  for (int i = 0; i < 2; ++i) scale<<<elements / block, block, 0, stream>>>(values);
  nvtxRangePop();
  nvtxRangePushA("layer 1");
  shift<<<elements / block, block, 0, stream>>>(values);
  nvtxRangePop();
  cudaGraph_t graph = captured(stream);
  nvtxRangePop();
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  cudaGraph_t clone = nullptr;
  check(cudaGraphClone(&clone, graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, clone, 0));
  for (int i = 0; i < 20; ++i) {
    nvtxRangePushA("step");
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
    nvtxRangePop();
  }
}

/// A kernel that waits for the host, which lets it go once it has been launched.
void wait_for_host() {
  int* flag = nullptr;
  check(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  *static_cast<volatile int*>(flag) = 1;
  check(cudaDeviceSynchronize());
}

/// A kernel that waits for one that is launched behind it, on another stream.
void wait_for_partner() {
  int* flag = nullptr;
  cudaStream_t streams[2] = {};
  check(cudaMalloc(&flag, sizeof(int)));
  check(cudaMemset(flag, 0, sizeof(int)));
  for (cudaStream_t& stream : streams) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaFuncAttributes loaded{};  // to load a kernel at its first launch, CUDA may wait for those that run
  check(cudaFuncGetAttributes(&loaded, wait_for));
  check(cudaFuncGetAttributes(&loaded, raise_flag));
  check(cudaDeviceSynchronize());
  wait_for<<<1, 1, 0, streams[0]>>>(flag);
  raise_flag<<<1, 1, 0, streams[1]>>>(flag);
  check(cudaDeviceSynchronize());
}

/// Starts this program once more and waits for it.
void run_child(char* program) {
  const pid_t child = ::fork();
  if (child == 0) {
    char* const words[] = {program, nullptr};
    ::execv(program, words);
    ::_exit(1);
  }
  ::waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view how = count > 1 ? arguments[1] : "";
  if (how == "child") run_child(arguments[0]);  // before CUDA is used, which does not survive a fork
  float* values = nullptr;
  check(cudaMalloc(&values, elements * sizeof(float)));
  check(cudaMemset(values, 0, elements * sizeof(float)));
  if (how == "host") wait_for_host();
  if (how == "partner") wait_for_partner();
  work(values);
  if (how == "graph") launch_graph(values);
  if (how == "layers") launch_layers(values);
  if (how == "abort") std::abort();
  if (how == "exit") ::_exit(0);
  check(cudaFree(values));
}
