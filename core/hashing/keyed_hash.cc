#include "core/hashing/keyed_hash.h"

#include <random>

namespace zsetd {

BytesHash HashWithDrawnSeed() {
  std::random_device chance;
  return BytesHash(uint64_t{chance()} << 32 | chance());
}

}  // namespace zsetd
