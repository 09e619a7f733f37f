// The table of exact calls: bounded, found while others write, freed only when nobody reads.
#include "runtime/exact_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace tilewright {
namespace {

// The key of a call that differs from others in one extent.
ExactKey KeyOf(int64_t rows) {
  ExactKey key;
  const Tensor x = Tensor::Contiguous(nullptr, DType::kFloat32, {rows, 8});
  EXPECT_TRUE(key.Build(1, {&x, 1}, {&x, 1}, {}));
  return key;
}

std::unique_ptr<ExactCall> CallOf(const ExactKey& key, int64_t rows) {
  auto call = std::make_unique<ExactCall>();
  call->hash = key.hash();
  call->key.assign(key.words().begin(), key.words().end());
  call->workspace_bytes = rows;  // a mark
  return call;
}

// Guards: equal keys replace, different ones do not answer for each other, the size is bounded.
TEST(ExactTableTest, FindsWhatWasInsertedLast) {
  ThreadSlots threads;
  ExactTable table(64, &threads);
  for (int64_t rows = 0; rows < 1000; ++rows) {
    table.Insert(CallOf(KeyOf(rows), rows));
    const ExactTable::Reading reading(table, threads.Mine());
    const ExactCall* found = table.Find(KeyOf(rows));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->workspace_bytes, rows);
  }
  EXPECT_LE(table.size(), 64);
  table.Insert(CallOf(KeyOf(999), -1));
  EXPECT_LE(table.size(), 64);
  const ExactTable::Reading reading(table, threads.Mine());
  EXPECT_EQ(table.Find(KeyOf(999))->workspace_bytes, -1);
  EXPECT_EQ(table.Find(KeyOf(5000)), nullptr);
}

// Guards: a call is found by all of its key, not by its hash.
TEST(ExactTableTest, EqualHashesAreToldApart) {
  ThreadSlots threads;
  ExactTable table(64, &threads);
  auto other = CallOf(KeyOf(1), 1);
  other->hash = KeyOf(2).hash();
  table.Insert(std::move(other));
  {
    const ExactTable::Reading reading(table, threads.Mine());
    EXPECT_EQ(table.Find(KeyOf(2)), nullptr);
  }
  table.Insert(CallOf(KeyOf(2), 2));
  const ExactTable::Reading reading(table, threads.Mine());
  ASSERT_NE(table.Find(KeyOf(2)), nullptr);
  EXPECT_EQ(table.Find(KeyOf(2))->workspace_bytes, 2);
}

// Guards the clock rule: what is called between insertions outlives what is not.
TEST(ExactTableTest, CalledEntriesOutliveOthers) {
  ThreadSlots threads;
  ExactTable table(8, &threads);
  table.Insert(CallOf(KeyOf(0), 0));
  for (int64_t rows = 1; rows < 200; ++rows) {
    {
      const ExactTable::Reading reading(table, threads.Mine());
      ASSERT_NE(table.Find(KeyOf(0)), nullptr) << rows;
    }
    table.Insert(CallOf(KeyOf(rows), rows));
  }
}

// Guards reclamation: a call that was found stays intact until its reading ends, whatever writers
// do.
TEST(ExactTableTest, ReadersNeverSeeFreedCalls) {
  ThreadSlots threads;
  ExactTable table(16, &threads);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> found{0};
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      for (int64_t i = t; !stop.load(); ++i) {
        const int64_t rows = i % 40;
        const ExactKey key = KeyOf(rows);
        const ExactTable::Reading reading(table, threads.Mine());
        const ExactCall* call = table.Find(key);
        if (call == nullptr) continue;
        found.fetch_add(1);
        std::this_thread::yield();
        if (call->workspace_bytes != rows || !call->Is(key.hash(), key.words())) wrong.fetch_add(1);
      }
    });
  }
  for (int64_t i = 0; i < 20000 || found.load() < 1000; ++i) {
    table.Insert(CallOf(KeyOf(i % 40), i % 40));
    if (i % 100 == 0) table.Erase(nullptr);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GE(found.load(), 1000);
}

}  // namespace
}  // namespace tilewright
