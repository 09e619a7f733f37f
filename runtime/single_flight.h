// One execution for many callers of the same key.
#ifndef TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_
#define TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Purpose: callers that ask for the same key while one of them computes it wait and share its
// result. Results are not kept. Thread-safe; no lock is held while a value is computed.
template <class Value>
class SingleFlight {
 public:
  template <class Compute>
  absl::StatusOr<Value> Do(const std::string& key, Compute compute) {
    std::shared_ptr<Flight> flight;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      std::shared_ptr<Flight>& entry = flights_[key];
      if (entry != nullptr) {
        flight = entry;
        flight->landed.wait(lock, [&] { return flight->done; });
        return flight->result;
      }
      flight = entry = std::make_shared<Flight>();
    }
    absl::StatusOr<Value> result = compute();
    std::lock_guard<std::mutex> lock(mutex_);
    flight->result = result;
    flight->done = true;
    flight->landed.notify_all();
    flights_.erase(key);
    return result;
  }

 private:
  struct Flight {
    bool done = false;
    std::condition_variable landed;
    absl::StatusOr<Value> result = absl::UnknownError("in flight");
  };

  std::mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_
