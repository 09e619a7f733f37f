// The table of exact calls: bounded, read without a lock.
#ifndef TILEWRIGHT_RUNTIME_EXACT_TABLE_H_
#define TILEWRIGHT_RUNTIME_EXACT_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/exact_call.h"
#include "runtime/exact_key.h"
#include "runtime/thread_slots.h"

namespace tilewright {

// Purpose: finds an exact call in constant time. Set-associative: a full set evicts by the clock
// rule, so memory is bounded and nothing is rehashed.
//
// Readers hold a Reading; what they found stays valid until it ends, even if it is erased meanwhile
// (epoch-based reclamation, after Fraser, "Practical lock freedom"): each reader publishes the
// epoch it began in, and an erased call is freed once no reader is left from its epoch or before. A
// read writes nothing that is shared. Writers take a mutex; none may hold a Reading on the same
// thread.
class ExactTable {
 public:
  ExactTable(int64_t max_calls, ThreadSlots* threads);
  ~ExactTable();

  class Reading {
   public:
    Reading(const ExactTable& table, ThreadSlot& slot) : slot_(slot) {
      slot_.active.exchange(table.epoch_.load());
    }
    ~Reading() { slot_.active.store(0, std::memory_order_release); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    ThreadSlot& slot_;
  };

  // Null if there is none. The caller holds a Reading.
  const ExactCall* Find(const ExactKey& key) const {
    const Set& set = sets_[key.hash() & set_mask_];
    const uint32_t tag = Tag(key.hash());
    for (size_t way = 0; way < kWays; ++way) {
      if (set.tags[way].load() != tag) continue;
      const ExactCall* call = set.calls[way].load();
      if (call != nullptr && call->Is(key.hash(), key.words())) {
        if (!call->referenced.load(std::memory_order_relaxed)) {
          call->referenced.store(true, std::memory_order_relaxed);
        }
        return call;
      }
    }
    return nullptr;
  }

  // Replaces an equal call.
  void Insert(std::unique_ptr<ExactCall> call);
  // Erases the calls of a plan (of every plan where `plan` is null).
  void Erase(const Plan* plan);
  // Visits every call; `visit` must not call the table.
  void ForEach(const std::function<void(const ExactCall&)>& visit) const;
  // Frees what no reader can hold any more.
  void Reclaim();
  int64_t size() const;

 private:
  static constexpr size_t kWays = 8;
  struct alignas(64) Set {
    std::array<std::atomic<uint32_t>, kWays> tags{};
    std::array<std::atomic<const ExactCall*>, kWays> calls{};
    uint32_t hand = 0;  // of the clock; under mutex_
  };
  struct Retired {
    const ExactCall* call;
    uint64_t epoch;
  };

  static uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32) | 1; }
  size_t VictimOf(Set& set, const ExactCall& incoming);
  void Retire(const ExactCall* call);
  void ReclaimLocked();

  ThreadSlots* const threads_;
  uint64_t set_mask_ = 0;
  std::vector<Set> sets_;
  std::atomic<uint64_t> epoch_{1};
  mutable std::mutex mutex_;
  std::vector<Retired> retired_;
  int64_t size_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXACT_TABLE_H_
