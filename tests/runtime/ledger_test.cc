#include "runtime/conform/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "runtime/conform/call_identity.h"
#include "runtime/conform/cases.h"
#include "runtime/conform/ledger_check.h"
#include "runtime/cubin.h"
#include "tests/runtime/conform_fakes.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Kind = LedgerFinding::Kind;

LedgerRow SampleRow() {
  LedgerRow row;
  row.op = "GemmFwdOp";
  row.case_name = "workload/a";
  row.dtype = "bfloat16";
  row.config = R"({"variant":"mma","tile_m":128})";
  row.device = "NVIDIA H200/132";
  row.choice = "default";
  row.verdict = Verdict::kPass;
  row.error = 0.25;
  row.kernels = "k<kTile=1>; k<kTile=2>";
  row.compiler = "nvrtc 13.0.88";
  return row;
}

// Guards: text to ledger to text is the identity, rows are sorted, and fields survive.
TEST(LedgerTest, TextRoundTrip) {
  Ledger ledger;
  LedgerRow later = SampleRow();
  later.op = "SoftmaxFwdOp";
  later.verdict = Verdict::kWrong;
  later.error = INFINITY;
  later.detail = "first\tline\nsecond";
  ledger.Put(later);
  ledger.Put(SampleRow());
  const std::string text = ledger.ToText();
  const auto parsed = Ledger::Parse(text, "x.tsv");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->ToText(), text);
  ASSERT_EQ(parsed->size(), 2);
  EXPECT_EQ(parsed->rows()[0]->op, "GemmFwdOp");
  EXPECT_EQ(parsed->rows()[0]->error, 0.25);
  EXPECT_EQ(parsed->rows()[0]->kernels, SampleRow().kernels);
  EXPECT_EQ(parsed->rows()[1]->detail, "first line second");
  EXPECT_TRUE(std::isinf(parsed->rows()[1]->error));
  EXPECT_EQ(parsed->rows()[1]->verdict, Verdict::kWrong);
  ledger.Put(SampleRow());
  EXPECT_EQ(ledger.size(), 2);
}

// Guards: what is not a ledger is refused, with the line.
TEST(LedgerTest, BadTextNamesTheLine) {
  Ledger ledger;
  ledger.Put(SampleRow());
  const std::string text = ledger.ToText();
  const std::string line = text.substr(text.find('\n') + 1);
  EXPECT_THAT(Ledger::Parse("op\tcase\n", "x.tsv").status().message(), HasSubstr("x.tsv:1:"));
  EXPECT_THAT(Ledger::Parse(text + "a\tb\n", "x.tsv").status().message(), HasSubstr("x.tsv:3:"));
  EXPECT_THAT(Ledger::Parse(text + line, "x.tsv").status().message(), HasSubstr("second row"));
  std::string bad = text;
  bad.replace(bad.find("pass"), 4, "fine");
  EXPECT_THAT(Ledger::Parse(bad, "x.tsv").status().message(), HasSubstr("got 'fine'"));
  EXPECT_EQ(Ledger::Parse("", "x.tsv")->size(), 0);
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(Ledger::Parse(crlf, "x.tsv")->ToText(), text);
}

// Guards: files are written whole, found by folder, and an unwritable place is an error.
TEST(LedgerTest, Files) {
  const std::string root = testing::TempDir() + "/ledger_test";
  std::filesystem::remove_all(root);
  const std::string path = LedgerPath(root, "NVIDIA H200/132", "GemmFwdOp");
  EXPECT_EQ(path, root + "/manifest/ledger/nvidia-h200/GemmFwdOp.tsv");
  Ledger ledger;
  ledger.Put(SampleRow());
  ASSERT_TRUE(ledger.Write(path).ok());
  EXPECT_EQ(Ledger::Read(path)->ToText(), ledger.ToText());
  EXPECT_EQ(Ledger::ReadFolder(root + "/manifest/ledger")->size(), 1);
  EXPECT_EQ(Ledger::ReadFolder(root + "/absent")->size(), 0);
  EXPECT_EQ(Ledger::Read(root + "/absent.tsv").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ledger.Write("/proc/no/such/place.tsv").ok());
  // Only a file is replaced.
  const std::string link = path + ".link";
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/dev/null", link);
  EXPECT_THAT(ledger.Write(link).ToString(), HasSubstr("expected a regular file"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);
  EXPECT_NE(
      ledger.Find("GemmFwdOp", "workload/a", "bfloat16", SampleRow().config, "NVIDIA H200/132"),
      nullptr);
  EXPECT_EQ(ledger.Find("GemmFwdOp", "workload/b", "bfloat16", "", ""), nullptr);
}

// "Compiles" a fixture: which of two depends on the template's text and on the entry.
class FixtureCompiler : public Compiler {
 public:
  absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) override {
    ++compiles;
    const std::string& text = request.headers.at("test/add.cuh");
    if (text.find("broken") != std::string::npos) return absl::InternalError("syntax error");
    const bool other = text.find("other code") != std::string::npos ||
                       request.name_expression.find("Add1") != std::string::npos;
    std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/runtime/cubins/" +
                           (other ? "inspect_sm80.cubin" : "inspect_sm90a.cubin"),
                       std::ios::binary);
    CompiledKernel kernel;
    kernel.cubin.assign(std::istreambuf_iterator<char>(file), {});
    kernel.compiler = version;
    return kernel;
  }
  absl::StatusOr<std::string> Version() override { return version; }

  std::string version = "nvrtc 13.0.88";
  std::atomic<int> compiles{0};
};

// A ledger that vouches for the add operator as `templates` had it.
struct CheckBench {
  explicit CheckBench(int kernels = 1) : recipe(MakeAddRecipe(kernels)) {
    templates.Add("test/add.cuh", "// code");
    options.ops = {spec.get()};
    options.recipe = [this](std::string_view) { return recipe.get(); };
    options.templates = &templates;
    options.compiler = &compiler;
    options.device = BuiltinDeviceProfile("h200").value();
    CompileRequest request;
    request.headers["test/add.cuh"] = "// code";
    std::string cubin = CubinDigest(compiler.Compile(request)->cubin).value();
    for (int i = 1; i < kernels; ++i) {
      request.name_expression = "Add" + std::to_string(i) + "<Config>";
      cubin += "," + CubinDigest(compiler.Compile(request)->cubin).value();
    }
    compiler.compiles = 0;
    const std::vector<ConformCase> cases = ConformCases(*spec).value();
    for (const ConformCase& entry : cases) {
      const Variant& variant = *recipe->variants()[0];
      const Config config = variant.Default(entry.call, options.device);
      const CallIdentity identity =
          IdentifyCall(entry.call, variant, config, options.device, [&](std::string_view file) {
            return templates.ClosureDigest(file);
          }).value();
      LedgerRow row;
      row.op = spec->name;
      row.case_name = entry.name;
      row.dtype = DTypeName(entry.dtype);
      row.config = config.ToJson();
      row.device = options.device.Key();
      row.verdict = Verdict::kPass;
      row.kernels = identity.instantiations;
      row.closure_digest = identity.closure_digests;
      row.launch_digest = identity.launch_digest;
      row.cubin_digest = identity.kernels.empty() ? "" : cubin;
      row.compiler = identity.kernels.empty() ? "" : "nvrtc 13.0.88";
      ledger.Put(row);
    }
  }

  LedgerReport Check() { return VerifyLedger(ledger, options).value(); }
  LedgerRow WorkloadRow() const {
    return *ledger.Find("AddFwdOp", "workload/rows", "int32", R"({"variant":"fast","tile":1})",
                        "NVIDIA H200/132");
  }

  std::unique_ptr<OpSpec> spec = MakeAddSpec();
  std::unique_ptr<Recipe> recipe;
  TemplateSet templates;
  FixtureCompiler compiler;
  LedgerCheckOptions options;
  Ledger ledger;
};

// Guards: unchanged code passes, with at most the sample recompiled.
TEST(LedgerCheckTest, UnchangedCodePasses) {
  CheckBench bench;
  const LedgerReport report = bench.Check();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_TRUE(report.ok());
  EXPECT_GT(report.claims, 40);
  EXPECT_EQ(report.vouched, report.claims);
  EXPECT_EQ(report.recompiled, 1);  // one kernel serves every case
  bench.options.sample = 0;
  EXPECT_EQ(bench.Check().recompiled, 0);
}

// Guards: kernels that share a source, as they share template and configuration, are told apart.
TEST(LedgerCheckTest, EntriesOfOneSourceAreKernelsOfTheirOwn) {
  CheckBench bench(2);
  bench.options.sample = 2;
  const LedgerReport report = bench.Check();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.recompiled, 2);
}

// Guards: an edit that leaves the cubin alone passes; one that changes it fails, by digest.
TEST(LedgerCheckTest, ChangedClosureIsJudgedByItsCubin) {
  CheckBench bench;
  bench.options.sample = 0;
  bench.templates.Add("test/add.cuh", "// code, with another comment");
  EXPECT_TRUE(bench.Check().ok());
  EXPECT_EQ(bench.Check().recompiled, 1);
  bench.templates.Add("test/add.cuh", "// other code");
  const LedgerReport changed = bench.Check();
  EXPECT_FALSE(changed.ok());
  EXPECT_THAT(changed.findings[0].ToString(), HasSubstr("is not the one that passed"));
  bench.templates.Add("test/add.cuh", "// broken");
  EXPECT_THAT(bench.Check().findings[0].message, HasSubstr("syntax error"));
}

// Guards: the sample finds a row whose cubin is not what the unchanged template gives.
TEST(LedgerCheckTest, SampleFindsAForgedRow) {
  CheckBench bench;
  LedgerRow row = bench.WorkloadRow();
  row.cubin_digest = "0123";
  bench.ledger.Put(row);
  const LedgerReport report = bench.Check();
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(report.findings[0].kind, Kind::kError);
  EXPECT_EQ(report.findings[0].dtype, "int32");
}

// Guards: another compiler, or none, makes rows unverified by name and fails nothing.
TEST(LedgerCheckTest, AnotherCompilerIsUnverified) {
  CheckBench bench;
  bench.compiler.version = "nvrtc 13.1.0";
  bench.templates.Add("test/add.cuh", "// other code");
  const LedgerReport report = bench.Check();
  EXPECT_TRUE(report.ok());
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, Kind::kUnverified);
  EXPECT_THAT(report.findings[0].ToString(),
              HasSubstr("made by nvrtc 13.0.88, here is nvrtc 13.1.0"));
  EXPECT_EQ(report.recompiled, 0);
  bench.options.compiler = nullptr;
  EXPECT_TRUE(bench.Check().ok());
  EXPECT_LT(bench.Check().vouched, report.claims);
}

// Guards: a missing row, a failed one and changed launches each fail the claim of `implemented`.
TEST(LedgerCheckTest, ClaimsWithoutAPassingRowFail) {
  CheckBench bench;
  LedgerRow failed = bench.WorkloadRow();
  failed.verdict = Verdict::kWrong;
  failed.detail = "off by one";
  bench.ledger.Put(failed);
  EXPECT_THAT(bench.Check().findings[0].message, HasSubstr("off by one"));
  failed.verdict = Verdict::kPass;
  failed.launch_digest = "0123";
  bench.ledger.Put(failed);
  EXPECT_THAT(bench.Check().findings[0].message, HasSubstr("launches differ"));
  const Ledger empty;
  const LedgerReport missing = VerifyLedger(empty, bench.options).value();
  int64_t errors = 0;
  for (const LedgerFinding& finding : missing.findings) {
    errors += finding.kind == Kind::kError ? 1 : 0;
  }
  EXPECT_EQ(errors, 2);  // the workload's two dtypes; edge cases are unverified
  EXPECT_EQ(static_cast<int64_t>(missing.findings.size()), missing.claims);
  bench.spec->status = OpStatus::kSpecOnly;
  EXPECT_EQ(VerifyLedger(empty, bench.options)->claims, 0);
}

}  // namespace
}  // namespace tilewright
