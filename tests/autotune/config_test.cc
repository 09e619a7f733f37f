#include "autotune/config.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// Guards the canonical text: it is stored in caches and breaks ties.
TEST(ConfigTest, JsonKeepsAxisOrderAndRoundTrips) {
  const Config config{"wgmma", {{"tile_m", 128}, {"stages", 4}, {"cluster", -1}}};
  const std::string json = config.ToJson();
  EXPECT_EQ(json, R"({"variant":"wgmma","tile_m":128,"stages":4,"cluster":-1})");
  const auto back = Config::FromJson(json);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, config);
  EXPECT_EQ(back->Get("stages"), 4);
  EXPECT_EQ(back->Get("missing", 7), 7);
}

// Guards against a corrupt cache row becoming a config.
TEST(ConfigTest, BadJsonIsRefused) {
  for (const char* text : {"", "[]", "{", R"({"tile_m":1})", R"({"variant":3})",
                           R"({"variant":"a","tile":"b"})", R"({"variant":"a","tile":1.5})"}) {
    EXPECT_EQ(Config::FromJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// Guards the enumeration: every point once, last axis fastest.
TEST(TuningSpaceTest, EnumeratesTheCrossProduct) {
  const TuningSpace space{"v", {{"a", {1, 2}}, {"b", {10, 20, 30}}}};
  ASSERT_EQ(space.size(), 6);
  EXPECT_EQ(space.At(0), (Config{"v", {{"a", 1}, {"b", 10}}}));
  EXPECT_EQ(space.At(1), (Config{"v", {{"a", 1}, {"b", 20}}}));
  EXPECT_EQ(space.At(5), (Config{"v", {{"a", 2}, {"b", 30}}}));
  EXPECT_EQ((TuningSpace{"v", {}}).size(), 1);
  EXPECT_EQ((TuningSpace{"v", {{"a", {}}}}).size(), 0);
}

// Guards that a changed space is noticed: names, values, order and variant all count.
TEST(TuningSpaceTest, DigestSeesEveryPart) {
  const TuningSpace space{"v", {{"a", {1, 2}}, {"b", {3}}}};
  EXPECT_EQ(space.Digest(), (TuningSpace{"v", {{"a", {1, 2}}, {"b", {3}}}}).Digest());
  EXPECT_EQ(space.Digest().size(), 32u);
  EXPECT_NE(space.Digest(), (TuningSpace{"w", {{"a", {1, 2}}, {"b", {3}}}}).Digest());
  EXPECT_NE(space.Digest(), (TuningSpace{"v", {{"a", {1}}, {"b", {2, 3}}}}).Digest());
  EXPECT_NE(space.Digest(), (TuningSpace{"v", {{"b", {3}}, {"a", {1, 2}}}}).Digest());
  EXPECT_NE(space.Digest(), (TuningSpace{"v", {{"a", {1, 2}}, {"c", {3}}}}).Digest());
}

}  // namespace
}  // namespace tilewright
