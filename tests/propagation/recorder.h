#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/resp/args.h"
#include "server/engine/propagation/journal.h"

namespace zsetd {

// A journal that keeps the bytes of each unit, and takes none.
class Recorder : public Journal {
 public:
  uint64_t Append(OutputBuffer& unit) override;

  // What came since the last call.
  std::string TakeBytes() { return std::exchange(bytes_, {}); }

  uint64_t position() const { return position_; }
  size_t units() const { return units_; }

 private:
  std::string bytes_;
  uint64_t position_ = 0;
  size_t units_ = 0;
};

// Requests in RESP, taken apart.
using Words = std::vector<std::string>;
std::vector<Words> Requests(std::string_view bytes);

// The same to be compared: words with spaces between them, requests with "; " between them.
std::string Plain(std::string_view bytes);

}  // namespace zsetd
