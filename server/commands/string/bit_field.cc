// BITFIELD and BITFIELD_RO: integers of any width inside a string.
#include "core/string/bit_field.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/string/bit_position.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// One operation on one field.
struct FieldStep {
  enum class Kind { kGet, kSet, kIncrement };

  Kind kind = Kind::kGet;
  BitFieldType type;
  uint64_t position = 0;
  int64_t operand = 0;  // the value or the increment
  Overflow overflow = Overflow::kWrap;

  ByteRange Bytes() const { return {position / 8, (position + type.bits + 7) / 8}; }
};

// Takes a type such as u8 or i64.
BitFieldType TakeType(ArgReader& args) {
  const std::string_view word = args.Word();
  const bool has_sign = word.starts_with('i');
  const std::optional<int64_t> bits = ParseInteger(word.substr(std::min<size_t>(1, word.size())));
  if ((has_sign || word.starts_with('u')) && bits && *bits >= 1 && *bits <= 63 + has_sign) {
    return {.has_sign = has_sign, .bits = static_cast<int>(*bits)};
  }
  args.Refuse(
      "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
      "i64 is.");
  return BitFieldType();
}

Overflow TakeOverflow(ArgReader& args) {
  if (args.Take("wrap")) return Overflow::kWrap;
  if (args.Take("sat")) return Overflow::kSaturate;
  if (args.Take("fail")) return Overflow::kFail;
  args.Refuse(args.AtEnd() ? kSyntaxError : "ERR Invalid OVERFLOW type specified");
  return Overflow::kWrap;
}

// Takes GET, SET or INCRBY. Takes nothing unless all of its arguments are present.
FieldStep TakeStep(Call& call, Overflow overflow) {
  using Kind = FieldStep::Kind;
  ArgReader& args = call.args;
  FieldStep step = {.overflow = overflow};
  if (args.Take("get")) {
    step.kind = Kind::kGet;
  } else if (args.Take("set")) {
    step.kind = Kind::kSet;
  } else if (args.Take("incrby")) {
    step.kind = Kind::kIncrement;
  } else {
    args.Refuse(kSyntaxError);
  }
  const bool has_operand = step.kind != Kind::kGet;
  if (args.left() < 2u + has_operand) args.Refuse(kSyntaxError);
  step.type = TakeType(args);
  step.position = TakeFieldPosition(call, step.type.bits);
  if (has_operand) step.operand = args.Integer();
  return step;
}

// An OVERFLOW applies to all operations after it.
std::vector<FieldStep> TakeSteps(Call& call) {
  std::vector<FieldStep> steps;
  Overflow overflow = Overflow::kWrap;
  while (call.args.ok() && !call.args.AtEnd()) {
    if (call.args.Take("overflow")) {
      overflow = TakeOverflow(call.args);
    } else {
      steps.push_back(TakeStep(call, overflow));
    }
  }
  return steps;
}

bool OnlyReads(const FieldStep& step) { return step.kind == FieldStep::Kind::kGet; }

// The effect of a step that writes.
enum class Written { kNothing, kSameValue, kNewValue };

// Runs a step that writes, if the new value fits, and replies to it.
Written Write(ReplyWriter& reply, const FieldStep& step, std::span<char> bytes) {
  assert(!OnlyReads(step) && step.Bytes().end <= bytes.size());
  const std::string_view text(bytes.data(), bytes.size());
  const int64_t old = ReadBitField(text, step.type, step.position);
  const bool adds = step.kind == FieldStep::Kind::kIncrement;
  const std::optional<int64_t> fresh = adds ? FittedSum(step.type, old, step.operand, step.overflow)
                                            : FittedValue(step.type, step.operand, step.overflow);
  if (!fresh) {
    reply.Null();
    return Written::kNothing;
  }
  WriteBitField(bytes, step.type, step.position, *fresh);
  reply.Integer(adds ? *fresh : old);
  return *fresh == old ? Written::kSameValue : Written::kNewValue;
}

void ReplyField(ReplyWriter& reply, const FieldStep& step, std::string_view bytes) {
  reply.Integer(ReadBitField(bytes, step.type, step.position));
}

void ReadFields(Call& call, std::string_view key, const std::vector<FieldStep>& steps) {
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (call.Refused()) return;
  call.reply.Array(steps.size());
  for (const FieldStep& step : steps) {
    ReplyField(call.reply, step, string.value_or(ByteString()).view());
  }
}

// Grows the string for all fields that are written before it writes the first one. As in Redis, a
// string that only grows because no value fits counts as unchanged. Unlike Redis, the request is
// then propagated, so that replicas and the log have the same bytes.
void WriteFields(Call& call, std::string_view key, const std::vector<FieldStep>& steps) {
  constexpr KeyEvent kEvent = KeyEvent::kSetBit;
  Edit<ByteString> string = call.Open<ByteString>(key, kEvent);
  if (call.Refused()) return;
  if (!string) string = call.keys.Make<ByteString>(key, kEvent);
  std::vector<ByteRange> ranges;
  bool grows = false;
  for (const FieldStep& step : steps) {
    if (OnlyReads(step)) continue;
    ranges.push_back(step.Bytes());
    grows |= string.view().size() < step.Bytes().end;
  }
  call.reply.Array(steps.size());
  uint64_t changes = 0;
  string.Rewrite(ranges, [&](std::span<char> bytes) {
    for (const FieldStep& step : steps) {
      if (OnlyReads(step)) {
        ReplyField(call.reply, step, {bytes.data(), bytes.size()});
      } else {
        const Written written = Write(call.reply, step, bytes);
        changes += written == Written::kNewValue || (grows && written == Written::kSameValue);
      }
    }
    return changes;
  });
  if (grows && changes == 0) call.PropagateRequest();
}

void BitField(Call& call) {
  const std::string_view key = call.args.Word();
  const std::vector<FieldStep> steps = TakeSteps(call);
  const bool only_reads = std::all_of(steps.begin(), steps.end(), OnlyReads);
  if (only_reads) {
    ReadFields(call, key, steps);
  } else {
    WriteFields(call, key, steps);
  }
}

void BitFieldRo(Call& call) {
  const std::string_view key = call.args.Word();
  const std::vector<FieldStep> steps = TakeSteps(call);
  if (!std::all_of(steps.begin(), steps.end(), OnlyReads)) {
    call.args.Refuse("ERR BITFIELD_RO only supports the GET subcommand");
  }
  ReadFields(call, key, steps);
}

constexpr std::string_view kWritingOptions[] = {"set", "incrby"};

constexpr Command kBitFieldCommands[] = {
    {.name = "bitfield",
     .run = BitField,
     .arity = -2,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "3.2.0",
     .usage = "key [<GET encoding offset|OVERFLOW <WRAP|SAT|FAIL>|SET encoding offset value|INCRBY "
              "encoding offset increment> [<GET encoding offset|OVERFLOW <WRAP|SAT|FAIL>|SET "
              "encoding offset value|INCRBY encoding offset increment> ...]]",
     .summary = "Reads, writes and increments integer fields of arbitrary width in a string.",
     .cost = "O(1) for each operation, and O(N) for N bytes that the string grows",
     .key_use = "RW access update variable_flags",
     .variable_use = {"RW access update", "RO access", kWritingOptions, 2}},
    {.name = "bitfield_ro",
     .run = BitFieldRo,
     .arity = -2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kBitmap,
     .since = "6.0.0",
     .usage = "key [GET encoding offset [GET encoding offset ...]]",
     .summary = "Reads integer fields of arbitrary width in a string.",
     .cost = "O(1) for each operation"},
};

}  // namespace

std::span<const Command> BitFieldCommands() { return kBitFieldCommands; }

}  // namespace zsetd
