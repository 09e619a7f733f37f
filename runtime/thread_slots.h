// What each calling thread owns: so that a hit writes no cache line that another thread reads.
#ifndef TILEWRIGHT_RUNTIME_THREAD_SLOTS_H_
#define TILEWRIGHT_RUNTIME_THREAD_SLOTS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/driver/driver.h"

namespace tilewright {

// Encoded tensor maps by (exact call and slot, address): two-way associative, least recent out.
class TensorMapCache {
 public:
  struct alignas(64) Map {
    std::byte bytes[128];
  };
  // The map of `id` at `address`, or null. `id` is never reused for another layout.
  const Map* Find(uint64_t id, uint64_t address) {
    Set& set = sets_[Index(id, address)];
    for (uint32_t way = 0; way < kWays; ++way) {
      if (set.id[way] == id && set.address[way] == address) {
        set.next = way ^ 1;
        return &set.map[way];
      }
    }
    return nullptr;
  }
  // The place to encode a new one into. Valid(id, address) makes it findable.
  Map* Place(uint64_t id, uint64_t address) {
    Set& set = sets_[Index(id, address)];
    set.id[set.next] = 0;
    return &set.map[set.next];
  }
  void Valid(uint64_t id, uint64_t address) {
    Set& set = sets_[Index(id, address)];
    set.id[set.next] = id;
    set.address[set.next] = address;
    set.next ^= 1;
  }

 private:
  static constexpr uint32_t kWays = 2;
  static constexpr size_t kSets = 64;
  struct Set {
    uint64_t id[kWays] = {0, 0};
    uint64_t address[kWays] = {0, 0};
    uint32_t next = 0;
    Map map[kWays];
  };
  static size_t Index(uint64_t id, uint64_t address) {
    return ((id + (address >> 8)) * 0x9E3779B97F4A7C15u) >> 58;
  }
  std::array<Set, kSets> sets_;
};

// Written by its thread alone; others read the atomics.
struct alignas(128) ThreadSlot {
  // 0 outside a lookup, else the epoch in which it began.
  std::atomic<uint64_t> active{0};
  std::atomic<int64_t> exact_hits{0};
  std::atomic<int64_t> plan_hits{0};
  std::atomic<int64_t> misses{0};

  // Streams whose device was checked.
  struct Stream {
    CudaStream stream = nullptr;
    int device = -1;
  };
  static constexpr size_t kStreams = 16;
  std::array<Stream, kStreams> streams;
  Stream& StreamEntry(CudaStream stream) {
    return streams[(reinterpret_cast<uintptr_t>(stream) * 0x9E3779B97F4A7C15u) >> 60];
  }

  TensorMapCache tensor_maps;

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
