#include "server/engine/store/stream/stream_rdb_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/rdb/packed_elements.h"
#include "server/engine/store/stream/stream_listpack_reader.h"
#include "server/engine/store/stream/stream_producers.h"

namespace zsetd {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kTimeBytes = 8;
constexpr Millis kNever{-1};  // Consumer::active

// A pending entry of a group, whose consumer is named later.
struct Unowned {
  StreamId id;
  Millis delivered{0};
  uint64_t deliveries = 0;
  bool is_owned = false;
};

StreamId IdFrom(std::string_view bytes) {
  ByteCursor cursor(bytes);
  const uint64_t ms = cursor.BigEndian(8);
  return {ms, cursor.BigEndian(8)};
}

StreamId TakeIdLengths(RdbReader& reader) {
  const uint64_t ms = reader.Length();
  return {ms, reader.Length()};
}

// A time before 1970 is taken as `least`.
Millis TakeTime(RdbReader& reader, Millis least = Millis(0)) {
  const auto millis = static_cast<int64_t>(reader.LittleEndian(kTimeBytes));
  return std::max(Millis(millis), least);
}

bool ReadBlock(RdbReader& reader, const StreamLimits& limits, Stream& stream) {
  const std::string_view base = reader.String();
  if (!reader.ok() || base.size() != kIdBytes) return false;
  const StreamId base_id = IdFrom(base);
  const std::string_view bytes = reader.String();
  StreamListpackReader listpack(stream, limits, base_id, bytes.size());
  return reader.ok() &&
         ReadListpack(bytes, [&](std::string_view element) { return listpack.Take(element); }) &&
         listpack.IsComplete();
}

std::vector<Unowned> ReadPending(RdbReader& reader) {
  std::vector<Unowned> pending;
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    Unowned entry;
    entry.id = IdFrom(reader.Bytes(kIdBytes));
    entry.delivered = TakeTime(reader);
    entry.deliveries = reader.Length();
    if (reader.ok()) pending.push_back(entry);
  }
  return pending;
}

// Takes an ID. Returns its pending entry; null if it does not exist or was taken before.
const Unowned* TakeUnowned(RdbReader& reader, std::vector<Unowned>& pending) {
  const StreamId id = IdFrom(reader.Bytes(kIdBytes));
  const auto entry = std::ranges::lower_bound(pending, id, {}, &Unowned::id);
  if (!reader.ok() || entry == pending.end() || entry->id != id) return nullptr;
  return std::exchange(entry->is_owned, true) ? nullptr : &*entry;
}

// Reads a consumer and assigns its pending entries. The empty consumer stands for no consumer if
// it was last seen at time 0: see stream_rdb_writer.h. As in Redis, a consumer of a format without
// its last activity was active when it was last seen.
bool ReadConsumer(RdbReader& reader, RdbType type, std::vector<Unowned>& pending,
                  ConsumerGroup& group) {
  const std::string name(reader.String());
  const Millis seen = TakeTime(reader);
  const Millis active = type >= RdbType::kStream3 ? TakeTime(reader, kNever) : seen;
  if (!reader.ok() || group.FindConsumer(name) != nullptr) return false;
  group.Seen(name, seen).first.active = active;
  size_t released = 0;
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const Unowned* const entry = TakeUnowned(reader, pending);
    if (entry == nullptr) return false;
    if (name.empty() && entry->delivered == Millis(0)) {
      group.Release(entry->id, entry->deliveries);
      ++released;
    } else {
      group.SetPending(entry->id, name, entry->delivered, entry->deliveries);
    }
  }
  if (released > 0 && seen == Millis(0) && group.FindConsumer(name)->pending == 0) {
    group.RemoveConsumer(name);
  }
  return reader.ok();
}

// Reads the released entries, in the order of their release.
bool ReadReleased(RdbReader& reader, std::vector<Unowned>& pending, ConsumerGroup& group) {
  for (uint64_t left = reader.Length(); left > 0; --left) {
    const Unowned* const entry = TakeUnowned(reader, pending);
    if (entry == nullptr) return false;
    group.Release(entry->id, entry->deliveries);
  }
  return reader.ok();
}

// The formats before kStream2 do not have the number of entries that the group has read.
bool ReadGroup(RdbReader& reader, RdbType type, Stream& stream) {
  const std::string name(reader.String());
  const StreamId last = TakeIdLengths(reader);
  int64_t entries_read = ConsumerGroup::kUnknownCount;
  if (type != RdbType::kStream) {
    entries_read = static_cast<int64_t>(reader.Length());
  } else if (const std::optional<uint64_t> count = stream.CountUpTo(last)) {
    entries_read = static_cast<int64_t>(*count);
  }
  ConsumerGroup group(last, entries_read);
  std::vector<Unowned> pending = ReadPending(reader);
  std::ranges::sort(pending, {}, &Unowned::id);
  const auto same = std::ranges::adjacent_find(pending, {}, &Unowned::id);
  if (!reader.ok() || same != pending.end()) return false;
  for (uint64_t left = reader.Length(); left > 0; --left) {
    if (!reader.ok() || !ReadConsumer(reader, type, pending, group)) return false;
  }
  if (type >= RdbType::kStream5 && !ReadReleased(reader, pending, group)) return false;
  return reader.ok() && group.pending().size() == pending.size() &&
         stream.AddGroup(name, std::move(group));
}

// Reads the state. That of the formats before kStream2 is computed.
bool ReadState(RdbReader& reader, RdbType type, Stream& stream) {
  const uint64_t length = reader.Length();
  StreamState state;
  state.last_id = TakeIdLengths(reader);
  state.entries_added = length;
  if (type != RdbType::kStream) {
    TakeIdLengths(reader);  // the first entry's
    state.max_deleted_id = TakeIdLengths(reader);
    state.entries_added = reader.Length();
  }
  if (!reader.ok() || length != stream.size() || state.last_id < stream.last_id()) return false;
  stream.SetState(state);
  return true;
}

// Streams that have used no IDs of producers have the usual limits and no counts.
bool ReadProducers(RdbReader& reader, Stream& stream) {
  Producers producers;
  if (!ReadStreamProducers(reader, &producers)) return false;
  const bool is_used = producers.counts().added > 0 || producers.limits() != Producers::Limits();
  if (is_used) stream.SetProducers(producers);
  return true;
}

}  // namespace

std::optional<Stream> ReadRdbStream(RdbReader& reader, RdbType type, const StreamLimits& limits) {
  Stream stream;
  for (uint64_t left = reader.Length(); left > 0; --left) {
    if (!reader.ok() || !ReadBlock(reader, limits, stream)) return std::nullopt;
  }
  if (!ReadState(reader, type, stream)) return std::nullopt;
  for (uint64_t left = reader.Length(); left > 0; --left) {
    if (!reader.ok() || !ReadGroup(reader, type, stream)) return std::nullopt;
  }
  if (type >= RdbType::kStream4 && !ReadProducers(reader, stream)) return std::nullopt;
  return reader.ok() ? std::optional(std::move(stream)) : std::nullopt;
}

}  // namespace zsetd
