// BITOP.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/value.h"
#include "core/string/bits.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

struct NamedOperation {
  std::string_view name;
  BitOperation operation;
  size_t least_strings = 1;
  bool is_new = false;  // new in Redis 8.2, so its result is propagated
};

constexpr NamedOperation kOperations[] = {
    {"AND", BitOperation::kAnd},
    {"OR", BitOperation::kOr},
    {"XOR", BitOperation::kXor},
    {"NOT", BitOperation::kNot},
    {"ONE", BitOperation::kOne, 1, true},
    {"DIFF", BitOperation::kDiff, 2, true},
    {"DIFF1", BitOperation::kDiff1, 2, true},
    {"ANDOR", BitOperation::kAndOr, 2, true},
};

const NamedOperation* TakeOperation(ArgReader& args) {
  for (const NamedOperation& each : kOperations) {
    if (args.Take(each.name)) return &each;
  }
  args.Refuse(kSyntaxError);
  return nullptr;
}

void CheckCount(ArgReader& args, const NamedOperation& operation, size_t strings) {
  if (operation.operation == BitOperation::kNot && strings != 1) {
    args.Refuse("ERR BITOP NOT must be called with a single source key.");
  }
  if (strings < operation.least_strings) {
    args.Refuse("ERR BITOP " + std::string(operation.name) +
                " must be called with at least two source keys.");
  }
}

// The destination may be one of the inputs, so the result is complete before it is stored.
void BitOp(Call& call) {
  const NamedOperation* operation = TakeOperation(call.args);
  const std::string_view destination = call.args.Word();
  const Args keys = call.args.Rest();
  if (operation != nullptr) CheckCount(call.args, *operation, keys.size());
  std::vector<std::string_view> strings;
  for (const std::string_view key : keys) {
    strings.push_back(call.Find<ByteString>(key).value_or(ByteString()).view());
  }
  if (call.Refused()) return;
  const std::string result = Combine(operation->operation, strings);
  call.reply.Integer(static_cast<int64_t>(result.size()));
  if (result.empty()) {
    if (call.keys.Erase(destination)) call.Propagate({"DEL", destination});
  } else {
    call.keys.Put(destination, ByteString(result, /*edited_in_place=*/true), KeyEvent::kSet);
    if (operation->is_new) call.Propagate({"SET", destination, result});
  }
}

constexpr Command kBitOperationCommands[] = {
    {.name = "bitop",
     .run = BitOp,
     .arity = -4,
     .flags = kWrite | kDenyOom,
     .keys = {2, -1, 1},
     .group = CommandGroup::kBitmap,
     .since = "2.6.0",
     .usage = "<AND|OR|XOR|NOT|DIFF|DIFF1|ANDOR|ONE> destkey key [key ...]",
     .summary = "Stores the result of a bitwise operation on several strings.",
     .cost = "O(N) for N bytes of all strings",
     .key_use = "OW update,RO access"},
};

}  // namespace

std::span<const Command> BitOperationCommands() { return kBitOperationCommands; }

}  // namespace zsetd
