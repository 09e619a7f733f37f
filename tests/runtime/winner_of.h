// A row of the cache that makes a configuration a problem's winner.
#ifndef TILEWRIGHT_TESTS_RUNTIME_WINNER_OF_H_
#define TILEWRIGHT_TESTS_RUNTIME_WINNER_OF_H_

#include "autotune/config.h"
#include "cache/cache.h"
#include "runtime/keys.h"

namespace tilewright {

inline WinnerRow WinnerOf(const ProblemKey& problem, const Config& config) {
  WinnerRow row;
  row.key = problem.digest;
  row.op = problem.op;
  row.dtypes = problem.dtypes;
  row.problem_json = problem.problem_json;
  row.device = problem.device;
  row.config_json = config.ToJson();
  row.median_us = 1;
  return row;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_WINNER_OF_H_
