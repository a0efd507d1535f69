#pragma once

#include <string>

#include "server/engine/config/command_line.h"

namespace zsetd {

// Texts about the command line and the settings that the program prints. Each ends with a line
// break.

// --help: how to start the program, and the settings that most servers need. At most 24 lines of 80
// columns.
std::string HelpText();

// --help all: the same, and every setting that has an effect, with its default.
std::string HelpAllText();

// --list-settings: every directive of the table as a line of seven columns separated by tabs, below
// a line with their names. Generators of documents and of configurations read it.
//
//   name   aliases   answer      default   values     changes   reason
//   port             works       6379      0..65535   live
//
// The status is "works", "without effect" or "refused". `changes` is "live" if CONFIG SET takes
// effect, else "start". `reason` states why a setting is refused, or why no other value is allowed.
std::string SettingsListing();

// --check-config: the directives of the line that work, and those without effect. Refused ones are
// not listed.
std::string ConfigReport(const CommandLine& line);

}  // namespace zsetd
