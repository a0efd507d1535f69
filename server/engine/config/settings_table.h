#pragma once

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/config/setting_row.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Every setting: those that have an effect in the order of Settings, then the others.
std::span<const Setting> AllSettings();

// Those of a cluster, which are among them.
std::span<const Setting> ClusterSettings();

// The setting of this name, or of this alias, in any case; null if it does not exist.
const Setting* FindSetting(std::string_view name);

// Reads a value into its field by name, as SetValue() does: the arguments are a setting's name and
// its values, as in a file. Unknown names and a wrong number of values are errors too.
absl::Status SetFromWords(Args words, Settings& settings);

}  // namespace zsetd
