#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"

namespace zsetd {

// When a snapshot is taken without being asked for: "3600 1 300 100" is one hour after the last if
// there was 1 change since, and five minutes after it if there were 100.
struct SavePoints {
  struct Point {
    std::chrono::seconds age;
    int64_t changes;

    bool operator==(const Point&) const = default;
  };

  std::vector<Point> points = {{std::chrono::seconds(3600), 1},
                               {std::chrono::seconds(300), 100},
                               {std::chrono::seconds(60), 10000}};
  bool configured = false;  // not the default any more

  bool Any() const { return !points.empty(); }

  // Takes these points in place of those there were; none if the text is empty. Nothing changes on
  // a refusal.
  absl::Status Read(std::string_view text);

  // The same for a line of a configuration file: the first one takes the place of the default, and
  // each further one adds to those before, unless it is empty.
  absl::Status ReadMore(Args words);

  std::string Text() const;

  bool operator==(const SavePoints& other) const { return points == other.points; }
};

}  // namespace zsetd
