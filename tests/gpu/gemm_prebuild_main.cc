// Compiles, without a GPU, the kernels that GemmCandidatesGpuTest runs on an H200 into the cache
// file that TILEWRIGHT_GEMM_CHECK_CACHE then names.
//
//   tilewright_gemm_prebuild CACHE [PART PARTS]
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "manifest/status.h"
#include "tests/gpu/gemm_builder.h"

namespace tilewright {
namespace {

absl::Status Main(const std::string& path, int part, int parts) {
  TW_ASSIGN_OR_RETURN(const DeviceProfile device, BuiltinDeviceProfile("h200"));
  TW_ASSIGN_OR_RETURN(const auto builder,
                      GemmBuilder::Open(std::filesystem::absolute(path).string(), device));
  GemmPlan plan = builder->EveryLegalCandidate(part, parts);
  for (int layout = 0; layout < 4; ++layout) {
    for (const GemmCase& gemm : EveryExtent((layout & 2) != 0, (layout & 1) != 0, 8)) {
      plan.emplace_back(gemm, builder->Defaults(gemm.Call()));
    }
  }
  const auto points = PointsOf(plan);
  std::cerr << points.size() << " points\n";
  return builder->Build(points, [](size_t done, size_t all) {
    if (done % 100 == 0 || done == all) std::cerr << done << " of " << all << " kernels\n";
  });
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::cerr << "usage: " << argv[0] << " CACHE [PART PARTS]\n";
    return 2;
  }
  const int part = argc == 4 ? std::atoi(argv[2]) : 0;
  const int parts = argc == 4 ? std::atoi(argv[3]) : 1;
  const absl::Status status = tilewright::Main(argv[1], part, std::max(1, parts));
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
