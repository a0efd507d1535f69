#include "server/commands/string/bit_position.h"

#include <optional>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

uint64_t PositionOf(Call& call, std::string_view word, int64_t unit) {
  const std::optional<int64_t> number = ParseInteger(word);
  const int64_t most = 8 * static_cast<int64_t>(call.keys.most_string_bytes()) - 1;
  if (number && *number >= 0 && *number <= most / unit) return *number * unit;
  call.args.Refuse("ERR bit offset is not an integer or out of range");
  return 0;
}

}  // namespace

uint64_t TakeBitPosition(Call& call) { return PositionOf(call, call.args.Word(), 1); }

uint64_t TakeFieldPosition(Call& call, int field_bits) {
  const std::string_view word = call.args.Word();
  const bool is_number_of_field = word.starts_with('#');
  return PositionOf(call, word.substr(is_number_of_field), is_number_of_field ? field_bits : 1);
}

}  // namespace zsetd
