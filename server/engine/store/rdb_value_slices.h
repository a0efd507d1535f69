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
  size_t elements = 1000;     // of a sorted set, hash or set
  size_t bytes = 64u * 1024;  // of any value
};

// A large value as it was at one instant, written in slices while it goes on changing. It may lose
// its key, get another, and be destroyed meanwhile; the latter takes long, so whoever removes it
// from its key keeps it until it is written (identity() identifies it).
//
// Before a change what it touches is copied, or the piece that has it: of sorted sets, hashes, sets
// and lists by themselves (core/sorted_set/block/set_snapshot.h and its like), of strings by
// whoever changes them in place. The bytes of a string are copied, in slices, before it is written.
class RdbValueSlices {
 public:
  virtual ~RdbValueSlices() = default;

  virtual RdbType type() const = 0;

  // Writes what stands before the elements. Once, before the first slice.
  virtual void Begin(RdbWriter& writer) = 0;

  // Writes some more: whether that was all. It may leave parts to be written later: those of a
  // sorted set are its packed blocks, which take as long to copy as to look at.
  virtual bool WriteSome(RdbFileWriter& writer) = 0;

  // Writes the deadlines of elements, which stand behind the value. Once, after the last slice.
  virtual void WriteDeadlines(RdbFileWriter&) {}

  // Of a string: these bytes are about to be changed in place; the bytes have been changed, and
  // begin there now.
  virtual void BeforeEdit(std::span<const ByteRange>) {}
  virtual void AfterEdit(const char*) {}
};

// Of the value as it is now; null if it is not large. A value has one at a time. O(its blocks or
// chunks), and little for each.
std::unique_ptr<RdbValueSlices> StartSlices(const Entry& entry, const LargeValueLimits& limits);

// What is the same as long as an entry's value is the same object, whatever entry that is in; null
// if the value is not one that StartSlices() takes.
const void* ValueIdentity(const Entry& entry);

}  // namespace zsetd
