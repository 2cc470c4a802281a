// SPDX-License-Identifier: MIT
// A program with NVTX ranges, as a user's: two ops in a loop, one inside of the other's time but not its own,
// a domain of a library's, a thread, a child process, and an end as its argument says.
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void work(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void steps(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("forward");
    work(4);
    nvtxRangePushA("inner");
    work(1);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushW(L"r\u00fcckw\u00e4rts");
    work(10);
    nvtxRangePop();
  }
}

void work_in_domain() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "of a library");
  nvtxDomainRangePushEx(domain, &attributes);
  work(1);
  nvtxDomainRangePop(domain);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view how = count > 1 ? arguments[1] : "";
  steps(5);
  work_in_domain();
  std::thread([] { steps(1); }).join();
  const nvtxRangeId_t id = nvtxRangeStartA("started");
  work(2);
  nvtxRangeEnd(id);
  if (how == "child") {
    const pid_t child = ::fork();
    if (child == 0) {
      char* const words[] = {arguments[0], nullptr};
      ::execv(arguments[0], words);
      ::_exit(1);
    }
    ::waitpid(child, nullptr, 0);
  }
  if (how == "_exit") ::_exit(0);
  std::puts("done");
  return 0;
}
