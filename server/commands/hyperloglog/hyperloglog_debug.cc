// PFDEBUG and PFSELFTEST.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/hyperloglog/dense_registers.h"
#include "core/hyperloglog/hyperloglog_editor.h"
#include "core/hyperloglog/self_test.h"
#include "core/hyperloglog/sparse_registers.h"
#include "server/commands/hyperloglog/families.h"
#include "server/commands/hyperloglog/hyperloglog_value.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Encodes the registers densely. Returns whether they were sparse, or replies an error.
bool MakeDense(Call& call, Edit<ByteString>& string) {
  if (HyperLogLog::From(string.view())->encoding() == HllEncoding::kDense) return false;
  bool converted = false;
  string.ChangeText([&](std::string& text) {
    HyperLogLogEditor editor(text, call.keys.most_sparse_hyperloglog_bytes());
    converted = editor.MakeDense();
    return converted ? 1 : 0;
  });
  if (!converted) call.Fail(kDamagedHyperLogLog);
  return converted;
}

void ReplyRegisters(Call& call, Edit<ByteString>& string) {
  MakeDense(call, string);
  if (call.refused()) return;
  const std::string_view dense = HyperLogLog::From(string.view())->registers();
  call.reply.Array(kHllRegisters);
  for (size_t i = 0; i < kHllRegisters; ++i) {
    call.reply.Integer(DenseHllRegister(dense.data(), i));
  }
}

// The run at the start of `sparse`. A zero byte completes one that is cut off, as in Redis.
SparseRun RunOrRest(std::string_view sparse) {
  if (const std::optional<SparseRun> run = FirstRun(sparse)) return *run;
  const char whole[] = {sparse[0], '\0'};
  return *FirstRun({whole, sizeof(whole)});
}

// Replies the runs of sparse registers, even if these are damaged; but not many more runs than
// there are registers.
void ReplyRuns(Call& call, std::string_view sparse) {
  constexpr size_t kMostRuns = 64 * kHllRegisters;
  std::string text;
  for (size_t runs = 0; !sparse.empty(); ++runs) {
    if (runs == kMostRuns) return call.Fail(kDamagedHyperLogLog);
    const SparseRun run = RunOrRest(sparse);
    if (!text.empty()) text += ' ';
    const std::string length = std::to_string(run.length);
    if (run.HasValue()) {
      text += "v:" + std::to_string(run.value) + "," + length;
    } else {
      text += (run.bytes == 1 ? "z:" : "Z:") + length;
    }
    sparse.remove_prefix(std::min<size_t>(run.bytes, sparse.size()));
  }
  call.reply.Bulk(text);
}

void PfDebug(Call& call) {
  constexpr size_t kMostNameBytes = 128;
  ArgReader name = call.args;
  call.args.Word();
  Edit<ByteString> string = OpenHyperLogLog(call, call.args.Word(), KeyEvent::kNone);
  if (call.args.ok() && !string) call.args.Refuse("ERR The specified key does not exist");
  if (call.Refused()) return;
  const HyperLogLog found = *HyperLogLog::From(string.view());
  const bool is_sparse = found.encoding() == HllEncoding::kSparse;
  if (name.Take("getreg")) {
    ReplyRegisters(call, string);
  } else if (name.Take("decode")) {
    if (!is_sparse) return call.Fail("ERR HLL encoding is not sparse");
    ReplyRuns(call, found.registers());
  } else if (name.Take("encoding")) {
    call.reply.Simple(is_sparse ? "sparse" : "dense");
  } else if (name.Take("todense")) {
    const bool converted = MakeDense(call, string);
    if (!call.refused()) call.reply.Integer(converted);
  } else {
    call.Fail("ERR Unknown PFDEBUG subcommand " + Quoted(name.Peek(), kMostNameBytes));
  }
}

void PfSelfTest(Call& call) {
  if (const std::optional<std::string> failure = TestHyperLogLog()) {
    return call.Fail("TESTFAILED " + *failure);
  }
  call.reply.Ok();
}

constexpr Command kHyperLogLogDebugCommands[] = {
    {.name = "pfdebug",
     .run = PfDebug,
     .arity = 3,
     .flags = kWrite | kDenyOom | kAdmin,
     .keys = {2, 2, 1},
     .group = CommandGroup::kHyperLogLog,
     .since = "2.8.9",
     .usage = "<GETREG|DECODE|ENCODING|TODENSE> key",
     .summary = "Returns the registers, the runs or the encoding of a HyperLogLog, or encodes it "
                "densely.",
     .cost = "O(1)",
     .key_use = "RW access"},
    {.name = "pfselftest",
     .run = PfSelfTest,
     .arity = 1,
     .flags = kAdmin,
     .group = CommandGroup::kHyperLogLog,
     .since = "2.8.9",
     .summary = "Tests the implementation of HyperLogLog.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> HyperLogLogDebugCommands() { return kHyperLogLogDebugCommands; }

}  // namespace zsetd
