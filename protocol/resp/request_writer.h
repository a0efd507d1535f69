// Encodes requests in RESP: "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n". Used for the log, the stream for
// replicas, links to other servers, and the load generator.
#pragma once

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "protocol/resp/args.h"
#include "protocol/resp/output_buffer.h"

namespace zsetd {

// Appends a request with the words `name` and `rest`. O(bytes). A request of at most 4 KB extends
// the buffer once.
void AppendRequest(OutputBuffer& out, std::string_view name, Args rest);

// Precondition: `words` is not empty.
inline void AppendRequest(OutputBuffer& out, Args words) {
  assert(!words.empty());
  AppendRequest(out, words[0], words.subspan(1));
}
inline void AppendRequest(OutputBuffer& out, std::initializer_list<std::string_view> words) {
  AppendRequest(out, Args(words.begin(), words.size()));
}

// Returns the request as a string. Precondition: `words` is not empty.
std::string EncodeRequest(Args words);
inline std::string EncodeRequest(std::initializer_list<std::string_view> words) {
  return EncodeRequest(Args(words.begin(), words.size()));
}

// Appends requests word by word. Each request has the announced number of words.
class RequestWriter {
 public:
  // `out` outlives the writer.
  explicit RequestWriter(OutputBuffer& out) : out_(out) {}

  // Starts a request of `words` words. Precondition: IsWhole(), and `words` is at least 1.
  void Begin(size_t words);

  void Add(std::string_view word);

  // Starts a word of `bytes` bytes, for a caller that appends them itself, or sends them after the
  // contents of `out` without a copy. EndWord() follows the bytes.
  void StartWord(size_t bytes);
  void EndWord() { out_.Append("\r\n"); }

  // Whether the last request has all its words.
  bool IsWhole() const { return words_left_ == 0; }

 private:
  OutputBuffer& out_;
  size_t words_left_ = 0;
};

}  // namespace zsetd
