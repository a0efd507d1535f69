#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace zsetd {

// The number of error replies by their code, the first word of the line. Scripts choose codes, so
// the memory is bounded: a code has at most 30 bytes, and a new one beyond 128 codes counts as
// ERRORSTATS_OVERFLOW.
class ErrorCounts {
 public:
  static constexpr size_t kMostCodes = 128;
  static constexpr std::string_view kOverflow = "ERRORSTATS_OVERFLOW";

  // Counts an error line, without its "-". As in Redis, a line without a short first word counts
  // as ERR, and bytes that would break the format of INFO are replaced by "_".
  void Add(std::string_view line);

  const std::map<std::string, uint64_t, std::less<>>& by_code() const { return by_code_; }

 private:
  std::map<std::string, uint64_t, std::less<>> by_code_;
};

}  // namespace zsetd
