#pragma once

#include <string_view>
#include <vector>

namespace zsetd {

// The parts of a text between separators; none if it is empty. The parts are views into `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);

}  // namespace zsetd
