#include "runtime/thread_slots.h"

#include <utility>

namespace tilewright {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

thread_local constinit ThreadSlots::Recent ThreadSlots::recent_;

struct ThreadSlots::Attachments {
  struct Attachment {
    uint64_t owner;
    std::weak_ptr<Registry> registry;
    ThreadSlot* slot;
  };
  std::vector<Attachment> all;

  ~Attachments() {
    recent_ = {};
    for (const Attachment& attachment : all) {
      if (const std::shared_ptr<Registry> registry = attachment.registry.lock()) {
        std::lock_guard<std::mutex> lock(registry->mutex);
        registry->idle.push_back(attachment.slot);
      }
    }
  }
};

ThreadSlots::ThreadSlots() : id_(NextId()), registry_(std::make_shared<Registry>()) {}
ThreadSlots::~ThreadSlots() = default;

ThreadSlot& ThreadSlots::Attach() {
  thread_local Attachments attachments;
  for (const auto& attachment : attachments.all) {
    if (attachment.owner == id_) {
      recent_ = {id_, attachment.slot};
      return *attachment.slot;
    }
  }
  std::erase_if(attachments.all, [](const auto& old) { return old.registry.expired(); });
  ThreadSlot* slot = nullptr;
  {
    std::lock_guard<std::mutex> lock(registry_->mutex);
    if (registry_->idle.empty()) {
      registry_->slots.push_back(std::make_unique<ThreadSlot>());
      slot = registry_->slots.back().get();
    } else {
      slot = registry_->idle.back();
      registry_->idle.pop_back();
    }
  }
  attachments.all.push_back({id_, registry_, slot});
  recent_ = {id_, slot};
  return *slot;
}

void ThreadSlots::ForEach(const std::function<void(const ThreadSlot&)>& visit) const {
  std::lock_guard<std::mutex> lock(registry_->mutex);
  for (const auto& slot : registry_->slots) visit(*slot);
}

}  // namespace tilewright
