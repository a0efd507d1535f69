#include "server/engine/store/stream/stream_rdb_writer.h"

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"
#include "server/engine/store/stream/stream_listpack.h"

namespace zsetd {
namespace {

using Names = std::vector<std::string>;

// The bytes of an ID, the high byte first.
std::string IdBytes(StreamId id) {
  std::string bytes;
  for (const uint64_t part : {id.ms, id.seq}) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(part >> shift);
  }
  return bytes;
}

void WriteId(StreamId id, RdbWriter& writer) {
  writer.Length(id.ms);
  writer.Length(id.seq);
}

void AddNumber(uint64_t number, ListpackWriter& packed) {
  packed.Add(IntegerText(static_cast<int64_t>(number)));
}

Names NamesOf(const StreamEntry& entry) {
  Names names;
  entry.ForEachField([&](std::string_view name, std::string_view) { names.emplace_back(name); });
  return names;
}

// Writes the number of entries and the names of the first one, which others may share.
void AddMaster(size_t entries, const Names& names, ListpackWriter& packed) {
  AddNumber(entries, packed);
  AddNumber(0, packed);  // deleted entries
  AddNumber(names.size(), packed);
  for (const std::string& name : names) packed.Add(name);
  AddNumber(0, packed);
}

// `names` are those of the first entry. Most entries refer to the same place of the block.
void AddEntry(const StreamEntry& entry, const StreamEntry& first, const Names& names,
              ListpackWriter& packed) {
  const bool same_names = entry.names == first.names || NamesOf(entry) == names;
  AddNumber(same_names ? kListpackSameFields : 0, packed);
  AddNumber(entry.id.ms - first.id.ms, packed);
  AddNumber(entry.id.seq - first.id.seq, packed);
  if (!same_names) AddNumber(entry.field_count, packed);
  entry.ForEachField([&](std::string_view name, std::string_view value) {
    if (!same_names) packed.Add(name);
    packed.Add(value);
  });
  AddNumber(ListpackElementsOf(entry.field_count, same_names), packed);
}

// Writes the IDs of the first entries of that consumer.
void WriteIds(const PendingEntries& pending, uint32_t consumer, size_t count, RdbWriter& writer) {
  for (PendingEntries::Cursor at(pending, kFirstStreamId, consumer, count); at.valid(); at.Next()) {
    writer.Written(IdBytes(at.entry().id));
  }
}

// The empty consumer has the released entries, too.
void WriteConsumer(const ConsumerGroup& group, std::string_view name, const Consumer& consumer,
                   RdbType type, RdbWriter& writer) {
  const size_t released = name.empty() ? group.released() : 0;
  writer.String(name);
  writer.LittleEndian(static_cast<uint64_t>(consumer.seen.count()), 8);
  if (type >= RdbType::kStream3) {
    writer.LittleEndian(static_cast<uint64_t>(consumer.active.count()), 8);
  }
  writer.Length(consumer.pending + released);
  WriteIds(group.pending(), consumer.number, consumer.pending, writer);
  WriteIds(group.pending(), PendingEntry::kNoConsumer, released, writer);
}

void WriteGroup(const ConsumerGroup& group, RdbType type, RdbWriter& writer) {
  WriteId(group.last_id(), writer);
  writer.Length(static_cast<uint64_t>(group.entries_read()));
  writer.Length(group.pending().size());
  for (PendingEntries::Cursor at(group.pending(), kFirstStreamId); at.valid(); at.Next()) {
    writer.Written(IdBytes(at.entry().id));
    writer.LittleEndian(static_cast<uint64_t>(at.entry().delivery_time().count()), 8);
    writer.Length(at.entry().deliveries);
  }
  const bool adds_consumer = group.released() > 0 && group.FindConsumer("") == nullptr;
  writer.Length(group.consumers().size() + adds_consumer);
  if (adds_consumer) WriteConsumer(group, "", Consumer(), type, writer);
  for (const auto& [name, consumer] : group.consumers()) {
    WriteConsumer(group, name, consumer, type, writer);
  }
}

}  // namespace

void WriteStreamBlock(const StreamBlock& block, RdbWriter& writer) {
  StreamBlock::Reader at(block);
  at.SkipTo(kFirstStreamId);
  assert(at.valid());
  const StreamEntry first = at.entry();
  const Names names = NamesOf(first);
  ListpackWriter packed;
  AddMaster(block.live(), names, packed);
  for (; at.valid(); at.Next(), at.SkipTo(kFirstStreamId)) {
    AddEntry(at.entry(), first, names, packed);
  }
  writer.String(IdBytes(first.id));
  writer.String(packed.Finish());
}

void WriteStreamTail(size_t length, StreamId first, const StreamState& state,
                     const ConsumerGroups& groups, RdbWriter& writer, RdbType type) {
  assert(length > 0 || first == kFirstStreamId);
  writer.Length(length);
  WriteId(state.last_id, writer);
  WriteId(first, writer);
  WriteId(state.max_deleted_id, writer);
  writer.Length(state.entries_added);
  writer.Length(groups.size());
  for (const auto& [name, group] : groups) {
    writer.String(name);
    WriteGroup(group, type, writer);
  }
}

}  // namespace zsetd
