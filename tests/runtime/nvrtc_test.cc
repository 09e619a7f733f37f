// Compiling with the machine's NVRTC: determinism, headers in memory, log gates, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/compiler.h"
#include "runtime/cubin.h"
#include "tests/runtime/mapped_library.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CompileRequest ScaleRequest() {
  CompileRequest request;
  request.source =
      "#include \"math/scale.cuh\"\n"
      "struct Config { static constexpr int kFactor = 3; };\n";
  request.headers["math/scale.cuh"] =
      "#pragma once\n"
      "#include \"device/base.cuh\"\n"
      "namespace t { struct P { float* x; int n; };\n"
      "template <class C> __global__ void Scale(const __grid_constant__ P p) {\n"
      "  int i = Index(); if (i < p.n) p.x[i] *= C::kFactor; } }\n";
  request.headers["device/base.cuh"] =
      "#pragma once\nnamespace t { inline int Index() { return blockIdx.x * blockDim.x + "
      "threadIdx.x; } }\n";
  request.name_expression = "t::Scale<Config>";
  request.arch = "sm_90a";
  return request;
}

// Guards machines whose loader does not know the CUDA toolkit: NVRTC's built-ins are taken from
// beside it. A folder with NVRTC by a link and a copy of the built-ins shows which were loaded.
TEST(NvrtcTest, BuiltinsAreTakenFromBesideTheLibrary) {
  namespace fs = std::filesystem;
  const fs::path toolkit = "/usr/local/cuda/lib64";
  if (!fs::exists(toolkit / "libnvrtc.so.13")) GTEST_SKIP() << "no NVRTC in " << toolkit;
  const fs::path folder = fs::path(::testing::TempDir()) / "nvrtc-beside";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::create_symlink(toolkit / "libnvrtc.so.13", folder / "libnvrtc.so.13");
  for (const fs::directory_entry& entry : fs::directory_iterator(toolkit)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libnvrtc-builtins.so.13")) fs::copy(entry.path(), folder / name);
  }
  EXPECT_FALSE(LibraryIsMapped("nvrtc-beside/libnvrtc-builtins"));
  EXPECT_TRUE(NvrtcCompiler(folder)->Compile(ScaleRequest()).ok());
  EXPECT_TRUE(LibraryIsMapped("nvrtc-beside/libnvrtc-builtins"));
  fs::remove_all(folder);
}

// Guards: what a minimal compile leaves out is there for a source that needs it, and makes no
// difference to the code of one that does not.
TEST(NvrtcTest, MinimalCompilesLoseNothing) {
  CompileRequest request = ScaleRequest();
  const auto minimal = NvrtcCompiler()->Compile(request);
  ASSERT_TRUE(minimal.ok()) << minimal.status();
  request.minimal = false;
  EXPECT_TRUE(minimal->cubin == NvrtcCompiler()->Compile(request).value().cubin);

  request.source =
      "template <int> __global__ void Read(cudaTextureObject_t t, float* x) {\n"
      "  *x = tex1D<float>(t, 0.0f); }\n";
  request.name_expression = "Read<0>";
  request.minimal = true;
  const auto texture = NvrtcCompiler()->Compile(request);
  EXPECT_TRUE(texture.ok()) << texture.status();
}

// Guards: where the system refuses file handles, that is the reason which is told.
TEST(NvrtcTest, WhatKeepsItFromBeingLoadedIsTold) {
  const pid_t child = fork();
  if (child == 0) {
    const int next = dup(0);
    const rlimit none = {static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
    close(next);
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(1);
    const std::string folder = "/usr/local/cuda/lib64";
    const std::string why(NvrtcCompiler(folder)->Version().status().message());
    _exit(why.find(folder + ": cannot be searched: Too many open files") == std::string::npos ? 2
                                                                                              : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

// Guards: nested headers from memory, the lowered name, resources read from the cubin.
TEST(NvrtcTest, CompilesFromHeadersInMemory) {
  auto kernel = NvrtcCompiler()->Compile(ScaleRequest());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_THAT(kernel->lowered_name, HasSubstr("Scale"));
  EXPECT_THAT(kernel->compiler, ::testing::MatchesRegex("nvrtc [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_GT(kernel->registers, 3);
  EXPECT_EQ(kernel->spill_bytes, 0);
  EXPECT_THAT(kernel->gates, IsEmpty());
  EXPECT_GT(kernel->compile_ms, 0);
}

// Guards the ledger and the cache: one source gives one code, in every instance and thread. Where
// the loader does not know the toolkit, also that an instance finds the built-ins beside a library
// that another one has just loaded.
TEST(NvrtcTest, SameSourceGivesTheSameDigest) {
  auto compiler = NvrtcCompiler();
  std::vector<std::string> digests(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < digests.size(); ++i) {
    threads.emplace_back([&, i] {
      auto kernel = (i == 0 ? NvrtcCompiler() : compiler)->Compile(ScaleRequest());
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      digests[i] = CubinDigest(kernel->cubin).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(digests[0].size(), 32u);
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_EQ(digests[0], digests[2]);
}

// Guards: a compile error carries the log and the source, and leaves no file behind; a folder for
// such sources gets one file a source, however often it fails.
TEST(NvrtcTest, ErrorCarriesLogAndSource) {
  CompileRequest request = ScaleRequest();
  request.source += "int broken = undeclared_thing;\n";
  const auto error = [&](const std::string& folder) {
    const auto kernel = NvrtcCompiler("", {}, folder)->Compile(request);
    EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInternal);
    return std::string(kernel.status().message());
  };
  const std::string message = error("");
  EXPECT_THAT(message, HasSubstr("undeclared_thing"));
  EXPECT_THAT(message, HasSubstr("t::Scale<Config>"));
  EXPECT_THAT(message, testing::EndsWith("\nsource:\n" + request.source));
  const std::string folder = testing::TempDir() + "tilewright-failed-sources";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string kept = error(folder);
  EXPECT_EQ(error(folder), kept);
  const std::vector<std::filesystem::directory_entry> files(
      std::filesystem::directory_iterator(folder), {});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(kept, HasSubstr("\nsource: " + files[0].path().string() + "\n" + request.source));
  std::ifstream file(files[0].path());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, request.source);
  std::filesystem::remove_all(folder);
}

// Guards: a kernel that spills is marked.
TEST(NvrtcTest, SpillsAreGated) {
  CompileRequest request;
  request.source =
      "template <int N> __global__ void __launch_bounds__(1024) Spill(float* x) {\n"
      "  float v[N];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < N; ++i) v[i] = x[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < N; ++i) x[i * 1024 + threadIdx.x] = v[i] * v[N - 1 - i];\n}\n";
  request.name_expression = "Spill<128>";
  request.arch = "sm_80";
  auto kernel = NvrtcCompiler()->Compile(request);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GT(kernel->spill_bytes, 0);
  EXPECT_THAT(kernel->gates, Contains(StartsWith("spills")));
}

// Guards: setmaxnreg without a fixed register count is ignored by ptxas, and we notice.
TEST(NvrtcTest, IgnoredSetmaxnregIsGated) {
  CompileRequest request;
  request.source =
      "template <int N> __global__ void Regs(int* x) {\n"
      "  asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n  x[threadIdx.x] = N;\n}\n";
  request.name_expression = "Regs<1>";
  request.arch = "sm_90a";
  auto kernel = NvrtcCompiler()->Compile(request);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_THAT(kernel->gates, Contains("setmaxnreg ignored")) << kernel->log;
}

// Guards: no NVRTC is a plain error that says where it was sought.
TEST(NvrtcTest, MissingLibraryNamesThePath) {
  auto compiler = NvrtcCompiler("/nonexistent/libnvrtc.so.13");
  auto version = compiler->Version();
  ASSERT_EQ(version.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(version.status().message()), HasSubstr("/nonexistent/libnvrtc.so.13"));
}

// Guards against taking a compiler that ran out of memory for a source that does not compile: such
// an error is not remembered.
TEST(NvrtcTest, WantOfMemoryIsNotTheSources) {
  const std::shared_ptr<Compiler> compiler = NvrtcCompiler(TILEWRIGHT_OTHER_NVRTC);
  for (const char* code : {"1", "7"}) {  // out of memory; the built-ins cannot be read
    setenv("TILEWRIGHT_TEST_NVRTC_FAILS", code, 1);
    EXPECT_EQ(compiler->Compile(ScaleRequest()).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
  setenv("TILEWRIGHT_TEST_NVRTC_FAILS", "6", 1);
  EXPECT_EQ(compiler->Compile(ScaleRequest()).status().code(), absl::StatusCode::kInternal);
  unsetenv("TILEWRIGHT_TEST_NVRTC_FAILS");
  EXPECT_TRUE(compiler->Compile(ScaleRequest()).ok());
}

}  // namespace
}  // namespace tilewright
