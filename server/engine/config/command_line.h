#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The arguments of the program:
//
//   zsetd [FILE | -] [--SETTING VALUE ...] ...
//   zsetd --check-config FILE | - [--SETTING VALUE ...] ...
//   zsetd --help [all] | --version | --list-settings
//
// A setting on the line wins over the file's, or over standard input's where that is read for "-".
struct CommandLine {
  enum class Task { kServe, kCheckConfig, kHelp, kHelpAll, kVersion, kListSettings };

  Task task = Task::kServe;
  std::string config_file;  // its absolute path; empty if there is none
  Settings settings;
  std::vector<std::string> directives;  // those accepted, each once, in the order of the first
};

// Reads the arguments of the program. An error is a message for the operator with all that was
// refused, of the file and of the line.
absl::Status ReadCommandLine(Args words, CommandLine& line);

}  // namespace zsetd
