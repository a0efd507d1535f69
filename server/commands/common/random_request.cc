#include "server/commands/common/random_request.h"

#include <limits>

namespace zsetd {
namespace {

constexpr int64_t kMostChosen = std::numeric_limits<int64_t>::max();
constexpr std::string_view kNotACount =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";

}  // namespace

RandomRequest TakeRandomRequest(ArgReader& args, std::string_view more) {
  RandomRequest request = {.counted = !args.AtEnd()};
  if (!request.counted) return request;
  request.count = args.Integer();
  if (request.count < -kMostChosen) args.Refuse(kNotACount);
  request.with_more = !more.empty() && args.Take(more);
  args.End();
  if (request.with_more && request.size() > kMostChosen / 2) {
    args.Refuse("ERR value is out of range");  // in RESP2 each counts twice
  }
  return request;
}

}  // namespace zsetd
