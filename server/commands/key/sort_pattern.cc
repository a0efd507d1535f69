#include "server/commands/key/sort_pattern.h"

#include <string>

namespace zsetd {

// An arrow with nothing behind it is a part of the key, as in Redis.
SortPattern::SortPattern(std::string_view text)
    : text_(text), has_star_(text.find('*') != std::string_view::npos) {
  if (!has_star_) return;
  const size_t star = text.find('*');
  before_ = text.substr(0, star);
  behind_ = text.substr(star + 1);
  const size_t arrow = behind_.find("->");
  if (arrow == std::string_view::npos || arrow + 2 == behind_.size()) return;
  field_ = behind_.substr(arrow + 2);
  behind_ = behind_.substr(0, arrow);
}

std::optional<std::string_view> SortPattern::Resolve(Call& call, std::string_view element) const {
  if (text_ == "#") return element;
  if (!has_star_) return std::nullopt;
  const std::string key = std::string(before_).append(element).append(behind_);
  const Entry* entry = call.Find(key);
  if (entry == nullptr) return std::nullopt;
  if (field_.empty()) {
    const std::optional<ByteString> string = entry->GetIf<ByteString>();
    return string ? std::optional(string->view()) : std::nullopt;
  }
  const Hash* hash = entry->GetIf<Hash>();
  return hash == nullptr ? std::nullopt : hash->Get(field_);
}

}  // namespace zsetd
