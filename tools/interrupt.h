// Ctrl-C as a flag: a command that measures stops at its next step and keeps what it has.
#ifndef TILEWRIGHT_TOOLS_INTERRUPT_H_
#define TILEWRIGHT_TOOLS_INTERRUPT_H_

#include <atomic>

namespace tilewright {

// From now on the first SIGINT, SIGTERM or SIGHUP sets the flag that is returned, and one that
// comes a second or more later ends the process. What follows at once is the same interrupt:
// timeout(1) and shells signal both the process and its group.
const std::atomic<bool>& NoticeInterrupts();

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_INTERRUPT_H_
