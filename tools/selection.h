// Options that several commands share: which calls, and for which device.
#ifndef TILEWRIGHT_TOOLS_SELECTION_H_
#define TILEWRIGHT_TOOLS_SELECTION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/device_profile.h"
#include "tools/shape_file.h"

namespace CLI {
class App;
}

namespace tilewright {

// NotFound: there is no operator `name`, but there are `ops`.
absl::Status NoOperator(std::string_view name, std::span<const std::string_view> ops);

// --op, --family and --shapes. None given: the workloads of every operator that has a
// recipe.
struct CallSelection {
  std::vector<std::string> ops;
  std::vector<std::string> families;
  std::string shapes;

  void AddOptions(CLI::App& command);
  // The workloads of the chosen operators, or the lines of the shape file that are of a chosen
  // operator. InvalidArgument for an unknown name, or where nothing is chosen.
  absl::StatusOr<std::vector<NamedCall>> Calls() const;
  // The chosen operators that have a recipe.
  absl::StatusOr<std::vector<const OpSpec*>> Ops() const;
};

// --arch and --device.
struct DeviceSelection {
  std::string arch;
  std::string device;

  // `without` says, in the help, what holds where neither is given.
  void AddOptions(CLI::App& command, const std::string& without);
  // The built-in profile or profile file that --device names, else every built-in profile of the
  // architecture, real devices first. InvalidArgument where both are given and disagree.
  absl::StatusOr<std::vector<DeviceProfile>> Profiles() const;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_SELECTION_H_
