#include "tools/interrupt.h"

#include <csignal>

namespace tilewright {
namespace {

// The only state that a signal handler can reach.
std::atomic<bool> interrupted{false};

void OnInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& NoticeInterrupts() {
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  return interrupted;
}

}  // namespace tilewright
