#include "server/commands/stream/stream_reply.h"

#include <cassert>
#include <memory>
#include <utility>

#include "server/commands/stream/stream_id_text.h"
#include "server/engine/store/value_copies.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

Stream::Cursor StartOf(const Stream& stream, const StreamRange& range) {
  return range.backward ? Stream::Cursor(stream, range.last, Stream::Cursor::kBackward)
                        : Stream::Cursor(stream, range.first, Stream::Cursor::kForward);
}

// Entries of a copy, which does not change during the reply.
class LongEntries : public LongReply {
 public:
  LongEntries(std::shared_ptr<const Stream> copy, const StreamRange& range, size_t count)
      : copy_(std::move(copy)),
        bytes_(copy_->BytesUsed()),
        at_(StartOf(*copy_, range)),
        left_(count) {
    assert(count > 0);
  }

  bool WriteNext(ReplyWriter& reply) override {
    assert(left_ > 0);
    ReplyEntry(reply, at_.entry());
    at_.Next();
    return --left_ > 0;
  }

  size_t BytesUsed() const override { return bytes_ / static_cast<size_t>(copy_.use_count()); }

 private:
  const std::shared_ptr<const Stream> copy_;
  const size_t bytes_;
  Stream::Cursor at_;
  size_t left_;
};

// A copy of the blocks of the range. Replies of most of the stream share a copy of all blocks.
std::shared_ptr<const Stream> CopyOf(Call& call, std::string_view key, const Stream& stream,
                                     const StreamRange& range, size_t count) {
  const auto copy = [&](const StreamRange& blocks) {
    return std::make_shared<Stream>(stream.CopyBlocks(blocks));
  };
  if (count < stream.size() / 2) return copy(range);
  return call.keys.copies().Take<Stream>(call.keys.database(), key,
                                         [&] { return copy(StreamRange()); });
}

}  // namespace

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

void ReplyEntries(ReplyWriter& reply, const Stream& stream, const StreamRange& range) {
  const size_t count = stream.CountInRange(range.first, range.last, range.most);
  reply.Array(count);
  if (count == 0) return;
  Stream::Cursor at = StartOf(stream, range);
  for (size_t left = count; left > 0 && !reply.IsFull(); --left, at.Next()) {
    ReplyEntry(reply, at.entry());
  }
}

void ReplyEntriesAtLength(Call& call, std::string_view key, const Stream& stream,
                          const StreamRange& range) {
  constexpr uint64_t kMany = 4096;  // fewer are replied in one piece
  const bool may_be_long =
      range.most >= kMany && stream.size() >= kMany && call.caller.MayBlock() && !call.RunsAgain();
  const size_t count = may_be_long ? stream.CountInRange(range.first, range.last, range.most) : 0;
  if (count < kMany) return ReplyEntries(call.reply, stream, range);
  call.reply.Array(count);
  call.ReplyAtLength(
      std::make_unique<LongEntries>(CopyOf(call, key, stream, range, count), range, count));
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
