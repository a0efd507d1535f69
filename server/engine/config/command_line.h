#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The arguments of the program:
//
//   zsetd [FILE] [--SETTING VALUE ...] ... [-]
//   zsetd --check-config FILE | - [--SETTING VALUE ...] ...
//   zsetd --help [all] | --version | --list-settings
//
// "-" reads standard input; it may also be the first argument. A setting of the file's rewrite-file
// wins over the file's, one of standard input over both, and one on the line over all. An option
// may be one argument, such as
// "--maxmemory 700mb". The argument after a bare name is its value, even if it starts with "--";
// only --save needs none. Everything else is Redis's syntax, too.
struct CommandLine {
  enum class Task { kServe, kCheckConfig, kHelp, kHelpAll, kVersion, kListSettings };

  Task task = Task::kServe;
  std::string config_file;  // its absolute path; empty without one
  std::string directory;    // the working directory when it was read
  Settings settings;
  std::vector<std::string> directives;  // those accepted, each once, in the order of the first
};

// Reads the arguments of the program. An error is a message for the operator with all that was
// refused, of the file and of the line.
absl::Status ReadCommandLine(Args words, CommandLine& line);

}  // namespace zsetd
