// The CLI's entry: global options, then one command. Exit codes are in
// tools/cli.h.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "runtime/compiler.h"
#include "runtime/logging.h"
#include "tools/cli.h"
#include "tools/commit.h"
#include "tools/escaped_output.h"

namespace tilewright {
namespace {

// Where a standard stream is closed, the next file to be opened would take its place and be written
// into. What is put there instead cannot be written, so that lost output is still noticed.
void FillStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", O_RDONLY);
  }
}

// `code`, or a finding where what was printed did not get out.
int AfterOutput(int code) {
  errno = 0;
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "tilewright: cannot write to standard output"
            << (errno != 0 ? std::string(": ") + std::strerror(errno) : "") << "\n";
  return code == kDone ? kFindings : code;
}

int PrintVersion(const RuntimeOptions& options) {
  const absl::StatusOr<std::string> compiler =
      NvrtcCompiler(options.nvrtc_path, options.nvrtc_search_dirs)->Version();
  std::cout << "tilewright " << TILEWRIGHT_VERSION << "\ncommit     " << BuildCommit()
            << "\ncompiler   " << compiler.value_or("none (see tilewright doctor)") << "\n";
  return kDone;
}

// "--json=5" is misuse: CLI11 would take any value.
void RefuseFlagValues(CLI::App& app) {
  for (CLI::Option* option :
       app.get_options([](CLI::Option* each) { return each->get_items_expected_max() == 0; })) {
    option->disable_flag_override();
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    RefuseFlagValues(*command);
  }
}

// What the first word that nothing takes was meant to be: a command or an option of those given.
std::string MeantOf(CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (!given.empty()) return MeantOf(*given.front());
  std::vector<std::string> names;  // of what stands here
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  for (const CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
    for (const CLI::Option* option : each->get_options()) names.push_back(option->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  // What follows the first such word is often meant for it.
  for (CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
    if (each->remaining().empty()) continue;
    const std::string word = each->remaining().front();
    return Cat("tilewright: no '", Brief(word), "' here", DidYouMean(word, known), "\n");
  }
  return "";
}

int Main(int argc, char** argv) {
  CliContext context;
  context.runtime = RuntimeOptions::FromEnvironment();
  CLI::App app("Tilewright: a runtime JIT kernel service for NVIDIA GPUs", "tilewright");
  app.require_subcommand(0, 1);
  app.add_option("--cache", context.runtime.cache_path,
                 "Cache file (else TILEWRIGHT_CACHE, else the XDG cache directory)");
  bool verbose = false;
  app.add_flag("--verbose", verbose, "Also say what the service does, not warnings only");
  bool version = false;
  app.add_flag("--version", version,
               "Print the version, the commit and the compiler that is found");
  app.footer(kSharedHelp);
  AddOpsCommand(app, context);
  AddValidateCommand(app, context);
  AddWarmCommand(app, context);
  AddCoverageCommand(app, context);
  AddTuneCommand(app, context);
  AddInspectCommand(app, context);
  AddExplainCommand(app, context);
  AddConformCommand(app, context);
  AddBenchCommand(app, context);
  AddCalibrateCommand(app, context);
  AddCacheCommands(app, context);
  AddDoctorCommand(app, context);
  RefuseFlagValues(app);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return BriefLines(CLI::FailureMessage::simple(failed, error));
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    (void)app.exit(error);
    std::cerr << MeantOf(app);
    return kMisuse;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kMisuse;
  }
  if (version) return PrintVersion(context.runtime);
  if (!context.run) {
    std::cerr << app.help();
    return Misuse("a command is missing");
  }
  context.runtime.logger = StandardErrorLogger(verbose ? LogLevel::kInfo : LogLevel::kWarning);
  return context.run();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  // Beyond the limit on the size of files a write then fails, and is told of as a full disk is.
  (void)signal(SIGXFSZ, SIG_IGN);
  tilewright::FillStandardStreams();
  const tilewright::EscapedOutput out(std::cout);
  const tilewright::EscapedOutput err(std::cerr);
  try {
    return tilewright::AfterOutput(tilewright::Main(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "tilewright: internal error: " << error.what() << "\n";
    return tilewright::kFindings;
  }
}
