// DEBUG HTSTATS and HTSTATS-KEY: how evenly the keys are spread by hashing, in Redis's format.

#include <algorithm>
#include <map>
#include <string>

#include "server/commands/common/encoding.h"
#include "server/commands/debug/debug.h"
#include "server/commands/diagnostics/info_writer.h"

namespace zsetd {
namespace {

// Counts the chains of a hash table by their length.
struct ChainLengths {
  std::map<size_t, size_t> chains;  // the number of chains by length
  size_t buckets = 0;
  size_t elements = 0;

  void operator()(size_t length) {
    ++chains[length];
    ++buckets;
    elements += length;
  }
};

std::string Distribution(const ChainLengths& lengths) {
  std::string text = " Chain length distribution:\n";
  for (const auto& [length, count] : lengths.chains) {
    const double share = 100.0 * static_cast<double>(count) / static_cast<double>(lengths.buckets);
    text += "   " + std::to_string(length) + ": " + std::to_string(count) + " (" +
            FractionText(share, 2) + "%)\n";
  }
  return text;
}

std::string Describe(const ChainLengths& lengths) {
  std::string text = "Hash table 0 stats (main hash table):\n";
  if (lengths.elements == 0) return text + "No stats available for empty dictionaries\n";
  const auto empty = lengths.chains.find(0);
  const size_t used = lengths.buckets - (empty == lengths.chains.end() ? 0 : empty->second);
  const std::string average =
      FractionText(static_cast<double>(lengths.elements) / static_cast<double>(used), 2);
  text += " table size: " + std::to_string(lengths.buckets) + "\n";
  text += " number of elements: " + std::to_string(lengths.elements) + "\n";
  text += " different slots: " + std::to_string(used) + "\n";
  text += " max chain length: " + std::to_string(lengths.chains.rbegin()->first) + "\n";
  text += " avg chain length (counted): " + average + "\n";
  text += " avg chain length (computed): " + average + "\n";
  return text + Distribution(lengths);
}

// FULL has no effect. In Redis it adds the distribution, which is always included here.
void TakeFull(ArgReader& args) {
  if (!args.AtEnd() && !args.Take("full")) args.Refuse(kSyntaxError);
}

ChainLengths ChainsOf(const Entry& entry) {
  ChainLengths lengths;
  if (const Hash* hash = entry.GetIf<Hash>()) hash->ForEachChain(lengths);
  if (const Set* set = entry.GetIf<Set>()) set->ForEachChain(lengths);
  return lengths;
}

}  // namespace

// Keys with a deadline are in a tree (ExpiryIndex), so there is no second table.
void DebugHashTables(AdminCall& call) {
  const int64_t index = call.args.Integer();
  TakeFull(call.args);
  if (call.Refused()) return;
  if (index < 0 || index >= call.keys.database_count()) {
    return call.Fail("ERR Out of range database");
  }
  const Keyspace& keys = call.engine.store().database(static_cast<int>(index)).keys();
  ChainLengths lengths;
  keys.ForEachChain(lengths);
  call.reply.Verbatim("txt", "[Dictionary HT]\n" + Describe(lengths) + "[Expires HT]\n" +
                                 "No hash table: in order of time\n number of elements: " +
                                 std::to_string(keys.with_deadline()) + "\n");
}

void DebugHashTableOf(AdminCall& call) {
  const Entry* entry = call.database().Find(call.args.Word());
  if (entry == nullptr) call.args.Refuse(kNoSuchKey);
  TakeFull(call.args);
  if (call.Refused()) return;
  if (EncodingName(*entry) != "hashtable") {
    return call.Fail(
        "ERR The value stored at the specified key is not represented using an hash table");
  }
  call.reply.Verbatim("txt", Describe(ChainsOf(*entry)));
}

}  // namespace zsetd
