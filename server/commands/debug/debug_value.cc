// Subcommands of DEBUG that inspect a value. The texts are Redis's, because test suites parse them.
// The figures are those of zsetd.

#include <cstdio>
#include <string>
#include <string_view>

#include "core/util/allocation.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/encoding.h"
#include "server/commands/debug/debug.h"
#include "server/engine/store/rdb_value_writer.h"

namespace zsetd {
namespace {

const Entry* FindOrFail(AdminCall& call) {
  const Entry* entry = call.database().Find(call.args.Word());
  if (entry == nullptr) call.Fail(kNoSuchKey);
  return entry;
}

std::string AddressText(const void* object) {
  char text[24];
  std::snprintf(text, sizeof text, "%p", object);
  return text;
}

// The length of the DUMP payload without its frame.
size_t SerializedBytes(const Entry& entry) {
  std::string bytes;
  RdbWriter writer(bytes);
  WriteValue(entry, writer);
  return bytes.size();
}

// Returns the fields that Redis adds for a quicklist. Its nodes correspond to the list's chunks,
// which are never compressed.
std::string QuicklistText(const Entry& entry, const Settings& settings) {
  const List* list = entry.GetIf<List>();
  if (list == nullptr || list->encoding() == ListEncoding::kListpack) return {};
  const auto nodes = static_cast<double>(list->chunk_count());
  return " ql_nodes:" + std::to_string(list->chunk_count()) +
         " ql_avg_node:" + FixedText(static_cast<double>(list->size()) / nodes, 2) +
         " ql_listpack_max:" + std::to_string(settings.list_max_listpack_size) +
         " ql_compressed:0 ql_uncompressed_size:" + std::to_string(list->packed_bytes());
}

size_t ElementCount(const ByteString& string) { return string.view().size(); }
template <class Aggregate>
size_t ElementCount(const Aggregate& aggregate) {
  return aggregate.size();
}

// Logs the size of the value if Redis would use this encoding for it.
void LogLayout(AdminCall& call, std::string_view encoding, std::string_view reply) {
  const Entry* entry = FindOrFail(call);
  if (entry == nullptr) return;
  if (EncodingName(*entry) != encoding) {
    return call.Fail("ERR Not a " + std::string(encoding) + " encoded object.");
  }
  const size_t count = entry->VisitValue([](const auto& value) { return ElementCount(value); });
  call.engine.host().log->Write(
      LogLevel::kWarning, "DEBUG: '" + std::string(entry->key()) + "' is a " +
                              std::string(entry->TypeName()) + " of " + std::to_string(count) +
                              " elements in " + std::to_string(entry->BytesUsed()) + " bytes");
  call.reply.Simple(reply);
}

}  // namespace

void DebugObject(AdminCall& call) {
  const Entry* entry = FindOrFail(call);
  if (entry == nullptr) return;
  const AccessTracker& meter = call.keys.access_tracker();
  const auto idle_s = meter.rule().lfu ? 0 : meter.IdleTime(entry->access_stamp()).count();
  call.reply.Simple("Value at:" + AddressText(entry) +
                    " refcount:1 encoding:" + std::string(EncodingName(*entry)) +
                    " serializedlength:" + std::to_string(SerializedBytes(*entry)) +
                    " lru:" + std::to_string(entry->access_stamp()) + " lru_seconds_idle:" +
                    std::to_string(idle_s) + QuicklistText(*entry, call.engine.settings()) +
                    " bytes:" + std::to_string(entry->BytesUsed()));
}

void DebugListpack(AdminCall& call) {
  LogLayout(call, "listpack", "Listpack structure printed on stdout");
}

void DebugQuicklist(AdminCall& call) {
  LogLayout(call, "quicklist", "Quicklist structure printed on stdout");
}

// The key and the value of a short string share one allocation, which counts as the key's memory.
void DebugStringLength(AdminCall& call) {
  const Entry* entry = FindOrFail(call);
  if (entry == nullptr) return;
  if (!entry->Holds<ByteString>()) return call.Fail("ERR Not an sds encoded string.");
  const size_t shared = AllocatedBytes(entry);
  const size_t apart = entry->BytesUsed() - shared;
  const size_t length = entry->GetIf<ByteString>()->view().size();
  const size_t spare = apart > length ? apart - length - 1 : 0;
  call.reply.Simple("key_sds_len:" + std::to_string(entry->key().size()) +
                    ", key_sds_avail:0, key_zmalloc: " + std::to_string(shared) + ", val_sds_len:" +
                    std::to_string(length) + ", val_sds_avail:" + std::to_string(spare) +
                    ", val_zmalloc: " + std::to_string(apart));
}

void DebugStructSizes(AdminCall& call) {
  const auto size = [](std::string_view name, size_t bytes) {
    return std::string(name) + ":" + std::to_string(bytes) + " ";
  };
  call.reply.Simple(size("bits", 8 * sizeof(void*)) + size("entry", sizeof(Entry)) +
                    size("list", sizeof(List)) + size("hash", sizeof(Hash)) +
                    size("set", sizeof(Set)) + size("zset", sizeof(SortedSet)) +
                    size("stream", sizeof(Stream)) + size("client", sizeof(Client)));
}

}  // namespace zsetd
