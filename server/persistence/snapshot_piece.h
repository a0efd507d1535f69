#pragma once

#include <string>
#include <utility>

#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

// A piece of a snapshot's file on its way to the disk: bytes of the file, or a long string that is
// still to be compressed.
struct SnapshotPiece {
  std::string bytes;
  bool is_string = false;
  bool compresses = false;

  // The bytes of the file. O(bytes), and slow for a string that is compressed.
  std::string Encoded() && {
    if (!is_string) return std::move(bytes);
    std::string encoded;
    RdbWriter(encoded, compresses).String(bytes);
    return encoded;
  }
};

}  // namespace zsetd
