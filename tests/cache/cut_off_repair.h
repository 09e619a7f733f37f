// Repairs that are killed at one of their steps.
#ifndef TILEWRIGHT_TESTS_CACHE_CUT_OFF_REPAIR_H_
#define TILEWRIGHT_TESTS_CACHE_CUT_OFF_REPAIR_H_

#include <string>

namespace tilewright {

// A file with a damaged index, beside the WAL of a process that died, which alone holds the
// winners: TestKernel(0 .. kKernels - 1) and TestWinner(0 .. kWinners - 1).
void MakeDamagedWithWal(const std::string& path);

// Runs a repair that dies before its step `kill_at`; false where it came to its end.
bool RepairAndDie(const std::string& path, int kill_at);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_CACHE_CUT_OFF_REPAIR_H_
