// tilewright-worker: runs tuning candidates in a process that may be lost with them. Started by the
// tuner, spoken to over pipes (runtime/worker/wire.h); of no use by hand.
#include "runtime/worker/worker.h"

int main() { return tilewright::WorkerMain(); }
