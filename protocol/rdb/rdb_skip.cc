// Skips values of types that only other servers have.
#include "protocol/rdb/rdb_file.h"

namespace zsetd {
namespace {

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

}  // namespace

bool SkipRdbValue(RdbReader& reader, RdbType type) {
  switch (type) {
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
