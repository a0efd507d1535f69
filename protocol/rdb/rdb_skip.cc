// Skips values of types that only other servers have.
#include "protocol/rdb/rdb_file.h"

namespace zsetd {
namespace {

constexpr size_t kStreamIdBytes = 16;
constexpr size_t kTimeBytes = 8;

// The type of a module's field, by the number before it. The module defines its meaning.
enum class ModuleField : uint64_t {
  kEnd = 0,
  kSigned = 1,
  kUnsigned = 2,
  kFloat = 3,
  kDouble = 4,
  kString = 5,
};

bool SkipModuleFields(RdbReader& reader) {
  while (reader.ok()) {
    switch (static_cast<ModuleField>(reader.Length())) {
      case ModuleField::kEnd:
        return reader.ok();
      case ModuleField::kSigned:
      case ModuleField::kUnsigned:
        reader.Length();
        break;
      case ModuleField::kFloat:
        reader.Bytes(sizeof(float));
        break;
      case ModuleField::kDouble:
        reader.Bytes(sizeof(double));
        break;
      case ModuleField::kString:
        reader.String();
        break;
      default:
        reader.Break();
    }
  }
  return false;
}

void SkipLengths(RdbReader& reader, int count) {
  for (int i = 0; i < count; ++i) reader.Length();
}

void SkipConsumer(RdbReader& reader, RdbType type) {
  reader.String();
  reader.Bytes(kTimeBytes);                                 // the consumer's last attempt
  if (type == RdbType::kStream3) reader.Bytes(kTimeBytes);  // and when it last got an entry
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    reader.Bytes(kStreamIdBytes);
  }
}

void SkipGroup(RdbReader& reader, RdbType type) {
  reader.String();
  SkipLengths(reader, 2);                                // the entry that it read last
  if (type != RdbType::kStream) SkipLengths(reader, 1);  // and how many it has read
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    reader.Bytes(kStreamIdBytes + kTimeBytes);  // an entry that is not acknowledged
    reader.Length();                            // how often it was delivered
  }
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    SkipConsumer(reader, type);
  }
}

bool SkipStream(RdbReader& reader, RdbType type) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    reader.String();  // the first ID of a listpack
    reader.String();  // that listpack
  }
  SkipLengths(reader, 3);                                // entries, the last ID
  if (type != RdbType::kStream) SkipLengths(reader, 5);  // first ID, last deleted, entries ever
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) SkipGroup(reader, type);
  return reader.ok();
}

}  // namespace

bool SkipRdbValue(RdbReader& reader, RdbType type) {
  switch (type) {
    case RdbType::kStream:
    case RdbType::kStream2:
    case RdbType::kStream3:
      return SkipStream(reader, type);
    case RdbType::kModule:
      reader.Length();  // the module
      return SkipModuleFields(reader);
    default:
      return false;
  }
}

bool SkipRdbModuleAux(RdbReader& reader) {
  SkipLengths(reader, 3);  // the module; a field with the place in the file at which it was written
  return SkipModuleFields(reader);
}

}  // namespace zsetd
