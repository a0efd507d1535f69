#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream_id.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

inline constexpr std::string_view kInvalidStreamId =
    "ERR Invalid stream ID specified as stream command argument";

// The text of an ID, such as "1526919030474-55".
std::string StreamIdText(StreamId id);
void ReplyStreamId(ReplyWriter& reply, StreamId id);

// Parses a part of an ID. Like Redis, accepts leading zeros, blanks and a plus sign.
std::optional<uint64_t> ParseStreamIdPart(std::string_view text);

// Parses an ID. One without a sequence number gets `missing_seq`.
std::optional<StreamId> ParseStreamId(std::string_view text, uint64_t missing_seq = 0);

// Parses an ID, or "-" or "+" for the least and the greatest one.
std::optional<StreamId> ParseStreamIdOrEnd(std::string_view text, uint64_t missing_seq);

// Takes an ID; refuses another argument.
StreamId TakeStreamId(ArgReader& args);

// Take the first and the last ID of a range. A "(" before an ID excludes it.
StreamId TakeRangeStart(ArgReader& args);
StreamId TakeRangeEnd(ArgReader& args);

}  // namespace zsetd
