// Work on several threads, where the system may refuse them.
#ifndef TILEWRIGHT_MANIFEST_THREADS_H_
#define TILEWRIGHT_MANIFEST_THREADS_H_

#include <cstdint>
#include <functional>
#include <thread>

namespace tilewright {

// Starts `body` as `thread`; false where no thread can be made.
bool StartThread(std::thread& thread, std::function<void()> body);

// Runs `body` on up to `threads` threads at once, the caller's being one of them, and returns when
// all have ended. Where fewer can be made, those that started do the work: `body` takes its share
// from what all of them see.
void RunOnThreads(int64_t threads, const std::function<void()>& body);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_THREADS_H_
