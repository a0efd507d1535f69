#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/engine/command/command.h"

namespace zsetd {

// The ACL categories of Redis, without their @, in its order. Some have no commands here.
std::span<const std::string_view> AllCategories();

// The category of this name, in any case; nullopt if it does not exist.
std::optional<std::string_view> FindCategory(std::string_view name);

// The ACL categories of a command, from its row or derived from its flags and its group, each with
// its @.
std::vector<std::string_view> CategoriesOf(const Command& command);

// Whether it is in this one, which is named without its @. O(categories).
bool IsIn(const Command& command, std::string_view category);

}  // namespace zsetd
