// PFADD, PFCOUNT and PFMERGE: the number of distinct elements, estimated.
#include "core/hyperloglog/hyperloglog.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/hyperloglog/cardinality.h"
#include "core/hyperloglog/hyperloglog_editor.h"
#include "server/commands/hyperloglog/families.h"
#include "server/commands/hyperloglog/hyperloglog_value.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Adds the elements. Returns the number of raised registers; nullopt if the registers are damaged,
// and `text` is as it was.
std::optional<uint64_t> AddElements(std::string& text, Args elements, size_t most_sparse_bytes) {
  const bool may_fail_later =
      elements.size() > 1 && HyperLogLog::From(text)->encoding() == HllEncoding::kSparse;
  const std::string before = may_fail_later ? text : std::string();
  HyperLogLogEditor editor(text, most_sparse_bytes);
  uint64_t raised = 0;
  for (const std::string_view element : elements) {
    const HyperLogLogEditor::Result result = editor.Raise(UpdateOf(element));
    if (result == HyperLogLogEditor::Result::kDamaged) {
      if (raised > 0) text = before;
      return std::nullopt;
    }
    raised += result == HyperLogLogEditor::Result::kRaised;
  }
  if (raised > 0) editor.MarkEstimateOutdated();
  return raised;
}

// A new key counts as a change, even without elements.
void PfAdd(Call& call) {
  const std::string_view key = call.args.Word();
  const Args elements = call.args.Rest();
  Edit<ByteString> string = OpenHyperLogLog(call, key, KeyEvent::kPfAdd);
  if (call.Refused()) return;
  const bool is_new = !string;
  if (is_new) string = call.keys.Make<ByteString>(key, KeyEvent::kPfAdd);
  const size_t most_sparse_bytes = call.keys.most_sparse_hyperloglog_bytes();
  std::optional<uint64_t> changes;
  string.ChangeText([&](std::string& text) {
    if (is_new) {
      text = HyperLogLog::Empty();
      HyperLogLogEditor(text, most_sparse_bytes).MarkEstimateOutdated();
    }
    changes = AddElements(text, elements, most_sparse_bytes);
    if (changes) *changes += is_new;
    return changes.value_or(0);
  });
  if (!changes) return call.Fail(kDamagedHyperLogLog);
  call.reply.Integer(*changes > 0);
}

// Raises each register to those of all keys that exist. Returns whether a key is dense.
bool RaiseToKeys(Call& call, Args keys, HllRegisters& registers) {
  bool has_dense = false;
  for (const std::string_view key : keys) {
    const std::optional<HyperLogLog> found = FindHyperLogLog(call, key);
    if (!found) continue;
    if (!found->Raise(registers)) call.args.Refuse(kDamagedHyperLogLog);
    has_dense |= found->encoding() == HllEncoding::kDense;
  }
  return has_dense;
}

void CountUnion(Call& call, Args keys) {
  HllRegisters registers = {};
  RaiseToKeys(call, keys, registers);
  if (call.Refused()) return;
  call.reply.Integer(static_cast<int64_t>(EstimateCardinality(HistogramOf(registers))));
}

// Stores the estimate in the string, which is a change that is propagated: replicas and the log
// hold the same bytes.
void PfCount(Call& call) {
  const Args keys = call.args.Rest();
  if (keys.size() > 1) return CountUnion(call, keys);
  const std::optional<HyperLogLog> found = FindHyperLogLog(call, keys[0]);
  if (call.Refused()) return;
  if (!found) return call.reply.Integer(0);
  if (const std::optional<uint64_t> cached = found->cached_estimate()) {
    return call.reply.Integer(static_cast<int64_t>(*cached));
  }
  const std::optional<uint64_t> estimate = found->Estimate();
  if (!estimate) return call.Fail(kDamagedHyperLogLog);
  call.Open<ByteString>(keys[0], KeyEvent::kNone)
      .Rewrite({&kHllEstimateRange, 1}, [&](std::span<char> bytes) {
        SetHllEstimate(bytes, *estimate);
        return 1;
      });
  call.PropagateRequest();
  call.reply.Integer(static_cast<int64_t>(*estimate));
}

// The destination is one of the sources. It becomes dense if one of them is.
void PfMerge(Call& call) {
  const Args keys = call.args.Rest();
  HllRegisters registers = {};
  const bool has_dense = RaiseToKeys(call, keys, registers);
  if (call.Refused()) return;
  Edit<ByteString> string = call.Open<ByteString>(keys[0], KeyEvent::kPfAdd);
  const bool is_new = !string;
  if (is_new) string = call.keys.Make<ByteString>(keys[0], KeyEvent::kPfAdd);
  string.ChangeText([&](std::string& text) {
    if (is_new) text = HyperLogLog::Empty();
    HyperLogLogEditor editor(text, call.keys.most_sparse_hyperloglog_bytes());
    if (has_dense) editor.MakeDense();
    editor.RaiseAll(registers);
    editor.MarkEstimateOutdated();
    return 1;
  });
  call.reply.Ok();
}

constexpr Command kHyperLogLogCommands[] = {
    {.name = "pfadd",
     .run = PfAdd,
     .arity = -2,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHyperLogLog,
     .since = "2.8.9",
     .usage = "key [element [element ...]]",
     .summary = "Adds elements to a HyperLogLog; returns 1 if its estimate may have changed.",
     .cost = "O(1) for each element",
     .key_use = "RW insert"},
    {.name = "pfcount",
     .run = PfCount,
     .arity = -2,
     .flags = kReadOnly | kMayReplicate,
     .keys = kAllKeys,
     .group = CommandGroup::kHyperLogLog,
     .since = "2.8.9",
     .usage = "key [key ...]",
     .summary = "Estimates the number of distinct elements in the union of HyperLogLogs.",
     .cost = "O(1) for one key whose estimate is stored in it, else O(N) for N keys",
     .key_use = "RW access"},
    {.name = "pfmerge",
     .run = PfMerge,
     .arity = -2,
     .flags = kWrite | kDenyOom,
     .keys = kAllKeys,
     .group = CommandGroup::kHyperLogLog,
     .since = "2.8.9",
     .usage = "destkey [sourcekey [sourcekey ...]]",
     .summary = "Adds the elements of HyperLogLogs to another one.",
     .cost = "O(N) for N keys",
     .key_use = "RW access insert,RO access"},
};

}  // namespace

std::span<const Command> HyperLogLogCommands() { return kHyperLogLogCommands; }

}  // namespace zsetd
