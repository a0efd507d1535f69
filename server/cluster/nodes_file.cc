#include "server/cluster/nodes_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "server/engine/support/errors.h"
#include "server/engine/support/whole_file.h"

namespace zsetd {
namespace {

// 16,384 nodes with all their slots take less.
constexpr size_t kMostBytes = 64u << 20;

absl::Status Failure(std::string_view action, const std::string& path) {
  return Refusal("can't " + std::string(action) + " the cluster configuration file '" + path +
                 "': " + std::strerror(errno));
}

}  // namespace

NodesFile::~NodesFile() {
  if (lock_ >= 0) close(lock_);
}

// The file is replaced by renaming, so each new file is locked, too. The old lock is held until
// then.
absl::Status NodesFile::Lock() {
  constexpr int kPermissions = 0644;
  const int opened = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPermissions);
  if (opened < 0) return Failure("open", path_);
  if (flock(opened, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK;
    const absl::Status failure = Failure("lock", path_);
    close(opened);
    if (!is_taken) return failure;
    return Refusal("the cluster configuration file '" + path_ +
                   "' is already used by a different server: each node needs its own "
                   "cluster-config-file");
  }
  if (lock_ >= 0) close(lock_);
  lock_ = opened;
  return absl::OkStatus();
}

absl::StatusOr<std::string> NodesFile::Read() const {
  std::string text;
  std::array<char, 65536> piece;
  while (true) {
    const ssize_t count = read(lock_, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failure("read", path_);
    if (count == 0) return text;
    text.append(piece.data(), static_cast<size_t>(count));
    if (text.size() > kMostBytes) {
      return Refusal("the cluster configuration file '" + path_ + "' is too large");
    }
  }
}

absl::StatusOr<std::optional<std::string>> NodesFile::Load() {
  if (absl::Status locked = Lock(); !locked.ok()) return locked;
  absl::StatusOr<std::string> text = Read();
  if (!text.ok()) return text.status();
  if (text->empty()) return std::optional<std::string>();
  absl::StatusOr<std::optional<std::string>> newer = journal_.Load(*text);
  if (!newer.ok() || newer->has_value()) return newer;
  return std::optional(*std::move(text));
}

absl::Status NodesFile::Save(std::string_view text, bool is_synced) {
  if (!is_synced && journal_.Append(text)) return absl::OkStatus();
  journal_.Suspend();
  absl::Status replaced = Replace(text);
  if (replaced.ok()) journal_.Restart(text);
  return replaced;
}

absl::Status NodesFile::Replace(std::string_view text) {
  using std::filesystem::perms;
  const perms permissions =
      perms::owner_read | perms::owner_write | perms::group_read | perms::others_read;
  const absl::Status replaced = ReplaceFile(path_, text, permissions);
  return replaced.ok() ? Lock() : replaced;
}

}  // namespace zsetd
