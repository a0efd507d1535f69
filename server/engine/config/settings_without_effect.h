#pragma once

#include <span>
#include <string_view>

#include "server/engine/config/setting_row.h"

namespace zsetd {

// The rows of settings of Redis 7.0 to 8.x and Valkey that have no effect here, by subject. A
// setting that gets one becomes a field of Settings and moves to settings_table.cc: one row.
//
// A row refuses a setting if ignoring it would mislead: that data is kept, copied or distributed.
std::span<const Setting> SettingsWithoutEffect();

// Whether a file may still have this directive of old releases, in any case, though it is no
// setting any more: Redis ignores it and does not show it.
bool IsObsoleteDirective(std::string_view name);

// A directive that no configuration can hold here.
struct RefusedDirective {
  std::string_view name;  // or a glob pattern
  std::string_view reason;
};

// All of them, and the names that IsObsoleteDirective() knows.
std::span<const RefusedDirective> RefusedDirectives();
std::span<const std::string_view> ObsoleteDirectives();

// The first that matches the name, in any case; null if none does.
const RefusedDirective* FindRefusedDirective(std::string_view name);

}  // namespace zsetd
