#include "server/persistence/log/log_loader.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "protocol/resp/request_parser.h"
#include "protocol/resp/request_size.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr uint64_t kBytesPerReport = 1u << 20;

class LogLoader {
 public:
  LogLoader(ReadableFile& file, uint64_t offset, const LogLoadOptions& options)
      : file_(file), options_(options), parser_(Limits()), read_(0), offset_(offset) {}

  absl::StatusOr<LoadedLog> Load();

 private:
  static RequestLimits Limits() {
    return {.max_bulk_bytes = size_t{UINT32_MAX}};  // the limit of snapshots, too
  }

  absl::Status SkipBase();
  absl::StatusOr<bool> ReadMore();
  absl::Status RunAll();
  absl::Status RunOne(Args argv);
  absl::Status Fail(const std::string& what) const;
  uint64_t Position() const { return read_ - parser_.buffered_bytes(); }

  ReadableFile& file_;
  const LogLoadOptions& options_;
  RequestParser parser_;
  uint64_t read_;    // bytes of the file
  uint64_t offset_;  // of the first command
  uint64_t at_ = 0;  // of the running command
  bool in_unit_ = false;
  uint64_t reported_ = 0;
  LoadedLog loaded_;
};

absl::StatusOr<LoadedLog> LogLoader::Load() {
  absl::Status status = SkipBase();
  loaded_.whole_bytes = offset_;
  at_ = offset_;
  while (status.ok()) {
    const absl::StatusOr<bool> more = ReadMore();
    status = more.status();
    if (!status.ok() || !*more) break;
    status = RunAll();
  }
  loaded_.bytes = status.ok() ? read_ : file_.size();
  const bool may_be_cut = loaded_.bytes - loaded_.whole_bytes <= options_.most_damaged_bytes;
  if (!status.ok() && !may_be_cut) return status;
  if (in_unit_) options_.discard();  // an incomplete unit
  return loaded_;
}

absl::Status LogLoader::SkipBase() {
  std::string space(std::min<uint64_t>(offset_, 1u << 20), '\0');
  while (read_ < offset_) {
    const size_t wanted = std::min<uint64_t>(space.size(), offset_ - read_);
    const absl::StatusOr<size_t> count = file_.Read(std::span(space).first(wanted));
    if (!count.ok()) return Fail(std::string(ErrorLine(count.status())));
    if (*count == 0) return Fail("the file ends here");
    read_ += *count;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LogLoader::ReadMore() {
  const std::span<char> space = parser_.Space();
  const absl::StatusOr<size_t> count = file_.Read(space);
  if (!count.ok()) return Fail("cannot read the file: " + std::string(ErrorLine(count.status())));
  parser_.Arrived(*count);
  read_ += *count;
  if (options_.progress && read_ - reported_ >= kBytesPerReport) {
    reported_ = read_;
    options_.progress(read_, file_.size());
  }
  return *count > 0;
}

absl::Status LogLoader::RunAll() {
  for (;;) {
    const RequestParser::Result result = parser_.Next();
    if (result == RequestParser::Result::kNeedMore) return absl::OkStatus();
    if (result == RequestParser::Result::kBroken) {
      return Fail("not a command: " + std::string(parser_.error()));
    }
    const absl::Status status = RunOne(parser_.argv());
    if (!status.ok()) return status;
    at_ = Position();
    if (!in_unit_) loaded_.whole_bytes = at_;
  }
}

// A request whose length differs from its RESP encoding is an inline command or an annotation.
absl::Status LogLoader::RunOne(Args argv) {
  if (Position() - at_ != EncodedSize(argv)) {
    return argv[0].starts_with('#') ? absl::OkStatus() : Fail("not a command");
  }
  ++loaded_.commands;
  const bool begins = EqualsIgnoringCase(argv[0], "multi");
  const bool ends = EqualsIgnoringCase(argv[0], "exec");
  if (begins && in_unit_) return Fail("MULTI inside a transaction");
  if (ends && !in_unit_) return Fail("EXEC without MULTI");
  absl::Status status = options_.apply(argv);
  if (!status.ok()) return Fail("the command fails: " + std::string(ErrorLine(status)));
  in_unit_ = begins || (in_unit_ && !ends);
  return absl::OkStatus();
}

absl::Status LogLoader::Fail(const std::string& what) const {
  return Refusal("at byte " + std::to_string(at_) + " of " + std::to_string(file_.size()) + ": " +
                 what);
}

}  // namespace

absl::StatusOr<LoadedLog> LoadLog(FileSystem& files, const std::string& path, uint64_t offset,
                                  const LogLoadOptions& options) {
  auto file = files.Open(path);
  absl::StatusOr<LoadedLog> loaded = file.ok() ? LogLoader(**file, offset, options).Load()
                                               : absl::StatusOr<LoadedLog>(file.status());
  if (loaded.ok()) return loaded;
  return Refusal("Cannot load '" + path + "': " + std::string(ErrorLine(loaded.status())));
}

}  // namespace zsetd
