#pragma once

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
// A refusal is for people: where it stands, the line, and what is wrong with it. `origin` names the
// text there. The settings before that line are then set.
absl::Status ReadSettings(std::istream& text, std::string_view origin, Settings& settings);

absl::Status ReadSettingsFile(const std::string& path, Settings& settings);

}  // namespace zsetd
