#include "server/persistence/snapshot/received_snapshot.h"

#include <algorithm>
#include <utility>

#include "protocol/rdb/rdb_file.h"
#include "server/engine/support/errors.h"

namespace zsetd {

absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> ReceivedSnapshot::Create(FileSystem& files,
                                                                           std::string path) {
  auto file = files.Create(path);
  if (!file.ok()) {
    return Refusal("Cannot create '" + path + "': " + std::string(ErrorLine(file.status())));
  }
  return std::unique_ptr<ReceivedSnapshot>(
      new ReceivedSnapshot(files, std::move(path), *std::move(file)));
}

ReceivedSnapshot::ReceivedSnapshot(FileSystem& files, std::string path,
                                   std::unique_ptr<WritableFile> file)
    : files_(files), path_(std::move(path)), file_(std::move(file)) {}

ReceivedSnapshot::~ReceivedSnapshot() {
  file_.reset();
  (void)files_.Remove(path_);
}

absl::Status ReceivedSnapshot::Write(std::string_view bytes) {
  if (magic_.size() < kRdbMagicBytes) {
    magic_ += bytes.substr(0, kRdbMagicBytes - magic_.size());
    if (magic_.size() == kRdbMagicBytes) {
      if (absl::Status status = CheckMagic(); !status.ok()) return status;
    }
  }
  size_ += bytes.size();
  const absl::Status status = file_->Write(bytes);
  return status.ok() ? status
                     : Refusal("Cannot write '" + path_ + "': " + std::string(ErrorLine(status)));
}

absl::Status ReceivedSnapshot::Finish() {
  if (magic_.size() < kRdbMagicBytes) return CheckMagic();
  file_.reset();
  return absl::OkStatus();
}

absl::Status ReceivedSnapshot::CheckMagic() const {
  const auto version = ParseRdbMagic(magic_);
  if (!version) return Refusal("the master sent data that is not a snapshot");
  if (CanRead(*version)) return absl::OkStatus();
  return Refusal("the master's snapshot is of version " + std::to_string(version->number) +
                 (version->is_valkey ? " of Valkey" : " of Redis") +
                 ", which this server cannot read");
}

}  // namespace zsetd
