#include "server/commands/common/random_request.h"

#include <limits>

namespace zsetd {
namespace {

constexpr int64_t kMostChosen = std::numeric_limits<int64_t>::max();
constexpr std::string_view kNotACount =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";

}  // namespace

RandomRequest TakeRandomRequest(ArgReader& args, std::string_view more, bool may_have_data) {
  RandomRequest request = {.counted = !args.AtEnd()};
  if (!request.counted) return request;
  request.count = args.Integer();
  if (request.count < -kMostChosen) args.Refuse(kNotACount);
  while (args.ok() && !args.AtEnd()) {
    if (!request.with_more && !more.empty() && args.Take(more)) {
      request.with_more = true;
    } else if (!request.with_data && may_have_data && args.Take("withdata")) {
      request.with_data = true;
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  const bool has_parts = request.with_more || request.with_data;
  const size_t most = kMostChosen / (1 + request.with_more + request.with_data);
  if (has_parts && request.size() > most) {
    args.Refuse("ERR value is out of range");  // in RESP2 each part counts
  }
  return request;
}

}  // namespace zsetd
