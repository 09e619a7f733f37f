#include "runtime/exact_table.h"

#include <algorithm>
#include <bit>

namespace tilewright {

ExactTable::ExactTable(int64_t max_calls, ThreadSlots* threads)
    : threads_(threads),
      sets_(std::bit_floor(
          static_cast<size_t>(std::max<int64_t>(1, max_calls / static_cast<int64_t>(kWays))))) {
  set_mask_ = sets_.size() - 1;
}

ExactTable::~ExactTable() {
  for (Set& set : sets_) {
    for (auto& call : set.calls) delete call.load();
  }
  for (const Retired& retired : retired_) delete retired.call;
}

size_t ExactTable::VictimOf(Set& set, const ExactCall& incoming) {
  size_t free_way = kWays;
  for (size_t way = 0; way < kWays; ++way) {
    const ExactCall* call = set.calls[way].load();
    if (call == nullptr) {
      if (free_way == kWays) free_way = way;
    } else if (call->Is(incoming.hash, incoming.key)) {
      return way;
    }
  }
  if (free_way != kWays) return free_way;
  for (;;) {
    const size_t way = set.hand;
    set.hand = (set.hand + 1) % kWays;
    if (!set.calls[way].load()->referenced.exchange(false, std::memory_order_relaxed)) return way;
  }
}

void ExactTable::Insert(std::unique_ptr<ExactCall> call) {
  std::lock_guard<std::mutex> lock(mutex_);
  Set& set = sets_[call->hash & set_mask_];
  const size_t way = VictimOf(set, *call);
  const ExactCall* before = set.calls[way].exchange(call.get());
  set.tags[way].store(Tag(call->hash));
  call.release();
  if (before == nullptr) {
    ++size_;
  } else {
    Retire(before);
  }
  ReclaimLocked();
}

void ExactTable::Erase(const Plan* plan) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Set& set : sets_) {
    for (size_t way = 0; way < kWays; ++way) {
      const ExactCall* call = set.calls[way].load();
      if (call == nullptr || (plan != nullptr && call->plan.get() != plan)) continue;
      set.calls[way].store(nullptr);
      set.tags[way].store(0);
      --size_;
      Retire(call);
    }
  }
  ReclaimLocked();
}

void ExactTable::ForEach(const std::function<void(const ExactCall&)>& visit) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Set& set : sets_) {
    for (const auto& slot : set.calls) {
      if (const ExactCall* call = slot.load(); call != nullptr) visit(*call);
    }
  }
}

void ExactTable::Retire(const ExactCall* call) { retired_.push_back({call, epoch_.fetch_add(1)}); }

void ExactTable::Reclaim() {
  std::lock_guard<std::mutex> lock(mutex_);
  ReclaimLocked();
}

void ExactTable::ReclaimLocked() {
  if (retired_.empty()) return;
  uint64_t oldest = UINT64_MAX;
  threads_->ForEach([&](const ThreadSlot& slot) {
    if (const uint64_t active = slot.active.load(); active != 0) oldest = std::min(oldest, active);
  });
  std::erase_if(retired_, [&](const Retired& retired) {
    if (retired.epoch >= oldest) return false;
    delete retired.call;
    return true;
  });
}

int64_t ExactTable::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return size_;
}

}  // namespace tilewright
