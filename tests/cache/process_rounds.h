// Rounds of real processes on one cache file, for the smoke and the full tier.
#ifndef TILEWRIGHT_TESTS_CACHE_PROCESS_ROUNDS_H_
#define TILEWRIGHT_TESTS_CACHE_PROCESS_ROUNDS_H_

namespace tilewright {

// 16 processes, started together on no file, want one cold kernel and store one of their own: all
// end well on a WAL file without a log line, one compiles, every row is there.
void RunStartTogether(int rounds);

// The owner of a compile lock is killed with -9 at a random moment, while it stores rows: a waiter
// takes over within 2 s, every acknowledged row is there, nothing is left lying about.
void RunKillOwner(int rounds);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_CACHE_PROCESS_ROUNDS_H_
