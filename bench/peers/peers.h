// Which operators `tilewright bench` measures another library beside.
#ifndef TILEWRIGHT_BENCH_PEERS_PEERS_H_
#define TILEWRIGHT_BENCH_PEERS_PEERS_H_

#include <string_view>

namespace tilewright {

// True where cuBLASLt is the operator's peer, or torch_peers.py names one.
bool HasBenchPeer(std::string_view op);
// Generated at build time from torch_peers.py.
bool HasTorchPeer(std::string_view op);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_PEERS_PEERS_H_
