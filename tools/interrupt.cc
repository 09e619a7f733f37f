#include "tools/interrupt.h"

#include <csignal>
#include <cstdint>
#include <ctime>

namespace tilewright {
namespace {

// The only state that a signal handler can reach.
std::atomic<bool> interrupted{false};
std::atomic<int64_t> first_ms{0};

constexpr int64_t kSameInterruptMs = 1000;

int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1'000'000;
}

void OnInterrupt(int signal) {
  const int64_t now_ms = NowMs();
  if (!interrupted) {
    first_ms = now_ms;
    interrupted = true;
  } else if (now_ms - first_ms >= kSameInterruptMs) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& NoticeInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  // A terminal that is closed, where that is not to be survived as under nohup(1).
  if (std::signal(SIGHUP, OnInterrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  return interrupted;
}

}  // namespace tilewright
