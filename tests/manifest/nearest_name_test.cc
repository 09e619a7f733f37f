// The name that a misspelt one was meant to be.
#include "manifest/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright {
namespace {

std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& known) {
  return NearestName(name, known);
}

// Guards: each kind of slip leads to the name that was meant; case and separators are none.
TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string_view> ops = {"AddFwdOp",        "GeFwdOp",          "GemmFwdOp",
                                             "LogSoftmaxFwdOp", "RMSNormFwdOp",     "RopeFwdOp",
                                             "SoftmaxFwdOp",    "InstanceNormFwdOp"};
  EXPECT_EQ(Nearest("GemFwdOp", ops), "GemmFwdOp");
  EXPECT_EQ(Nearest("GemmmFwdOp", ops), "GemmFwdOp");
  EXPECT_EQ(Nearest("GemnFwdOp", ops), "GemmFwdOp");
  EXPECT_EQ(Nearest("GmemFwdOp", ops), "GemmFwdOp");
  EXPECT_EQ(Nearest("gemm", ops), "GemmFwdOp");
  EXPECT_EQ(Nearest("softmax", ops), "SoftmaxFwdOp");
  EXPECT_EQ(Nearest("log_softmax", ops), "LogSoftmaxFwdOp");
  EXPECT_EQ(Nearest("rms_norm", ops), "RMSNormFwdOp");
  const std::vector<std::string_view> dtypes = {"float16", "bfloat16", "float32", "float8_e4m3fn"};
  EXPECT_EQ(Nearest("float61", dtypes), "float16");
  EXPECT_EQ(Nearest("bfloat_16", dtypes), "bfloat16");
  EXPECT_EQ(Nearest("e4m3fn", dtypes), "float8_e4m3fn");
  EXPECT_EQ(Nearest("sm_90", {"sm_80", "sm_90a"}), "sm_90a");
  EXPECT_EQ(Nearest("dmi", {"dim", "keepdim"}), "dim");
  EXPECT_EQ(Nearest("normalised_shape", {"eps", "normalized_shape"}), "normalized_shape");
}

// Guards: what is near nothing suggests nothing, least of all a short name for a short one.
TEST(NearestName, IsSilentOtherwise) {
  EXPECT_EQ(Nearest("half", {"float16", "bfloat16"}), "");
  EXPECT_EQ(Nearest("x", {"y", "z"}), "");
  EXPECT_EQ(Nearest("", {"a", "eps"}), "");
  EXPECT_EQ(Nearest("transpose", {"trans_a", "trans_b"}), "");
  EXPECT_EQ(Nearest(std::string(100000, 'a'), {std::string_view("aaa")}), "");
  EXPECT_EQ(Nearest("eps", {}), "");
}

// Guards: the words of the suggestion, or none.
TEST(NearestName, Words) {
  struct Named {
    std::string name;
  };
  const std::vector<Named> specs = {{"dim"}, {"keepdim"}};
  EXPECT_EQ(DidYouMean("keepdims", NamesOf(specs)), "; did you mean 'keepdim'?");
  EXPECT_EQ(DidYouMean("axis", NamesOf(std::vector<const Named*>{&specs[0]})), "");
}

}  // namespace
}  // namespace tilewright
