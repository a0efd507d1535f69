#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/words.h"

namespace zsetd {

// What a client may ask of the parser before it is refused.
struct RequestLimits {
  size_t max_bulk_bytes = 512u << 20;         // Redis: proto-max-bulk-len
  size_t max_words = (size_t{1} << 31) - 1;   // Redis 7: a count that fits an int
  size_t max_line_bytes = 64u << 10;          // Redis: PROTO_INLINE_MAX_SIZE
};

// Turns the bytes of one connection into requests: RESP multibulk, or inline lines with redis-cli's
// quoting. Bytes are read straight into its buffer and requests are views into it: nothing is copied
// (but an inline line, which is unquoted). Memory follows what has arrived, never what was announced.
//
//   std::span<char> space = parser.Space();      // room to read into
//   parser.Arrived(n);                           // n bytes of it are now filled
//   while (parser.Next() == Result::kRequest) Use(parser.words());
class RequestParser {
 public:
  enum class Result {
    kRequest,   // words() holds one; it is never empty
    kNeedMore,  // every whole request has been taken
    kBroken,    // error() tells; the connection cannot go on
  };

  explicit RequestParser(const RequestLimits& limits = RequestLimits());

  // At least 16 KB of room, more while a large bulk is on its way. Ends the views of words().
  std::span<char> Space();
  void Arrived(size_t count);

  Result Next();

  // The request that Next() found. Valid until Space() or Next() is called.
  Words words() const;

  // The reply that ends a broken connection, word for word, such as
  // "ERR Protocol error: invalid bulk length".
  std::string_view error() const;

  // Takes effect with the next request.
  void set_limits(const RequestLimits& limits);

  size_t buffered_bytes() const;  // arrived and not yet taken
  size_t BytesUsed() const;
};

}  // namespace zsetd
