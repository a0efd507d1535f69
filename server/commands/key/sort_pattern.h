#pragma once

#include <optional>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Where SORT finds what belongs to an element: "weight_*" is a string key, "data_*->age" a field of
// a hash, the star standing for the element; "#" is the element itself. A view of the request.
class SortPattern {
 public:
  explicit SortPattern(std::string_view text);

  // Whether there is a key for each element.
  bool NamesKeys() const { return has_star_; }

  // What belongs to the element, or nothing where there is no such key or field, or one of another
  // type. Valid until a key changes.
  std::optional<std::string_view> Resolve(Call& call, std::string_view element) const;

 private:
  std::string_view text_;
  bool has_star_;
  std::string_view before_;  // the star
  std::string_view behind_;
  std::string_view field_;  // empty: there is none
};

}  // namespace zsetd
