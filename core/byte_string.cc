#include "core/byte_string.h"

namespace zsetd {

void ByteString::Assign(std::string_view bytes) {
  bytes_.assign(bytes);
  edited_in_place_ = false;
  ++revision_;
}

void ByteString::Append(std::string_view bytes) {
  bytes_.append(bytes);
  edited_in_place_ = true;
  ++revision_;
}

void ByteString::Overwrite(size_t offset, std::string_view bytes) {
  if (bytes_.size() < offset + bytes.size()) bytes_.resize(offset + bytes.size());
  bytes_.replace(offset, bytes.size(), bytes);
  edited_in_place_ = true;
  ++revision_;
}

}  // namespace zsetd
