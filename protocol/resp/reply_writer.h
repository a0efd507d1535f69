#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

enum class Protocol { kResp2 = 2, kResp3 = 3 };

// Writes replies by their type; the present protocol version defines the bytes. An aggregate
// consists of its header and then its parts.
class ReplyWriter {
 public:
  explicit ReplyWriter(OutputBuffer& out) : out_(out) {}

  Protocol protocol() const { return protocol_; }
  void set_protocol(Protocol protocol) { protocol_ = protocol; }

  void Ok() { Simple("OK"); }
  void Simple(std::string_view text);
  void Integer(int64_t value);
  void Bulk(std::string_view bytes);
  void BulkOrNull(const std::optional<std::string_view>& bytes);

  // Adds a bulk string that `write(char* to)` writes. It may write OutputBuffer::kSlack more bytes.
  template <class Write>
  void Bulk(size_t bytes, Write write);

  void Double(double value);                // RESP2: a bulk string
  void Bool(bool value);                    // RESP2: 1 or 0
  void BigNumber(std::string_view digits);  // RESP2: a bulk string
  void Null();                              // RESP2: the null bulk string
  void NullArray();                         // RESP2: the null array, for a missing aggregate
  void Verbatim(std::string_view format, std::string_view text);  // RESP2: a bulk string

  void Array(size_t size);
  void Set(size_t size);         // RESP2: an array
  void Map(size_t pairs);        // RESP2: an array of twice the size
  void Push(size_t size);        // RESP2: an array
  void Attribute(size_t pairs);  // precedes a reply; RESP3 only

  // Marks the start of a reply. Error() truncates the output to it and so removes a partial reply.
  void Begin() {
    start_ = out_.size();
    full_at_ = start_ + most_bytes_;
  }

  // Other output was inserted before the reply.
  void OnInserted(size_t bytes) {
    start_ += bytes;
    full_at_ += bytes;
  }

  // From the next Begin() on, a reply longer than `bytes` gets no further bulk strings. Then
  // IsFull() is true, and the reply must not be sent.
  void set_most_bytes(size_t bytes) { most_bytes_ = std::min(bytes, kNoLimit); }
  size_t most_bytes() const { return most_bytes_; }
  bool IsFull() const { return out_.size() > full_at_; }

  // Declares that the partial reply will become too long: IsFull() is true from now on.
  void Abandon() { full_at_ = start_; }

  // `message` is the whole line, code word first: "ERR syntax error". CR and LF become spaces.
  void Error(std::string_view message);

  // Writes an error as a part of an aggregate, and keeps the bytes before it.
  void NestedError(std::string_view message) { Line('-', message); }

  // Whether the reply since Begin() is an error.
  bool failed() const { return out_.size() > start_ && out_.At(start_) == '-'; }

  // Removes everything since Begin().
  void Discard() { out_.Truncate(start_); }

 private:
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max() / 2;

  void Header(char kind, int64_t count);
  char* Line(char kind, std::string_view text);  // returns the address of the text

  // Starts a bulk string of this length and returns the address for its bytes. Room for
  // OutputBuffer::kSlack more bytes follows.
  char* StartBulk(size_t bytes);

  OutputBuffer& out_;
  size_t start_ = 0;
  size_t most_bytes_ = kNoLimit;
  size_t full_at_ = kNoLimit;
  Protocol protocol_ = Protocol::kResp2;
};

template <class Write>
void ReplyWriter::Bulk(size_t bytes, Write write) {
  if (IsFull()) return;
  char* const to = StartBulk(bytes);
  write(to);
  to[bytes] = '\r';
  to[bytes + 1] = '\n';
}

}  // namespace zsetd
