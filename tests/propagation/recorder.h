#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/resp/args.h"
#include "server/engine/propagation/journal.h"

namespace zsetd {

// A journal that copies the bytes of each unit and does not consume it.
class Recorder : public Journal {
 public:
  uint64_t Append(OutputBuffer& unit) override;

  // Returns the bytes since the last call.
  std::string TakeBytes() { return std::exchange(bytes_, {}); }

  uint64_t position() const { return position_; }
  size_t units() const { return units_; }

 private:
  std::string bytes_;
  uint64_t position_ = 0;
  size_t units_ = 0;
};

// Parses requests in RESP.
using Words = std::vector<std::string>;
std::vector<Words> Requests(std::string_view bytes);

// Formats requests for comparison: spaces between words, "; " between requests.
std::string Plain(std::string_view bytes);

}  // namespace zsetd
