#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"
#include "protocol/resp/read_buffer.h"

namespace zsetd {

// The longest string, wherever it comes from: a snapshot or a log with a longer one could not be
// loaded. proto-max-bulk-len limits the requests of clients further.
inline constexpr size_t kMostStringBytes = UINT32_MAX;

// The limits of a client's requests.
struct RequestLimits {
  size_t max_bulk_bytes = 512u << 20;        // Redis: proto-max-bulk-len
  size_t max_words = (size_t{1} << 31) - 1;  // Redis 7: a count that fits an int
  size_t max_line_bytes = 64u << 10;         // Redis: PROTO_INLINE_MAX_SIZE

  // Whether the client is not authenticated. A request then has at most 10 arguments of 16,384
  // bytes, as in Redis. No request is read ahead, because other limits may apply to the next one.
  bool unauthenticated = false;

  // Whether lines that start with # are annotations, as in an append-only log. Such a line is a
  // request of one argument, without unquoting.
  bool annotations = false;
};

// Parses the bytes of one connection into requests: RESP multibulk, or inline lines with
// redis-cli's quoting. Bytes are read directly into the parser's buffer, and requests are views
// into it. Only inline lines are copied, to unquote them. Memory use is bounded by the arrived
// bytes, not by announced lengths.
//
//   std::span<char> space = parser.Space();      // room to read into
//   parser.Arrived(n);                           // n bytes of it are now filled
//   while (parser.Next() == Result::kRequest) Use(parser.argv());
class RequestParser {
 public:
  enum class Result {
    kRequest,   // argv() holds one; it is never empty
    kNeedMore,  // all complete requests were returned
    kBroken,    // error() has the reason; the connection must be closed
  };

  explicit RequestParser(const RequestLimits& limits = RequestLimits()) : limits_(limits) {}

  // At least 16 KB of room, more while a large request is being received. Invalidates argv().
  std::span<char> Space();
  void Arrived(size_t count) { buffer_.Arrived(count); }

  // Advances to the next request, and reads some requests ahead, for Ahead(). Every byte is
  // examined a constant number of times, even if requests arrive in small parts. So a call costs
  // O(bytes that arrived since the last call).
  Result Next();

  // The request that Next() found. Valid until Space() or Next() is called.
  Args argv() const { return batch_[next_ - 1]; }

  // The requests that were read ahead and that Next() will return. Reads some if none is left.
  // Valid until Space(), Shrink() or Next() is called; the requests themselves are kept. Bytes that
  // exceed a limit or break the protocol are left to Next(), which applies the limits of that time.
  std::span<const Args> Upcoming();

  // Whether Upcoming() has several requests and Next() has returned none of them.
  bool BeginsBatch() const { return next_ == 0 && batch_.size() > 1; }

  // The request that Next() found and the requests after it that were read already, which Next()
  // will return. Valid as long as argv().
  std::span<const Args> Ahead() const { return std::span(batch_).subspan(next_ - 1); }

  // Whether Ahead() has requests that it did not have before.
  bool HasReadAhead() const { return next_ == 1 && batch_.size() > 1; }

  // The reply that ends a broken connection, such as "ERR Protocol error: invalid bulk length", for
  // ReplyWriter::Error(): it may quote a byte that the client sent.
  std::string_view error() const { return error_; }

  // The limits apply from the next length that is read.
  void set_limits(const RequestLimits& limits) { limits_ = limits; }
  const RequestLimits& limits() const { return limits_; }

  size_t buffered_bytes() const { return buffered().size(); }  // arrived and not yet taken

  // These bytes. If Next() has returned kNeedMore, they begin with the incomplete request. Valid
  // until Space(), Shrink() or Next() is called.
  std::string_view buffered() const { return buffer_.unread(); }

  // Frees the memory that the arrived bytes do not need, for a connection that has been idle for a
  // while. The next Space() allocates again. Invalidates argv().
  void Shrink();

  size_t BytesUsed() const;  // allocated; O(1)

 private:
  // A request that was read: the end of its arguments in `words_`, and the end of its bytes,
  // counted from the start of the connection.
  struct Whole {
    size_t words_end;
    uint64_t end;
  };

  // Reads requests up to the end of the arrived bytes, or until the batch is full. An inline
  // request is a batch of its own.
  void ReadBatch();
  bool IsBatchFull() const;
  void FinishRequest();
  void ForgetBatch();

  // The number of `words_` before this request of the batch. `request` may be one past the last.
  size_t WordsBefore(size_t request) const {
    return request == 0 ? 0 : wholes_[request - 1].words_end;
  }

  // For ReadBuffer::Space().
  size_t NeededBytes() const;

  // Adjusts all views after the unread bytes have moved.
  void PointTo(const char* from, const char* to);

  // Each reads one part of a request and moves `position_` past it. Returns false if the part has
  // not arrived completely or breaks the protocol; the latter sets error().
  bool ReadOpening();
  bool ReadCount();
  bool ReadInline();
  bool ReadWords();
  bool ReadWord();
  bool ReadBulkSize();

  // Fast paths for the usual form that has arrived completely (protocol/resp/length_line.h). The
  // functions above read everything else.
  bool ReadUsualCount();
  void ReadUsualWords();

  // Takes the line at `position_` up to and including `end`; `too_long` is the error for a line
  // that is too long.
  std::optional<std::string_view> ReadLine(char end, std::string_view too_long);

  // Breaks the connection at the line that begins at this position. Returns false.
  bool Break(uint64_t line_start, std::string_view reason);
  bool HasMore() const { return buffer_.unread().size() > position_ - taken_ || begun_ > taken_; }
  std::string_view FromPosition() const { return buffer_.unread().substr(position_ - taken_); }
  void TakeUpTo(uint64_t end);

  RequestLimits limits_;
  ReadBuffer buffer_;
  uint64_t taken_ = 0;     // all bytes before this one have left the buffer
  uint64_t position_ = 0;  // all bytes before this one are parsed
  uint64_t begun_ = 0;     // the start of the request that is being read
  size_t searched_ = 0;    // bytes after `position_` that have been searched for a line's end
  uint64_t words_left_ = 0;
  std::optional<size_t> bulk_size_;      // of the next argument, once known
  std::vector<std::string_view> words_;  // the batch's, then those of the request being read
  std::vector<std::string> unquoted_;    // the strings behind `words_`, for an inline request
  size_t unquoted_bytes_ = 0;            // allocated by these strings, at most

  std::vector<Whole> wholes_;  // the batch
  std::vector<Args> batch_;    // the arguments of each request in `wholes_`
  size_t next_ = 0;            // the first request that Next() has not returned
  std::string error_;
};

}  // namespace zsetd
