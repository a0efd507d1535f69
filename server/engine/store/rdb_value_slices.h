#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/keyspace/entry.h"
#include "core/string/byte_string.h"
#include "protocol/rdb/rdb_file.h"

namespace zsetd {

// From which size on a value is written in slices: each takes some tens of microseconds.
struct LargeValueLimits {
  size_t elements = 1000;     // of a sorted set, hash, set or stream
  size_t bytes = 64u * 1024;  // of any value
};

// A large value as it was at one instant, written in slices while it changes. In the meantime it
// may lose its key, get another, and be destroyed. Its destruction is slow, so the code that
// removes it from its key keeps it until it is written (identity() identifies it).
//
// Before a change, the piece that it affects is copied: by sorted sets, hashes, sets, lists and
// streams themselves (core/util/piece_snapshot.h and core/hash/table_snapshot.h), and for strings
// by the code that changes them in place. The bytes of a string are copied, in slices, before it is
// written.
class RdbValueSlices {
 public:
  virtual ~RdbValueSlices() = default;

  virtual RdbType type() const = 0;

  // Writes the part before the elements. Once, before the first slice.
  virtual void Begin(RdbWriter& writer) = 0;

  // Writes some more: whether that was all. It may leave parts to be written later: those of a
  // sorted set are its packed blocks, which take as long to copy as to look at.
  virtual bool WriteSome(RdbFileWriter& writer) = 0;

  // Writes the deadlines and payloads of elements, which follow the value. Once, after the last
  // slice.
  virtual void WriteElementFields(RdbFileWriter&) {}

  // For a string: must be called before these bytes are changed in place, and after the change with
  // the present start of the bytes.
  virtual void BeforeEdit(std::span<const ByteRange>) {}
  virtual void AfterEdit(const char*) {}
};

// Starts slices of the value at this instant; null if it is not large. A value has one at a time.
// O(blocks or chunks), with a small constant.
std::unique_ptr<RdbValueSlices> StartSlices(const Entry& entry, const LargeValueLimits& limits);

// Identifies a value object, independently of the entry that holds it; null if StartSlices() does
// not accept the value.
const void* ValueIdentity(const Entry& entry);

}  // namespace zsetd
