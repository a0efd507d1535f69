#include "server/commands/common/multi_pop_request.h"

#include <limits>

namespace zsetd {
namespace {

constexpr int64_t kMostPopped = std::numeric_limits<int64_t>::max();

}  // namespace

Args TakeCountedKeys(ArgReader& args) {
  const int64_t count = args.IntegerIn(1, kMostPopped, "ERR numkeys should be greater than 0");
  if (args.ok() && static_cast<uint64_t>(count) >= args.left()) args.Refuse(kSyntaxError);
  return args.Next(static_cast<size_t>(count));
}

uint64_t TakeMultiPopCount(ArgReader& args) {
  if (args.AtEnd()) return 1;
  const uint64_t count = TakeCountOption(args);
  args.End();
  return count;
}

uint64_t TakeCountOption(ArgReader& args) {
  if (!args.Take("count")) args.Refuse(kSyntaxError);
  return static_cast<uint64_t>(
      args.IntegerIn(1, kMostPopped, "ERR count should be greater than 0"));
}

}  // namespace zsetd
