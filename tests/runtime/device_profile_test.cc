// Profiles of devices that were calibrated.
#include "manifest/device_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "manifest/status.h"
#include "runtime/device_table.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

class DeviceProfileFileTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    folder_ = Cat(testing::TempDir(), "/device_profile-", getpid());
    std::filesystem::remove_all(folder_);
    options_ = Options();
    options_.cache_path = folder_ + "/kernels.db";
    std::filesystem::create_directories(options_.ProfileFolder());
    path_ = ProfilePath(options_.ProfileFolder(), BuiltinDeviceProfile("h200").value());
  }
  void TearDown() override {
    runtime_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::ptrdiff_t Warnings() {
    const std::vector<std::string> log = Log();
    return std::count_if(log.begin(), log.end(), [this](const std::string& line) {
      return line.find(path_) != std::string::npos;
    });
  }

  std::string folder_;
  std::string path_;
  RuntimeOptions options_;
};

// Guards what `tilewright calibrate` measures: written to where it writes, it is what is served by.
TEST_F(DeviceProfileFileTest, CeilingsAreTheMeasuredOnes) {
  EXPECT_EQ(path_, folder_ + "/devices/NVIDIA_H200_132.json");
  DeviceProfile calibrated = BuiltinDeviceProfile("h200").value();
  calibrated.bandwidth_gbps = 1234;
  calibrated.tensor_tflops_16bit = 567;
  calibrated.fp32_tflops = 0;
  Write(calibrated.ToJson());
  Open(options_);
  const DeviceProfile served = runtime_->Device(0).value();
  EXPECT_EQ(served.bandwidth_gbps, 1234);
  EXPECT_EQ(served.tensor_tflops_16bit, 567);
  EXPECT_EQ(served.fp32_tflops, 0);
  EXPECT_EQ(Warnings(), 0);
}

// Guards serving against a profile that a full disk cut off, or that was edited: it costs a warning
// that names it, once for all devices of its kind, and the built-in ceilings hold.
TEST_F(DeviceProfileFileTest, DamagedOneIsIgnored) {
  const std::string good = BuiltinDeviceProfile("h200")->ToJson();
  std::string negative = good;
  negative.replace(negative.find("4280"), 1, "-");
  for (const std::string& text :
       {std::string(), good.substr(0, good.size() / 2), std::string("{}"), std::string("[]"),
        std::string("\xff\xfe\0", 3), negative, std::string(2 << 20, '{')}) {
    Write(text);
    Open(options_);
    MakeCurrent();
    const auto before = Warnings();
    EXPECT_TRUE(Scale(8).ok()) << text.substr(0, 40);
    EXPECT_EQ(runtime_->Device(0).value().bandwidth_gbps, 4280);
    EXPECT_EQ(runtime_->Device(1).value().bandwidth_gbps, 4280);
    EXPECT_EQ(Warnings() - before, 1) << text.substr(0, 40);
  }
}

// Guards against what is no file at all: nothing waits for it.
TEST_F(DeviceProfileFileTest, PipesAndFoldersAreIgnored) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  Open(options_);
  MakeCurrent();
  EXPECT_TRUE(Scale(8).ok());
  EXPECT_EQ(Warnings(), 1);
  std::filesystem::remove(path_);
  std::filesystem::create_directories(path_);
  Open(options_);
  EXPECT_EQ(runtime_->Device(0).value().bandwidth_gbps, 4280);
  EXPECT_EQ(Warnings(), 2);
  EXPECT_THAT(Log().back(), HasSubstr("expected a file"));
}

}  // namespace
}  // namespace tilewright
