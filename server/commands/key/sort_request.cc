#include "server/commands/key/sort_request.h"

#include <algorithm>
#include <string>

#include "core/hash/hash.h"

namespace zsetd {
namespace {

// Takes the option if it is next and at least `argv` arguments follow it.
bool TakeWith(ArgReader& args, std::string_view option, size_t argv) {
  return args.left() > argv && args.Take(option);
}

void TakeSortOption(ArgReader& args, bool may_store, SortRequest& request) {
  if (args.Take("asc")) {
    request.descending = false;
  } else if (args.Take("desc")) {
    request.descending = true;
  } else if (args.Take("alpha")) {
    request.by_bytes = true;
  } else if (TakeWith(args, "limit", 2)) {
    request.offset = args.Integer();
    request.count = args.Integer();
  } else if (TakeWith(args, "by", 1)) {
    request.weights = SortPattern(args.Word());
    request.sorts = request.sorts && request.weights->NamesKeys();
  } else if (TakeWith(args, "get", 1)) {
    request.results.emplace_back(args.Word());
  } else if (may_store && TakeWith(args, "store", 1)) {
    request.destination = args.Word();
  } else {
    args.Refuse(kSyntaxError);
  }
}

}  // namespace

// An arrow at the end is part of the key, as in Redis.
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
  const Entry* entry = call.keys.Find(key);
  if (entry == nullptr) return std::nullopt;
  if (field_.empty()) {
    const std::optional<ByteString> string = entry->GetIf<ByteString>();
    return string ? std::optional(string->view()) : std::nullopt;
  }
  const Hash* hash = entry->GetIf<Hash>();
  return hash == nullptr ? std::nullopt : hash->Get(field_);
}

RankRange SortRequest::Within(size_t size) const {
  const size_t first = std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), size);
  const size_t left = size - first;
  const size_t wanted = count < 0 ? left : std::min(static_cast<size_t>(count), left);
  return {.first = first, .last = first + wanted};
}

SortRequest TakeSortRequest(ArgReader& args, bool may_store) {
  SortRequest request;
  request.key = args.Word();
  while (args.ok() && !args.AtEnd()) TakeSortOption(args, may_store, request);
  return request;
}

}  // namespace zsetd
