#include "runtime/cubin.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace tilewright {
namespace {

std::string Fixture(const std::string& name) {
  std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/runtime/cubins/" + name,
                     std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Guards: every figure equals what ptxas -v printed for the fixture.
TEST(CubinTest, ReadsWhatPtxasPrintedForHopper) {
  const absl::StatusOr<CubinInfo> info = ReadCubin(Fixture("inspect_sm90a.cubin"));
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->kernels.size(), 2);
  const CubinKernel* shared = info->Find("Shared");
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->registers, 12);
  EXPECT_EQ(shared->static_smem_bytes, 1024);
  EXPECT_EQ(shared->stack_bytes, 0);
  EXPECT_EQ(shared->spill_bytes(), 0);
  EXPECT_EQ(shared->param_bytes, 24);
  EXPECT_EQ(shared->max_threads, 0);
  const CubinKernel* spills = info->Find("Spills");
  ASSERT_NE(spills, nullptr);
  EXPECT_EQ(spills->registers, 32);
  EXPECT_EQ(spills->static_smem_bytes, 0);
  EXPECT_EQ(spills->stack_bytes, 80);
  EXPECT_EQ(spills->spill_store_bytes, 92);
  EXPECT_EQ(spills->spill_load_bytes, 92);
  EXPECT_EQ(spills->max_threads, 1024);
  EXPECT_EQ(info->Find("Absent"), nullptr);
}

// Guards: the older ELF layout, with vector spills and no reserved shared memory.
TEST(CubinTest, ReadsWhatPtxasPrintedForAmpere) {
  const absl::StatusOr<CubinInfo> info = ReadCubin(Fixture("inspect_sm80.cubin"));
  ASSERT_TRUE(info.ok()) << info.status();
  const CubinKernel* shared = info->Find("Shared");
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->registers, 12);
  EXPECT_EQ(shared->static_smem_bytes, 1024);
  const CubinKernel* spills = info->Find("Spills");
  ASSERT_NE(spills, nullptr);
  EXPECT_EQ(spills->registers, 32);
  EXPECT_EQ(spills->stack_bytes, 80);
  EXPECT_EQ(spills->spill_store_bytes, 76);
  EXPECT_EQ(spills->spill_load_bytes, 76);
}

// Guards: a truncated file is an error or a consistent read, never an out-of-range access.
TEST(CubinTest, TruncationNeverCrashes) {
  const std::string whole = Fixture("inspect_sm90a.cubin");
  ASSERT_GT(whole.size(), 1000);
  for (size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 37) {
    const std::string cut = whole.substr(0, size);
    const absl::StatusOr<CubinInfo> info = ReadCubin(cut);
    if (info.ok()) {
      EXPECT_EQ(info->kernels.size(), 2);
      EXPECT_TRUE(CubinDigest(cut).ok());
    } else {
      EXPECT_EQ(info.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
  EXPECT_FALSE(ReadCubin("").ok());
  EXPECT_FALSE(ReadCubin(std::string(4096, '\xff')).ok());
}

// Guards: random corruption of headers and attributes never crashes (run under the sanitizers).
TEST(CubinTest, CorruptionNeverCrashes) {
  const std::string whole = Fixture("inspect_sm90a.cubin");
  std::mt19937 random(7);
  int rejected = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + round % 8; ++i) {
      // Half of the hits go to the ELF header and the section table at the end.
      const size_t region = round % 2 == 0 ? random() % 64 : bytes.size() - 1 - random() % 2400;
      bytes[round % 4 < 2 ? region : random() % bytes.size()] = static_cast<char>(random());
    }
    rejected += ReadCubin(bytes).ok() ? 0 : 1;
    (void)CubinDigest(bytes);
  }
  EXPECT_GT(rejected, 100);
}

// Guards: the digest sees a changed instruction or constant but not a changed note.
TEST(CubinTest, DigestCoversCodeAndNotNotes) {
  const std::string whole = Fixture("inspect_sm90a.cubin");
  const absl::StatusOr<std::string> digest = CubinDigest(whole);
  ASSERT_TRUE(digest.ok());
  EXPECT_EQ(digest->size(), 32);
  EXPECT_EQ(*CubinDigest(whole), *digest);
  EXPECT_NE(*CubinDigest(Fixture("inspect_sm80.cubin")), *digest);

  const size_t note = whole.find("ptxas");  // the tool's name in .note.nv.tkinfo
  ASSERT_NE(note, std::string::npos);
  std::string other_note = whole;
  other_note[note] = 'P';
  EXPECT_EQ(*CubinDigest(other_note), *digest);

  const float constant = 3.0f;
  const size_t table =
      whole.find(std::string(reinterpret_cast<const char*>(&constant), sizeof(constant)));
  ASSERT_NE(table, std::string::npos);
  std::string other_constant = whole;
  other_constant[table] = 1;
  EXPECT_NE(*CubinDigest(other_constant), *digest);
}

}  // namespace
}  // namespace tilewright
