// As warm_start_test.cc, on a GPU: the first launch of each operator with the product's own cache.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/driver/driver.h"
#include "runtime/runtime.h"
#include "tests/runtime/mapped_library.h"

namespace tilewright {
namespace {

absl::Status CallFirstWorkload(Runtime& runtime, Driver& driver, const OpSpec& op) {
  const Workload& workload = op.workloads.front();
  TW_ASSIGN_OR_RETURN(const CallDesc call, WorkloadCall(op, workload, workload.dtypes.front()));
  std::vector<Tensor> tensors;
  for (const Operand& operand : call.operands) {
    if (!operand.present) {
      tensors.push_back(Tensor::Absent());
      continue;
    }
    const auto bytes = static_cast<size_t>(operand.desc.elements() * DTypeSize(operand.desc.dtype));
    TW_ASSIGN_OR_RETURN(void* const data, driver.Alloc(bytes));
    tensors.push_back({data, 0, operand.desc});
  }
  std::vector<NamedParam> params;
  for (size_t i = 0; i < call.params.size(); ++i) {
    params.push_back({op.params[i].name, call.params[i]});
  }
  const std::span<const Tensor> all(tensors);
  const auto inputs = static_cast<size_t>(op.input_count());
  TW_RETURN_IF_ERROR(runtime.Call(op.name, all.first(inputs), all.subspan(inputs), params));
  TW_RETURN_IF_ERROR(driver.SynchronizeContext());
  for (const Tensor& tensor : tensors) {
    if (!tensor.is_absent()) TW_RETURN_IF_ERROR(driver.Free(tensor.data));
  }
  return absl::OkStatus();
}

// Calls every operator once and ends the process: 0 where all ran and, if `warm`, nothing was
// compiled and NVRTC was not loaded.
[[noreturn]] void CallAllAndExit(const std::string& cache, bool warm) {
  RuntimeOptions options;
  options.cache_path = cache;
  options.driver = SystemDriver();
  options.logger = [](LogLevel, std::string_view) {};
  auto driver = options.driver;
  absl::Status status = driver->PushContext(driver->RetainPrimaryContext(0).value());
  auto runtime = Runtime::Open(std::move(options)).value();
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (MakeBuiltinRecipe(op.name) == nullptr) continue;
    if (status.ok()) status = CallFirstWorkload(*runtime, *driver, op);
  }
  const int64_t compiles = runtime->Counters().compiles;
  std::cerr << status << ", " << compiles << " compiles, NVRTC "
            << (LibraryIsMapped("libnvrtc") ? "loaded" : "not loaded") << "\n";
  const bool as_expected = warm ? compiles == 0 && !LibraryIsMapped("libnvrtc") : compiles > 0;
  _exit(status.ok() && as_expected ? 0 : 1);
}

// Guards the cost of a start on a real driver.
TEST(WarmStartGpuTest, NothingIsCompiledAndNvrtcIsNotLoaded) {
  if (const absl::Status status = SystemDriver()->Init(); !status.ok()) GTEST_SKIP() << status;
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a new process each
  const std::string folder = testing::TempDir() + "tilewright-warm-start-gpu";
  const std::string cache = folder + "/kernels.db";
  EXPECT_EXIT(
      {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        CallAllAndExit(cache, false);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(CallAllAndExit(cache, true), testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
