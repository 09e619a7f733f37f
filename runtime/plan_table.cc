#include "runtime/plan_table.h"

#include <algorithm>
#include <cstring>

namespace tilewright {

std::string PlanKey(int op, int device, const CallDesc& call, const ProblemFields& fields) {
  std::string key(fields.size() * sizeof(int64_t) + call.operands.size() + 8, '\0');
  char* out = key.data();
  std::memcpy(out, &op, sizeof(op));
  std::memcpy(out + 4, &device, sizeof(device));
  out += 8;
  for (const Operand& operand : call.operands) {
    *out++ = operand.present ? static_cast<char>(operand.desc.dtype) : '\x7f';
  }
  if (!fields.empty()) std::memcpy(out, fields.data(), fields.size() * sizeof(int64_t));
  return key;
}

std::shared_ptr<const Plan> PlanTable::Find(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return nullptr;
  order_.splice(order_.begin(), order_, it->second);
  return it->second->plan;
}

std::shared_ptr<const Plan> PlanTable::Put(const std::string& key,
                                           std::shared_ptr<const Plan> plan) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    order_.splice(order_.begin(), order_, it->second);
    std::shared_ptr<const Plan> before = std::exchange(it->second->plan, std::move(plan));
    if (before != it->second->plan) before->given_up.Set();
    return before;
  }
  order_.push_front({key, std::move(plan)});
  by_key_[key] = order_.begin();
  if (static_cast<int64_t>(order_.size()) <= max_plans_) return nullptr;
  return Remove(std::prev(order_.end()));
}

std::shared_ptr<const Plan> PlanTable::Evict(const std::function<bool(const Plan&)>& spare) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (order_.empty()) return nullptr;
  const auto victim = std::find_if(order_.rbegin(), order_.rend(),
                                   [&](const Node& node) { return !spare(*node.plan); });
  return Remove(victim == order_.rend() ? std::prev(order_.end()) : std::prev(victim.base()));
}

std::shared_ptr<const Plan> PlanTable::Remove(List::iterator node) {
  std::shared_ptr<const Plan> plan = std::move(node->plan);
  plan->given_up.Set();
  by_key_.erase(node->key);
  order_.erase(node);
  return plan;
}

int64_t PlanTable::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(order_.size());
}

}  // namespace tilewright
