#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"

namespace zsetd {

// The points at which the server takes a snapshot by itself. "3600 1 300 100" is one hour after the
// last snapshot if there was 1 change since, and five minutes after it if there were 100.
struct SavePoints {
  struct Point {
    std::chrono::seconds age;
    int64_t changes;

    bool operator==(const Point&) const = default;
  };

  std::vector<Point> points = {{std::chrono::seconds(3600), 1},
                               {std::chrono::seconds(300), 100},
                               {std::chrono::seconds(60), 10000}};
  bool configured = false;  // a setting has replaced the default

  bool Any() const { return !points.empty(); }

  // Replaces all points; an empty text leaves none. Single spaces separate the numbers, as in
  // Redis. Nothing changes on a refusal.
  absl::Status Read(std::string_view text);

  // Reads the words of a line of a configuration file. The first line replaces the default, and
  // each further one adds its points. One empty word removes all points. No words add none.
  absl::Status ReadMore(Args words);

  std::string Text() const;

  bool operator==(const SavePoints& other) const { return points == other.points; }
};

}  // namespace zsetd
