#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/call.h"

namespace zsetd {

// Replies an entry: its ID, and an array of names and values in turn.
void ReplyEntry(ReplyWriter& reply, const StreamEntry& entry);

// Replies these two without an array around them.
void ReplyEntryParts(ReplyWriter& reply, const StreamEntry& entry);

// Replies the entries of the range as an array. O(log(blocks) + entries).
void ReplyEntries(ReplyWriter& reply, const Stream& stream, const StreamRange& range);

// Like ReplyEntries(), for the stream at `key`, at the end of a reply: a copy of many entries is
// replied as the client reads.
void ReplyEntriesAtLength(Call& call, std::string_view key, const Stream& stream,
                          const StreamRange& range);

// Replies an entry that is known to exist.
void ReplyEntryAt(ReplyWriter& reply, const Stream& stream, StreamId id);

// Start the reply of XREAD and XREADGROUP: the number of streams, and the key before each stream's
// entries. RESP3: a map.
void ReplyStreams(ReplyWriter& reply, size_t streams);
void ReplyStreamKey(ReplyWriter& reply, std::string_view key);

// "NOGROUP No such key 'KEY' or consumer group 'GROUP'" and the text that follows.
std::string NoGroup(std::string_view key, std::string_view group, std::string_view rest = "");

}  // namespace zsetd
