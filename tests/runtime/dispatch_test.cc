// From a call to a launch: hits, plans, parameters, streams, devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <thread>

#include "manifest/status.h"
#include "tests/runtime/allocation_count.h"
#include "tests/runtime/noop_driver.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class DispatchTest : public RuntimeFixture {};

// Guards: the second identical call neither resolves nor compiles nor loads, and launches the same.
TEST_F(DispatchTest, SecondCallIsAnExactHit) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(Scale(8).ok());
  const RuntimeCounters counters = runtime_->Counters();
  EXPECT_EQ(counters.exact_hits, 1);
  EXPECT_EQ(counters.misses, 1);
  EXPECT_EQ(counters.compiles, 1);
  EXPECT_EQ(counters.loaded_kernels, 1);
  const std::vector<FakeLaunch> launches = driver_->Launches();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[1].shape.grid[0], 4u);  // 8 * 64 elements by 128 threads
  EXPECT_EQ(launches[0].kernel, launches[1].kernel);
}

// Guards: parameters carry this call's pointers, extents and factor.
TEST_F(DispatchTest, ParametersArePatchedPerCall) {
  Open();
  MakeCurrent();
  std::vector<ScaleParams> seen;
  driver_->OnLaunch([&](const FakeLaunch&, void** params) {
    ScaleParams value;
    std::memcpy(&value, params[0], sizeof(value));
    seen.push_back(value);
  });
  for (const size_t shift : {0, 512}) {
    const Tensor x = Tensor::Contiguous(base_ + shift, DType::kFloat32, {3, 5});
    const Tensor y = Tensor::Contiguous(base_ + 4096 + shift, DType::kFloat32, {3, 5});
    const NamedParam factor{"factor", 3.5};
    ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {&factor, 1}).ok());
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(runtime_->Counters().exact_hits, 1);
  EXPECT_EQ(seen[0].x, base_);
  EXPECT_EQ(seen[1].x, base_ + 512);
  EXPECT_EQ(seen[1].output, base_ + 4096 + 512);
  EXPECT_EQ(seen[1].count, 15);
  EXPECT_EQ(seen[1].factor, 3.5f);
}

// Guards: a tensor map holds the address of this very call; also where the driver keeps it in
// another place than the first word, or in two, so that it has to encode every map.
TEST_F(DispatchTest, TensorMapsFollowThePointers) {
  class OtherEncoding : public FakeDriver {
   public:
    absl::Status EncodeTensorMap(const TensorMapShape& shape, void* map) override {
      TW_RETURN_IF_ERROR(FakeDriver::EncodeTensorMap(shape, map));
      const uint64_t high = shape.address >> 40;
      std::memcpy(static_cast<std::byte*>(map) + 64, &high, sizeof(high));
      return absl::OkStatus();
    }
  };
  for (const bool patched : {true, false}) {
    runtime_.reset();
    driver_ = patched ? std::make_shared<FakeDriver>() : std::make_shared<OtherEncoding>();
    Open();
    MakeCurrent();
    std::vector<std::array<uint64_t, 16>> maps;
    driver_->OnLaunch([&](const FakeLaunch&, void** params) {
      std::memcpy(maps.emplace_back().data(), params[0], 128);
    });
    CallOptions options;
    options.workspace = base_ + (1 << 18);
    options.workspace_bytes = 1024;
    std::vector<uint64_t> addresses;
    std::byte* const base = base_;
    for (int i = 0; i < 3; ++i) {
      addresses.push_back(reinterpret_cast<uint64_t>(base_));
      ASSERT_TRUE(Sum(options).ok());
      base_ += 512;
    }
    base_ = base;
    ASSERT_EQ(maps.size(), 6u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(maps[2 * i][0], addresses[i]);
      EXPECT_EQ(maps[2 * i][8], patched ? 0 : addresses[i] >> 40);
    }
    EXPECT_EQ(runtime_->Counters().exact_hits, 2);
  }
}

// Guards: a different parameter value is another call, not a hit on the first.
TEST_F(DispatchTest, ParamsAreKeyed) {
  Open();
  MakeCurrent();
  std::vector<float> factors;
  driver_->OnLaunch([&](const FakeLaunch&, void** params) {
    factors.push_back(static_cast<const ScaleParams*>(params[0])->factor);
  });
  const Tensor x = X(2, 4);
  const Tensor y = Y(2, 4);
  for (const double value : {1.0, 2.0, 1.0}) {
    const NamedParam factor{"factor", value};
    ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {&factor, 1}).ok());
  }
  EXPECT_THAT(factors, ::testing::ElementsAre(1.0f, 2.0f, 1.0f));
}

// Guards the budget: a hit allocates nothing on the host, with tensor maps and workspace given too.
TEST_F(DispatchTest, HitAllocatesNothing) {
  auto noop = std::make_shared<NoopDriver>();
  RuntimeOptions options = Options();
  options.driver = noop;
  Open(options);
  ASSERT_TRUE(noop->PushContext(noop->PrimaryContext(0)).ok());
  const OpHandle scale = runtime_->Find("ScaleTestOp").value();
  const OpHandle sum = runtime_->Find("SumTestOp").value();
  const Tensor x = X(8, 64);
  const Tensor y = Y(8, 64);
  const Tensor total = Tensor::Contiguous(base_ + (1 << 19), DType::kFloat32, {1});
  const NamedParam factor{"factor", 2.5};
  CallOptions with_workspace;
  with_workspace.workspace = base_ + (1 << 18);
  with_workspace.workspace_bytes = 1024;
  const auto call_both = [&] {
    ASSERT_TRUE(runtime_->Call(scale, {&x, 1}, {&y, 1}, {&factor, 1}).ok());
    ASSERT_TRUE(runtime_->Call(sum, {&x, 1}, {&total, 1}, {}, with_workspace).ok());
  };
  call_both();
  call_both();
  const int64_t before = AllocationsOfThisThread();
  for (int i = 0; i < 100; ++i) call_both();
  EXPECT_EQ(AllocationsOfThisThread(), before);
  EXPECT_EQ(runtime_->Counters().exact_hits, 202);
}

// Guards: one launch call a launch, at most one capture query, no tensor map encoded, for pointers
// that are new too; where there is one device, nothing is asked of streams and contexts.
TEST_F(DispatchTest, HitMakesFewDriverCalls) {
  driver_ = std::make_shared<FakeDriver>();
  Open();
  MakeCurrent();
  const CudaStream stream = driver_->NewStream(0);
  CallOptions options;
  options.stream = stream;
  options.workspace = base_ + (1 << 18);
  options.workspace_bytes = 1024;
  ASSERT_TRUE(Sum(options).ok());
  const int queries = driver_->Calls("StreamCapture");
  const int launches = driver_->Calls("Launch");
  const int maps = driver_->Calls("EncodeTensorMap");
  base_ += 4096;
  ASSERT_TRUE(Sum(options).ok());
  EXPECT_EQ(driver_->Calls("StreamCapture"), queries + 1);
  EXPECT_EQ(driver_->Calls("Launch"), launches + 2);
  EXPECT_EQ(driver_->Calls("EncodeTensorMap"), maps);
  EXPECT_EQ(driver_->Calls("StreamContext"), 0);
  EXPECT_EQ(driver_->Calls("CurrentDevice"), 0);
}

// Guards: where there are several devices, a hit asks once more: whose the stream is.
TEST_F(DispatchTest, HitAmongSeveralDevicesAsksForTheStream) {
  Open();
  MakeCurrent();
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(4, 64, stream).ok());
  const std::map<std::string, int> before = driver_->CallsByMethod();
  ASSERT_TRUE(Scale(4, 64, stream).ok());
  std::map<std::string, int> made = driver_->CallsByMethod();
  for (const auto& [method, calls] : before) {
    if ((made[method] -= calls) == 0) made.erase(method);
  }
  EXPECT_EQ(made, (std::map<std::string, int>{
                      {"StreamContext", 1}, {"StreamCapture", 1}, {"Launch", 1}}));
}

// Guards: a handle made again on a device that was never used here is of that device, and so is the
// default stream of its context: calls on memory of the first device are refused.
TEST_F(DispatchTest, StreamsOfADeviceThatWasNeverUsed) {
  Open();
  MakeCurrent(0);
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(4, 64, stream).ok());
  ASSERT_TRUE(Scale(4).ok());
  driver_->ReuseStreamHandle(stream, 1);
  const absl::Status reused = Scale(4, 64, stream);
  EXPECT_EQ(reused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(reused.message()),
              HasSubstr("stream: expected one of device 0, where the tensors are, got one of "
                        "device 1"));
  MakeCurrent(1);
  const absl::Status elsewhere = Scale(4);
  EXPECT_EQ(elsewhere.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(elsewhere.message()), HasSubstr("got one of device 1"));
  EXPECT_EQ(driver_->Launches().size(), 2u);
  EXPECT_EQ(driver_->ContextDepth(), 2);
}

// Guards: a new shape in a known bucket reuses its plan: no compile, no load, own geometry.
TEST_F(DispatchTest, NewShapeOfAKnownProblemUsesItsPlan) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(60).ok());
  ASSERT_TRUE(Scale(61).ok());
  const RuntimeCounters counters = runtime_->Counters();
  EXPECT_EQ(counters.compiles, 1);
  EXPECT_EQ(counters.misses, 1);
  EXPECT_EQ(counters.plan_hits, 1);
  EXPECT_EQ(driver_->Launches()[1].shape.grid[0], 31u);  // ceil(61 * 64 / 128)
}

// Guards: a thousand batch sizes share few kernels; exact calls and plans stay bounded.
TEST_F(DispatchTest, ManyBatchSizesCompileOneKernel) {
  RuntimeOptions options = Options();
  options.max_exact_calls = 64;
  Open(options);
  MakeCurrent();
  for (int64_t rows = 1; rows <= 1000; ++rows) ASSERT_TRUE(Scale(rows).ok());
  EXPECT_EQ(runtime_->Counters().compiles, 1);
  EXPECT_EQ(runtime_->Counters().misses, 11);  // buckets 1 to 1024
}

// Guards: the stream's context decides; a null stream uses the current context's device.
TEST_F(DispatchTest, StreamAndDeviceMustAgree) {
  Open();
  MakeCurrent(0);
  const absl::Status wrong = Scale(4, 64, driver_->NewStream(1), 0);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong.message()),
              HasSubstr("ScaleTestOp: stream: expected one of device 0"));
  const absl::Status null_stream = Scale(4, 64, nullptr, 1);
  EXPECT_EQ(null_stream.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(Scale(4, 64, driver_->NewStream(1), 1).ok());
  EXPECT_EQ(driver_->Launches().back().device, 1);
  EXPECT_EQ(runtime_->Counters().loaded_kernels, 2);  // one a device
  EXPECT_EQ(runtime_->Counters().compiles, 1);        // one an architecture
  EXPECT_EQ(driver_->ContextDepth(), 1);
}

// Guards: a handle that was destroyed, and made again on another device, is of that device: right
// calls run there, and wrong ones are refused, whichever device knew the handle before.
TEST_F(DispatchTest, ReusedStreamHandlesAreOfTheirNewDevice) {
  Open();
  MakeCurrent(0);
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(4, 64, stream, 0).ok());
  driver_->ReuseStreamHandle(stream, 1);
  const absl::Status first = Scale(4, 64, stream, 1);
  ASSERT_TRUE(first.ok()) << first;
  EXPECT_EQ(driver_->Launches().back().device, 1);
  const absl::Status wrong = Scale(4, 64, stream, 0);
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("stream: expected one of device 0"));
  driver_->ReuseStreamHandle(stream, 0);
  EXPECT_THAT(std::string(Scale(4, 64, stream, 1).message()),
              HasSubstr("stream: expected one of device 1"));
  ASSERT_TRUE(Scale(4, 64, stream, 0).ok());
  EXPECT_EQ(driver_->Launches().back().device, 0);
  driver_->ReuseStreamHandle(stream, 1);
  EXPECT_THAT(std::string(Scale(4, 64, stream, 0).message()),
              HasSubstr("stream: expected one of device 0"));
  EXPECT_EQ(driver_->Launches().size(), 3u);
}

// Guards: a fresh thread, with no context of its own, launches and is left as it was.
TEST_F(DispatchTest, ThreadWithoutContextLaunches) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(4).ok());
  absl::Status status;
  int depth = -1;
  const CudaStream stream = driver_->NewStream(0);
  std::thread([&] {
    status = Scale(4);
    if (status.ok()) status = Scale(4, 64, stream);
    depth = driver_->ContextDepth();
  }).join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(driver_->Launches().size(), 3u);
}

// Guards, where there is one device, the default stream of a thread without a context, with a
// workspace too.
TEST_F(DispatchTest, ThreadWithoutContextOnTheOnlyDevice) {
  driver_ = std::make_shared<FakeDriver>();
  Open();
  absl::Status scale;
  absl::Status sum;
  int depth = -1;
  std::thread([&] {
    for (int i = 0; i < 2; ++i) {
      scale.Update(Scale(4));
      sum.Update(Sum());
    }
    depth = driver_->ContextDepth();
  }).join();
  EXPECT_TRUE(scale.ok()) << scale;
  EXPECT_TRUE(sum.ok()) << sum;
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(driver_->Launches().size(), 6u);
  EXPECT_EQ(driver_->LiveAllocations(), 0);
}

// Guards: without elements nothing is launched, built or asked of the device.
TEST_F(DispatchTest, ZeroElementsLaunchNothing) {
  Open();
  const Tensor x = Tensor::Contiguous(nullptr, DType::kFloat32, {0, 64});
  const Tensor y = Tensor::Contiguous(nullptr, DType::kFloat32, {0, 64});
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());
  EXPECT_TRUE(driver_->Launches().empty());
  EXPECT_EQ(runtime_->Counters().compiles, 0);
}

// Guards: workspace is the caller's when given, else stream-ordered memory that is given back.
TEST_F(DispatchTest, WorkspaceIsTheCallersWhenGiven) {
  Open();
  MakeCurrent();
  const void* seen = nullptr;
  driver_->OnLaunch([&](const FakeLaunch&, void** params) {
    std::memcpy(&seen, static_cast<std::byte*>(params[0]) + 136, sizeof(seen));
  });
  CallOptions options;
  options.workspace = base_ + (1 << 18);
  options.workspace_bytes = 512;
  const absl::Status small = Sum(options);
  EXPECT_EQ(small.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(small.message()), HasSubstr("expected at least 1024 bytes, got 512"));
  options.workspace_bytes = 1024;
  options.workspace = base_ + (1 << 18) + 16;
  EXPECT_EQ(Sum(options).code(), absl::StatusCode::kInvalidArgument);
  options.workspace = base_ + (1 << 18);
  std::vector<const void*> outs;
  driver_->OnLaunch([&](const FakeLaunch&, void** params) {
    const void* out = nullptr;
    std::memcpy(&out, static_cast<std::byte*>(params[0]) + 136, sizeof(out));
    outs.push_back(out);
  });
  ASSERT_TRUE(Sum(options).ok());
  EXPECT_EQ(outs.at(0), options.workspace);
  EXPECT_EQ(driver_->Calls("AllocAsync"), 0);
  ASSERT_TRUE(Sum().ok());
  EXPECT_EQ(driver_->Calls("AllocAsync"), 1);
  EXPECT_EQ(driver_->LiveAllocations(), 0);
}

// Guards: Prepare resolves without launching, and the real call is then a hit.
TEST_F(DispatchTest, PreparedCallIsAHit) {
  Open();
  MakeCurrent();
  const Tensor x = Tensor::Contiguous(nullptr, DType::kFloat32, {8, 64});
  ASSERT_TRUE(runtime_->Prepare("ScaleTestOp", {&x, 1}, {&x, 1}).ok());
  EXPECT_TRUE(driver_->Launches().empty());
  EXPECT_EQ(runtime_->Counters().compiles, 1);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().exact_hits, 1);
  const Tensor m = Tensor::Contiguous(nullptr, DType::kFloat32, {8, 64});
  const Tensor one = Tensor::Contiguous(nullptr, DType::kFloat32, {1});
  EXPECT_EQ(runtime_->WorkspaceBytes("SumTestOp", {&m, 1}, {&one, 1}).value(), 1024);
}

// Guards: what is not tuned is said once a problem.
TEST_F(DispatchTest, UntunedProblemsAreSaidOnce) {
  Open();
  MakeCurrent();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(Scale(7).ok());
  ASSERT_EQ(Log().size(), 1u);
  EXPECT_THAT(Log()[0], HasSubstr("ScaleTestOp {\"rows\":8,\"inner\":64,\"dense\":1}"));
  EXPECT_THAT(Log()[0], HasSubstr("runs the default"));
}

// Guards: more than 2^31 elements pass 64-bit counts and a legal grid.
TEST_F(DispatchTest, HugeTensorsWork) {
  Open();
  MakeCurrent();
  int64_t count = 0;
  driver_->OnLaunch([&](const FakeLaunch&, void** params) {
    count = static_cast<const ScaleParams*>(params[0])->count;
  });
  const Tensor x = Tensor::Contiguous(base_, DType::kFloat32, {3, int64_t{1} << 30});
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&x, 1}).ok());  // in place
  EXPECT_EQ(count, int64_t{3} << 30);
}

}  // namespace
}  // namespace tilewright
