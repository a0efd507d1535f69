#pragma once

#include <functional>
#include <string_view>

namespace zsetd {

// Lines for the server's log.
struct ServerLog {
  std::function<void(std::string_view)> notice;
  std::function<void(std::string_view)> warning;
};

}  // namespace zsetd
