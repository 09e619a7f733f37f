// Resolved plans by problem: bounded, in least-recently-used order.
#ifndef TILEWRIGHT_RUNTIME_PLAN_TABLE_H_
#define TILEWRIGHT_RUNTIME_PLAN_TABLE_H_

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan.h"

namespace tilewright {

// The bytes that tell problems of this process apart: op, device, dtypes, problem fields.
std::string PlanKey(int op, int device, const CallDesc& call, const ProblemFields& fields);

// Thread-safe; used on misses only.
class PlanTable {
 public:
  explicit PlanTable(int64_t max_plans) : max_plans_(max_plans) {}

  std::shared_ptr<const Plan> Find(const std::string& key);
  // Replaces; returns the plan that went (replaced or evicted), if any.
  std::shared_ptr<const Plan> Put(const std::string& key, std::shared_ptr<const Plan> plan);
  // Removes the least recently used plan for which `spare` is false, else the least recently used
  // one; null if the table is empty.
  std::shared_ptr<const Plan> Evict(const std::function<bool(const Plan&)>& spare);
  int64_t size() const;

 private:
  struct Node {
    std::string key;
    std::shared_ptr<const Plan> plan;
  };
  using List = std::list<Node>;  // most recent first

  std::shared_ptr<const Plan> Remove(List::iterator node);

  const int64_t max_plans_;
  mutable std::mutex mutex_;
  List order_;
  absl::flat_hash_map<std::string, List::iterator> by_key_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_PLAN_TABLE_H_
