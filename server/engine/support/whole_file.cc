#include "server/engine/support/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

absl::Status Failure(std::string_view what, const std::string& path) {
  const int error = errno;
  return Refusal("can't " + std::string(what) + " '" + path + "': " + std::strerror(error));
}

// An open file, closed when it goes out of scope; -1 if it could not be opened.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  // False if it could not be closed, which for some file systems is when a write fails.
  bool Close() { return close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

// Where the file really is: rename() would replace a link instead of what it points to.
std::string Resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved == nullptr ? path : std::string(resolved.get());
}

std::string DirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory;
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Whether the whole text is in the file and on the disk; then the file is closed.
bool WriteAndClose(Descriptor& file, std::string_view text, std::filesystem::perms permissions) {
  return fchmod(file.get(), static_cast<mode_t>(permissions)) == 0 && WriteAll(file.get(), text) &&
         fsync(file.get()) == 0 && file.Close();
}

// Makes a rename in the directory survive a power failure. Some file systems cannot sync a
// directory (EINVAL); they are not asked for more than they have.
absl::Status SyncDirectory(const std::string& directory) {
  const Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return Failure("open directory", directory);
  if (fsync(opened.get()) == 0 || errno == EINVAL) return absl::OkStatus();
  return Failure("sync directory", directory);
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         std::filesystem::perms permissions) {
  const std::string target = Resolved(path);
  std::string draft = target + ".XXXXXX";
  Descriptor file(mkostemp(draft.data(), O_CLOEXEC));
  if (!file) return Failure("write", target);
  if (!WriteAndClose(file, text, permissions) || rename(draft.c_str(), target.c_str()) != 0) {
    const absl::Status failure = Failure("replace", target);
    unlink(draft.c_str());
    return failure;
  }
  return SyncDirectory(DirectoryOf(target));
}

std::filesystem::perms PermissionsOf(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status old = std::filesystem::status(path, ignored);
  return exists(old) ? old.permissions() : std::filesystem::perms(0600);
}

// A folder opens, but cannot be read.
absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  constexpr size_t kPieceBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Refusal(std::strerror(errno));
  std::string text;
  while (file) {
    const size_t size = text.size();
    text.resize(size + kPieceBytes);
    file.read(text.data() + size, kPieceBytes);
    text.resize(size + static_cast<size_t>(file.gcount()));
    if (text.size() > kMostTextFileBytes) return Refusal("it has more than 64 MB");
  }
  if (file.bad()) return Refusal(std::strerror(errno));
  return text;
}

}  // namespace zsetd
