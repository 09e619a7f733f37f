// The CLI's entry: global options, then one command. Exit codes: 0 done, 1 findings, 2 misuse.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/cli.h"

namespace tilewright {
namespace {

int Main(int argc, char** argv) {
  CliContext context;
  context.runtime = RuntimeOptions::FromEnvironment();
  CLI::App app("Tilewright: a runtime JIT kernel service for NVIDIA GPUs", "tilewright");
  app.require_subcommand(0, 1);
  app.add_option("--cache", context.runtime.cache_path,
                 "Cache file (else TILEWRIGHT_CACHE, else the XDG cache directory)");
  app.footer("Exit codes: 0 done, 1 findings, 2 misuse.");
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kMisuse;
  }
  if (!context.run) {
    std::cerr << app.help();
    return Misuse("a command is missing");
  }
  return context.run();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  try {
    return tilewright::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "tilewright: internal error: " << error.what() << "\n";
    return tilewright::kFindings;
  }
}
