#pragma once

#include <string>

#include "server/engine/config/command_line.h"

namespace zsetd {

// What the program prints of its command line and its settings. Each text ends with a line break.

// --help: how to start the program, and the settings that most servers need. At most 24 lines of 80
// columns.
std::string HelpText();

// --help all: the same, and every setting that has an effect, with its default.
std::string HelpAllText();

// --list-settings: every directive of the table as a line of seven columns with a tab between them,
// below a line with their names. What generates documents reads it, and so may a program that
// writes configurations.
//
//   name   aliases   answer      default   values     changes   reason
//   port             works       6379      0..65535   live
//
// The answer is "works", "without effect" or "refused". `changes` is "live" where CONFIG SET takes
// effect, else "start". `reason` says why something is refused, or why there is no other value.
std::string SettingsListing();

// --check-config: which of the line's directives work, and which have no effect. What was refused
// is not in it.
std::string ConfigReport(const CommandLine& line);

}  // namespace zsetd
