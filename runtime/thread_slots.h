// What each calling thread owns: so that a hit writes no cache line that another thread reads.
#ifndef TILEWRIGHT_RUNTIME_THREAD_SLOTS_H_
#define TILEWRIGHT_RUNTIME_THREAD_SLOTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tilewright {

// Written by its thread alone; others read the atomics.
struct alignas(128) ThreadSlot {
  // 0 outside a lookup, else the epoch in which it began.
  std::atomic<uint64_t> active{0};
  std::atomic<int64_t> exact_hits{0};
  std::atomic<int64_t> plan_hits{0};
  std::atomic<int64_t> misses{0};

  // An increment without a locked instruction: one writer.
  static void Count(std::atomic<int64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

// Purpose: hands each thread its slot. A thread that ends gives its slot back, with its counts, to
// the next new one. Thread-safe.
class ThreadSlots {
 public:
  ThreadSlots();
  ~ThreadSlots();

  ThreadSlot& Mine() {
    if (recent_.owner == id_) return *recent_.slot;
    return Attach();
  }
  void ForEach(const std::function<void(const ThreadSlot&)>& visit) const;

 private:
  struct Registry {
    std::mutex mutex;
    std::vector<std::unique_ptr<ThreadSlot>> slots;
    std::vector<ThreadSlot*> idle;
  };
  // The slots of one thread, by runtime.
  struct Attachments;
  struct Recent {
    uint64_t owner = 0;
    ThreadSlot* slot = nullptr;
  };
  static thread_local constinit Recent recent_;

  ThreadSlot& Attach();

  const uint64_t id_;  // unique in the process, so that a thread never mistakes a new runtime
  const std::shared_ptr<Registry> registry_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_THREAD_SLOTS_H_
