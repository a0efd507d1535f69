#include "protocol/rdb/crc64.h"

#include <isa-l/crc64.h>

namespace zsetd {

// ISA-L inverts the bits of a checksum before and after, as other CRCs do. Redis does not, so they
// are inverted back.
uint64_t Crc64(std::string_view bytes, uint64_t before) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  return ~crc64_jones_refl(~before, data, bytes.size());
}

}  // namespace zsetd
