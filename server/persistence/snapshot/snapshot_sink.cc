#include "server/persistence/snapshot/snapshot_sink.h"

#include <string>

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/crc64.h"

namespace zsetd {

absl::Status SnapshotSink::Write(std::string_view bytes) {
  if (!status_.ok()) return status_;
  if (with_checksum_) checksum_ = Crc64(bytes, checksum_);
  size_ += bytes.size();
  return status_ = Put(bytes);
}

absl::Status SnapshotSink::Finish() {
  std::string checksum;
  AppendLittleEndian(checksum_, sizeof checksum_, checksum);
  const absl::Status written = Write(checksum);
  if (!written.ok()) return written;
  return status_ = Complete();
}

}  // namespace zsetd
