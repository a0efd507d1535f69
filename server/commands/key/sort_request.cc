#include "server/commands/key/sort_request.h"

#include <algorithm>

namespace zsetd {
namespace {

// Takes the option, if it is next and at least this number of arguments follows it.
bool TakeWith(ArgReader& args, std::string_view option, size_t argv) {
  return args.left() > argv && args.Take(option);
}

void TakeOption(ArgReader& args, bool may_store, SortRequest& request) {
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

RankRange SortRequest::Within(size_t size) const {
  const size_t first = std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), size);
  const size_t left = size - first;
  const size_t wanted = count < 0 ? left : std::min(static_cast<size_t>(count), left);
  return {.first = first, .last = first + wanted};
}

SortRequest TakeSortRequest(ArgReader& args, bool may_store) {
  SortRequest request;
  request.key = args.Word();
  while (args.ok() && !args.AtEnd()) TakeOption(args, may_store, request);
  return request;
}

}  // namespace zsetd
