#include "server/cluster/nodes_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "protocol/rdb/crc64.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr size_t kMostJournalBytes = 16u << 20;
constexpr size_t kMostHeadBytes = 40;  // two numbers, a space and the line end

// Returns the first line of a record.
std::string RecordHead(std::string_view text, uint64_t base_checksum) {
  return std::to_string(text.size()) + " " + std::to_string(Crc64(text, base_checksum)) + "\n";
}

// Returns the text of the record at the start of `bytes`, and removes the record; nullopt if it is
// incomplete, or does not belong to the base.
std::optional<std::string_view> TakeRecord(std::string_view& bytes, uint64_t base_checksum) {
  size_t length = 0;
  const std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), kMostHeadBytes) + 1);
  const auto read = std::from_chars(line.data(), line.data() + line.size(), length);
  if (read.ec != std::errc() || length > bytes.size() - line.size()) return std::nullopt;
  const std::string_view text = bytes.substr(line.size(), length);
  if (RecordHead(text, base_checksum) != line) return std::nullopt;
  bytes.remove_prefix(line.size() + length);
  return text;
}

}  // namespace

NodesJournal::~NodesJournal() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (size_ == 0) unlink(path_.c_str());
}

bool NodesJournal::Open() {
  constexpr int kPermissions = 0644;
  if (descriptor_ >= 0) return true;
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kPermissions);
  return descriptor_ >= 0;
}

absl::StatusOr<std::optional<std::string>> NodesJournal::Load(std::string_view base) {
  if (access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  const auto failure = [this] {
    return Refusal("can't read the file '" + path_ + "': " + std::strerror(errno));
  };
  if (!Open()) return failure();
  std::string bytes;
  std::array<char, 65536> piece;
  while (bytes.size() <= kMostJournalBytes) {
    const ssize_t count = read(descriptor_, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure();
    if (count == 0) break;
    bytes.append(piece.data(), static_cast<size_t>(count));
  }
  size_ = bytes.size();
  std::optional<std::string> last;
  std::string_view rest = bytes;
  while (const auto text = TakeRecord(rest, Crc64(base))) last = *text;
  return last;
}

// Without the sync, a power failure could restore records. They would count again if the base had
// the same text as an earlier one.
void NodesJournal::Restart(std::string_view base) {
  base_checksum_.reset();
  if (size_ > 0 && (ftruncate(descriptor_, 0) != 0 || fdatasync(descriptor_) != 0)) return;
  size_ = 0;
  base_checksum_ = Crc64(base);
}

// The bytes of an incomplete record are removed, because none after them would count.
bool NodesJournal::Append(std::string_view text) {
  if (!base_checksum_ || !Open()) return false;
  const std::string record = RecordHead(text, *base_checksum_).append(text);
  if (record.size() > kMostJournalBytes - size_) return false;
  ssize_t written = -1;
  do {
    written = write(descriptor_, record.data(), record.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(record.size())) {
    size_ += record.size();
    return true;
  }
  if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) Suspend();
  return false;
}

}  // namespace zsetd
