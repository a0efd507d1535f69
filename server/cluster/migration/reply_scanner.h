#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {

// Finds the ends of another node's replies (RESP2) and their errors. Bytes may be split anywhere.
// Memory use is bounded: of a reply it keeps one line at most.
class ReplyScanner {
 public:
  enum class Result {
    kReply,     // a reply has ended; error() describes it
    kNeedMore,  // all bytes were taken
    kBroken,    // the bytes are no reply; nothing more can be found
  };

  // Takes the bytes up to the end of the next reply.
  Result Next(std::string_view& bytes);

  // The first error in the reply that has ended, without its sign: "ERR ..."; empty if it has none.
  const std::string& error() const { return error_; }

 private:
  static constexpr size_t kMostLineBytes = 16u << 10;
  static constexpr uint64_t kMostParts = 1u << 20;
  static constexpr uint64_t kMostBulkBytes = 1u << 30;

  bool TakeLine();

  std::string line_;
  std::string error_;
  bool is_inside_ = false;   // some bytes of the reply have been taken
  uint64_t parts_left_ = 0;  // of the reply that is being taken
  uint64_t bulk_left_ = 0;   // bytes, with the line's end
};

}  // namespace zsetd
