// Every malformed call is a status that names op and argument, and launches nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class BadInputTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    Open();
    MakeCurrent();
  }
  // Calls ScaleTestOp; expects `code` and `words`, and no launch.
  void Expect(absl::StatusCode code, std::string_view words, std::vector<Tensor> inputs,
              std::vector<Tensor> outputs, std::vector<NamedParam> params = {}) {
    const size_t launches = driver_->Launches().size();
    // Twice: an error is never remembered as a hit.
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = runtime_->Call("ScaleTestOp", inputs, outputs, params);
      EXPECT_EQ(status.code(), code) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(words)));
      EXPECT_THAT(std::string(status.message()), HasSubstr("ScaleTestOp"));
    }
    EXPECT_EQ(driver_->Launches().size(), launches);
  }
  void Refused(std::string_view words, std::vector<Tensor> inputs, std::vector<Tensor> outputs,
               std::vector<NamedParam> params = {}) {
    Expect(absl::StatusCode::kInvalidArgument, words, std::move(inputs), std::move(outputs),
           std::move(params));
  }
};

// Guards: a number among the options that is out of range is refused by name, never thrown over.
TEST_F(BadInputTest, OptionsOutOfRange) {
  using Number = int64_t RuntimeOptions::*;
  const std::pair<Number, std::string> numbers[] = {
      {&RuntimeOptions::max_exact_calls, "max_exact_calls: expected 1 to 1048576, got "},
      {&RuntimeOptions::max_loaded_kernels, "max_loaded_kernels: expected 1 to "},
      {&RuntimeOptions::cache_max_bytes, "cache_max_bytes: expected 0 to "}};
  const auto refused = [this](Number number, int64_t value, const std::string& words) {
    RuntimeOptions options = Options();
    options.*number = value;
    const absl::Status status = Runtime::Open(std::move(options)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    EXPECT_THAT(std::string(status.message()), HasSubstr("got " + std::to_string(value)));
  };
  for (const auto& [number, words] : numbers) refused(number, -1, words);
  refused(numbers[0].first, 0, numbers[0].second);
  refused(numbers[1].first, 0, numbers[1].second);
  for (const int shift : {21, 33, 62}) {
    refused(numbers[0].first, (int64_t{1} << shift) + 1, numbers[0].second);
  }
  RuntimeOptions most = Options();
  most.max_exact_calls = int64_t{1} << 20;
  EXPECT_TRUE(Runtime::Open(std::move(most)).ok());
}

// Guards: a policy that is none, and a path that would end at its NUL, are refused by name.
TEST_F(BadInputTest, OptionsOfNoMeaning) {
  const auto refused = [this](const std::function<void(RuntimeOptions&)>& change,
                              const std::string& words) {
    RuntimeOptions options = Options();
    change(options);
    const absl::Status status = Runtime::Open(std::move(options)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  };
  const std::string nul("/tmp/a\0b", 8);
  refused([](RuntimeOptions& options) { options.tuning = static_cast<TuningPolicy>(77); },
          "tuning: expected 0 to 2, got 77");
  refused([](RuntimeOptions& options) { options.capture_miss = static_cast<CaptureMiss>(77); },
          "capture_miss: expected 0 to 2, got 77");
  refused([&](RuntimeOptions& options) { options.cache_path = nul; },
          "cache_path: expected a path, got one with a NUL after '/tmp/a'");
  refused([&](RuntimeOptions& options) { options.seed_caches = {nul}; }, "seed_caches");
  refused([&](RuntimeOptions& options) { options.template_dir = nul; }, "template_dir");
}

// Guards: a folder without templates overrides nothing, so it is a mistake.
TEST_F(BadInputTest, TemplateFolderWithoutTemplates) {
  char folder[] = "/tmp/tilewright-templates-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto open = [&] {
    RuntimeOptions options = Options();
    options.template_dir = folder;
    return Runtime::Open(std::move(options)).status();
  };
  EXPECT_EQ(open().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(open().message()), HasSubstr(std::string(folder) + ": expected .cuh"));
  std::ofstream(std::string(folder) + "/own.cuh") << "// one\n";
  EXPECT_EQ(open(), absl::OkStatus());
  std::filesystem::remove_all(folder);
}

TEST_F(BadInputTest, UnknownOperator) {
  const Tensor x = X(2, 2);
  const absl::Status status = runtime_->Call("NoSuchOp", {&x, 1}, {&x, 1});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'NoSuchOp'"));
  EXPECT_EQ(runtime_->Call(OpHandle(), {&x, 1}, {&x, 1}).code(), absl::StatusCode::kNotFound);
}

TEST_F(BadInputTest, UnknownOrWrongParameter) {
  Refused("unknown parameter 'facto'; it has factor", {X(2, 2)}, {Y(2, 2)}, {{"facto", 1.0}});
  Refused("parameter 'factor': expected float, got (1, 2)", {X(2, 2)}, {Y(2, 2)},
          {{"factor", Dims{1, 2}}});
  Refused("parameter 'factor' is given twice", {X(2, 2)}, {Y(2, 2)},
          {{"factor", 1.0}, {"factor", 2.0}});
}

TEST_F(BadInputTest, WrongCount) {
  Refused("expected 1 inputs (x), got 0", {}, {Y(2, 2)});
  Refused("expected 1 outputs (output), got 0", {X(2, 2)}, {});
  Refused("expected 1 inputs (x), got 2", {X(2, 2), X(2, 2)}, {Y(2, 2)});
  const std::vector<Tensor> many(40, X(2, 2));
  Refused("got 41", many, {Y(2, 2)});
}

TEST_F(BadInputTest, WrongDType) {
  Tensor x = X(2, 2);
  x.desc.dtype = DType::kInt32;
  Refused("input 'x': expected dtype float16, bfloat16 or float32, got int32", {x}, {Y(2, 2)});
  Tensor y = Y(2, 2);
  y.desc.dtype = DType::kFloat16;
  Refused("output 'output': expected dtype float32 (that of 'x'), got float16", {X(2, 2)}, {y});
}

TEST_F(BadInputTest, WrongShapeOrRank) {
  Refused("output 'output': expected shape (2, 2), got (2, 3)", {X(2, 2)}, {Y(2, 3)});
  Tensor x = X(2, 2);
  x.desc.strides = {1};
  Refused("input 'x': expected 2 strides for shape (2, 2), got (1,)", {x}, {Y(2, 2)});
  const Tensor vector = Tensor::Contiguous(base_, DType::kFloat32, {4});
  const Tensor one = Tensor::Contiguous(base_ + 4096, DType::kFloat32, {1});
  const absl::Status rank = runtime_->Call("SumTestOp", {&vector, 1}, {&one, 1});
  EXPECT_EQ(rank.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(rank.message()), "SumTestOp: input 'x': expected shape [M, N], got (4,)");
}

// The check runs on hits, too: pointers are not part of what was validated before.
TEST_F(BadInputTest, OverlapOfInputAndOutput) {
  ASSERT_TRUE(Scale(2, 2).ok());
  Tensor y = X(2, 2);
  y.data = base_ + 256;
  Tensor x = X(2, 2);
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());
  x = X(64, 64);
  y = X(64, 64);
  y.data = base_ + (1 << 18);
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());
  y.data = base_ + 256;
  Refused("'output' must not share memory with 'x' unless pointer and layout are the same; got ",
          {x}, {y});
  y.data = base_;
  EXPECT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());  // in place
}

// Guards: in place means the same elements; strides of extent 1 move none.
TEST_F(BadInputTest, InPlaceWithOtherUnusedStrides) {
  Tensor x = X(1, 64);
  Tensor y = x;
  y.desc.strides = {4096, 1};
  EXPECT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}).ok());
  EXPECT_EQ(driver_->Launches().size(), 1);
}

// Guards: a ninth dimension is refused, also after a call that looks alike without it.
TEST_F(BadInputTest, MoreDimensionsThanFit) {
  const Dims eight = {1, 1, 1, 1, 1, 1, 1, 64};
  const Dims nine = {1, 1, 1, 1, 1, 1, 1, 64, 2};
  const auto add = [&](const Dims& shape) {
    const Tensor x = Tensor::Contiguous(base_, DType::kFloat32, shape);
    const Tensor y = Tensor::Contiguous(base_ + (1 << 19), DType::kFloat32, shape);
    const Tensor inputs[] = {x, x};
    return runtime_->Call("AddFwdOp", inputs, {&y, 1});
  };
  ASSERT_TRUE(add(eight).ok()) << add(eight);
  const absl::Status status = add(nine);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected at most 8 dimensions"));
}

// Guards: values that no enumerator or device has are refused before anything looks them up.
TEST_F(BadInputTest, DTypeOrDeviceThatDoesNotExist) {
  Tensor x = X(2, 2);
  x.desc.dtype = static_cast<DType>(200);
  Refused("'x': expected a dtype, got the value 200", {x}, {Y(2, 2)});
  Refused("'x': device -2 does not exist", {X(2, 2, -2)}, {Y(2, 2)});
  Refused("'output': device -7 does not exist", {X(2, 2)}, {Y(2, 2, -7)});
}

TEST_F(BadInputTest, NullPointerWithElements) {
  Tensor x = X(2, 2);
  x.data = nullptr;
  Refused("'x': expected a pointer to (2, 2) elements, got null", {x}, {Y(2, 2)});
  Tensor y = Y(2, 2);
  y.data = nullptr;
  Refused("'output': expected a pointer to (2, 2) elements, got null", {X(2, 2)}, {y});
  Refused("input 'x': expected a tensor, got none", {Tensor::Absent()}, {Y(2, 2)});
}

TEST_F(BadInputTest, PointerNotAlignedToItsElements) {
  Tensor x = X(2, 2);
  x.data = base_ + 2;
  Refused("aligned to 4 bytes (float32)", {x}, {Y(2, 2)});
}

TEST_F(BadInputTest, TensorsOfSeveralDevices) {
  Refused("expected a tensor of device 0 as 'x', got one of device 1", {X(2, 2, 0)}, {Y(2, 2, 1)});
  const absl::Status status = Scale(2, 2, nullptr, 7);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("device 7 does not exist"));
}

// The first call of a shape asks the driver; memory that it does not know is the caller's affair.
TEST_F(BadInputTest, FirstUseOfMemoryOnAnotherDevice) {
  driver_->OwnMemory(base_, 1 << 18, 0);
  driver_->OwnMemory(base_ + (1 << 19), 1 << 18, 1);
  const absl::Status other = Scale(2, 2);
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("'output': expected memory of device 0, got memory of device 1"));
  EXPECT_TRUE(driver_->Launches().empty());
  driver_->OwnMemory(base_ + (1 << 19), 1 << 18, 0);
  EXPECT_TRUE(Scale(2, 2).ok());
}

// With check_pointers the driver is asked, on hits too.
TEST_F(BadInputTest, PointerOnAnotherDevice) {
  RuntimeOptions options = Options();
  options.check_pointers = true;
  Open(options);
  driver_->OwnMemory(base_, 1 << 18, 0);
  driver_->OwnMemory(base_ + (1 << 19), 1 << 18, 0);
  ASSERT_TRUE(Scale(2, 2).ok());
  driver_->OwnMemory(base_ + (1 << 19), 1 << 18, 1);
  const absl::Status other = Scale(2, 2);
  EXPECT_EQ(other.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("'output': expected memory of device 0, got memory of device 1"));
  Tensor y = Y(2, 2);
  y.data = base_ + (1 << 18) + (1 << 17);
  Refused("which the driver does not know", {X(2, 2)}, {y});
}

TEST_F(BadInputTest, LayoutThatNoVariantServes) {
  Tensor x = X(4, 4);
  x.desc.strides = {8, 2};
  Expect(absl::StatusCode::kFailedPrecondition, "scale: needs dense tensors", {x}, {Y(4, 4)});
}

TEST_F(BadInputTest, OperatorWithoutKernels) {
  CustomOp spec_only = ScaleAndSumOps();
  spec_only.recipe = nullptr;
  const absl::Status status = runtime_->Register(spec_only);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("implemented, but no recipe"));
  EXPECT_EQ(runtime_->Register(ScaleAndSumOps()).code(), absl::StatusCode::kAlreadyExists);
}

// Guards: an architecture that no template serves is named, with what each variant needs.
TEST_F(BadInputTest, ArchitectureWithoutATemplate) {
  FakeDevice volta;
  volta.compute_major = 7;
  driver_ = std::make_shared<FakeDriver>(std::vector<FakeDevice>{volta});
  Open();
  MakeCurrent();
  const auto refused = [this](std::string_view op, const std::vector<Dims>& shapes,
                              const std::vector<NamedParam>& params = {}) {
    std::vector<Tensor> inputs;
    for (const Dims& shape : shapes) {
      inputs.push_back(Tensor::Contiguous(base_, DType::kFloat16, shape));
    }
    const Tensor output = Tensor::Contiguous(base_ + (1 << 19), DType::kFloat16, {8, 8});
    const absl::Status status = runtime_->Call(op, inputs, {&output, 1}, params);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("no kernel serves " + std::string(op)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("(sm_70): "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("sm_80"));
  };
  refused("AddFwdOp", {{8, 8}, {8}});
  refused("SoftmaxFwdOp", {{8, 8}});
  refused("SiluAndMulFwdOp", {{8, 16}});
  refused("RMSNormFwdOp", {{8, 8}, {8}}, {{"normalized_shape", Dims{8}}});
  refused("GemmFwdOp", {{8, 8}, {8, 8}});
  EXPECT_TRUE(driver_->Launches().empty());
}

TEST_F(BadInputTest, NoDriver) {
  RuntimeOptions options = Options();
  options.driver = SystemDriver("/nonexistent/libcuda.so.1");
  Open(options);
  const absl::Status status = Scale(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_EQ(runtime_->Device(0).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(BadInputTest, NoCompiler) {
  RuntimeOptions options = Options();
  options.compiler = NvrtcCompiler("/nonexistent/libnvrtc.so.13");
  Open(options);
  const absl::Status status = Scale(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/libnvrtc.so.13"));
}

// Works, uncached, with one warning.
TEST_F(BadInputTest, CachePathThatCannotBeWritten) {
  RuntimeOptions options = Options();
  options.cache_path = "/proc/tilewright/kernels.db";
  Open(options);
  EXPECT_TRUE(Scale(2).ok());
  EXPECT_TRUE(Scale(2).ok());
  int warnings = 0;
  for (const std::string& line : Log()) warnings += line.find("/proc/tilewright") != line.npos;
  EXPECT_EQ(warnings, 1);
}

TEST_F(BadInputTest, StrictModeNamesTheKernelAndTheCure) {
  RuntimeOptions options = Options();
  options.strict = true;
  Open(options);
  const absl::Status status = Scale(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("strict mode: kernel test::ScaleKernel"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tilewright warm --arch sm_90a --op ScaleTestOp"));
  EXPECT_EQ(compiler_->compiles(), 0);
}

}  // namespace
}  // namespace tilewright
