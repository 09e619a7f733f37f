// One execution for many callers of the same key.
#ifndef TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_
#define TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Purpose: callers that ask for the same key while one of them computes it wait and share its
// result. Results are not kept. Thread-safe; no lock is held while a value is computed. An
// exception of the computation is its own caller's: of those that wait, one computes in its place.
template <class Value>
class SingleFlight {
 public:
  template <class Compute>
  absl::StatusOr<Value> Do(const std::string& key, Compute compute) {
    std::shared_ptr<Flight> flight;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      for (auto found = flights_.find(key); found != flights_.end(); found = flights_.find(key)) {
        flight = found->second;
        flight->landed.wait(lock, [&] { return flight->done; });
        if (flight->result.has_value()) return *flight->result;
      }
      flight = std::make_shared<Flight>();
      flights_.emplace(key, flight);
    }
    const Landing landing(*this, key, *flight);
    flight->result = compute();
    return *flight->result;
  }

 private:
  struct Flight {
    bool done = false;
    std::condition_variable landed;
    std::optional<absl::StatusOr<Value>> result;  // none where an exception left compute()
  };
  // Ends a flight, however its computation ends.
  class Landing {
   public:
    Landing(SingleFlight& flights, const std::string& key, Flight& flight)
        : flights_(flights), key_(key), flight_(flight) {}
    ~Landing() {
      const std::lock_guard<std::mutex> lock(flights_.mutex_);
      flights_.flights_.erase(key_);
      flight_.done = true;
      flight_.landed.notify_all();
    }
    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;

   private:
    SingleFlight& flights_;
    const std::string& key_;
    Flight& flight_;
  };

  std::mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_SINGLE_FLIGHT_H_
