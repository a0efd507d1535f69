#include "server/commands/stream/stream_reply.h"

#include <cassert>

#include "server/commands/stream/stream_id_text.h"
#include "server/engine/support/errors.h"

namespace zsetd {

void ReplyEntry(ReplyWriter& reply, const StreamEntry& entry) {
  reply.Array(2);
  ReplyEntryParts(reply, entry);
}

void ReplyEntryParts(ReplyWriter& reply, const StreamEntry& entry) {
  ReplyStreamId(reply, entry.id);
  reply.Array(2 * entry.field_count);
  entry.ForEachField([&](std::string_view name, std::string_view value) {
    reply.Bulk(name);
    reply.Bulk(value);
  });
}

void ReplyEntries(ReplyWriter& reply, const Stream& stream, StreamId first, StreamId last,
                  uint64_t most, Stream::Cursor::Direction direction) {
  const size_t count = stream.CountInRange(first, last, most);
  reply.Array(count);
  if (count == 0) return;
  const bool forward = direction == Stream::Cursor::kForward;
  Stream::Cursor at(stream, forward ? first : last, direction);
  for (size_t left = count; left > 0 && !reply.IsFull(); --left, at.Next()) {
    ReplyEntry(reply, at.entry());
  }
}

void ReplyEntryAt(ReplyWriter& reply, const Stream& stream, StreamId id) {
  const Stream::Cursor at(stream, id, Stream::Cursor::kForward);
  assert(at.valid() && at.id() == id);
  ReplyEntry(reply, at.entry());
}

void ReplyStreams(ReplyWriter& reply, size_t streams) {
  reply.protocol() == Protocol::kResp2 ? reply.Array(streams) : reply.Map(streams);
}

void ReplyStreamKey(ReplyWriter& reply, std::string_view key) {
  if (reply.protocol() == Protocol::kResp2) reply.Array(2);
  reply.Bulk(key);
}

std::string NoGroup(std::string_view key, std::string_view group, std::string_view rest) {
  return "NOGROUP No such key " + Quoted(key) + " or consumer group " + Quoted(group) +
         std::string(rest);
}

}  // namespace zsetd
