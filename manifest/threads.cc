#include "manifest/threads.h"

#include <exception>
#include <forward_list>
#include <utility>

namespace tilewright {

bool StartThread(std::thread& thread, std::function<void()> body) {
  try {
    thread = std::thread(std::move(body));
  } catch (const std::exception&) {  // by number, by memory
    return false;
  }
  return true;
}

void RunOnThreads(int64_t threads, const std::function<void()>& body) {
  std::forward_list<std::thread> started;
  for (int64_t i = 1; i < threads; ++i) {
    if (!StartThread(started.emplace_front(), body)) {
      started.pop_front();
      break;
    }
  }
  body();
  for (std::thread& thread : started) thread.join();
}

}  // namespace tilewright
