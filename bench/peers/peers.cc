#include "bench/peers/peers.h"

#include "bench/peers/cublaslt.h"

namespace tilewright {

bool HasBenchPeer(std::string_view op) { return CublasLtGemm::Serves(op) || HasTorchPeer(op); }

}  // namespace tilewright
