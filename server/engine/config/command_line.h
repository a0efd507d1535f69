#pragma once

#include <string>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The arguments of the program:
//
//   zsetd [FILE | -] [--SETTING VALUE ...] ...
//   zsetd --help | --version
//
// A setting on the line wins over the file's, or over standard input's where that is read for "-".
struct CommandLine {
  bool help = false;
  bool version = false;
  std::string config_file;  // its absolute path; empty if there is none
  Settings settings;
};

// Reads the arguments of the program. An error is a message for the operator with all that was
// refused, of the file and of the line.
absl::Status ReadCommandLine(Args words, CommandLine& line);

// What --help prints: how to start the program, and every setting at its default.
std::string HelpText();

}  // namespace zsetd
