// Which operators `tilewright bench` measures another library beside.
#ifndef TILEWRIGHT_BENCH_PEERS_PEERS_H_
#define TILEWRIGHT_BENCH_PEERS_PEERS_H_

#include <string_view>

namespace tilewright {

// True where cuBLASLt is the operator's peer, or PyTorch has one.
bool HasBenchPeer(std::string_view op);
// Generated at build time from torch_operators.py and torch_attention.py: the operators that they
// name.
bool HasTorchPeer(std::string_view op);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_PEERS_PEERS_H_
