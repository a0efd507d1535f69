#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Reads settings in redis.conf's syntax, later ones over earlier ones:
//
//   # a comment
//   port 7000
//   requirepass "two words"
//   include /etc/zsetd/more.conf
//
// An include has the path of a file or, with * ? and [...], of any number of them, which are read
// in the order of their names. Relative paths are relative to `directory`, or to the working
// directory if it is empty.
//
// A refusal is human-readable and lists every refused line: its place, the line and the reason.
// `origin` names the text there. The settings of all other lines are then set.
//
// `accepted` is called with the name of each directive that was not refused, unless it is null.
using OnDirective = std::function<void(std::string_view name)>;
absl::Status ReadSettings(std::istream& text, std::string_view origin, Settings& settings,
                          const OnDirective& accepted = nullptr, const std::string& directory = {});

// Reads one line of such a text. The refusal has the reason only.
absl::Status ReadSettingsLine(std::string_view line, Settings& settings,
                              const OnDirective& accepted = nullptr);

absl::Status ReadSettingsFile(const std::string& path, Settings& settings,
                              const OnDirective& accepted = nullptr,
                              const std::string& directory = {});

}  // namespace zsetd
