#include "server/persistence/log/log_loader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "protocol/resp/request_parser.h"
#include "protocol/resp/request_size.h"
#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr uint64_t kBytesPerReport = 1u << 20;

// Removes "\r\n" at the start. Returns false if the text starts with other bytes. If the text ends
// too early, it becomes empty.
bool TakeLineEnd(std::string_view& text) {
  constexpr std::string_view kLineEnd = "\r\n";
  const std::string_view start = text.substr(0, kLineEnd.size());
  text.remove_prefix(start.size());
  return kLineEnd.starts_with(start);
}

// Like TakeLineEnd(), for a line such as "$3\r\n". Returns its number.
std::optional<uint64_t> TakeLength(char mark, std::string_view& text) {
  if (!text.starts_with(mark)) return std::nullopt;
  const size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  const std::string_view digits = text.substr(1, end - 1);
  text.remove_prefix(end);
  const std::optional<int64_t> length = digits.empty() ? 0 : ParseInteger(digits);
  if (!length || !TakeLineEnd(text)) return std::nullopt;
  return static_cast<uint64_t>(*length);
}

// Whether the bytes are the beginning of a request in RESP, as a write that was cut off leaves it.
bool BeginsRequest(std::string_view bytes) {
  if (!TakeLength('*', bytes)) return false;
  while (!bytes.empty()) {
    const std::optional<uint64_t> length = TakeLength('$', bytes);
    if (!length) return false;
    bytes.remove_prefix(std::min<uint64_t>(*length, bytes.size()));
    if (!TakeLineEnd(bytes)) return false;
  }
  return true;
}

bool BeginsAnnotation(std::string_view bytes) {
  return bytes.starts_with('#') && bytes.find('\0') == std::string_view::npos;
}

class LogLoader {
 public:
  LogLoader(ReadableFile& file, uint64_t offset, const LogLoadOptions& options)
      : file_(file), options_(options), parser_(Limits()), read_(0), offset_(offset) {}

  absl::StatusOr<LoadedLog> Load();

 private:
  static RequestLimits Limits() {
    return {.max_bulk_bytes = kMostStringBytes, .annotations = true};
  }

  absl::Status SkipBase();
  absl::StatusOr<bool> ReadMore();
  absl::Status RunAll();
  absl::Status RunOne(Args argv);
  absl::Status CheckEnd() const;
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
    if (!status.ok()) break;
    status = *more ? RunAll() : CheckEnd();
    if (!*more) break;
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
    return argv[0].starts_with('#') ? absl::OkStatus()
                                    : Fail(
                                          "not a command. To remove this end of the last file, set "
                                          "aof-load-corrupt-tail-max-size");
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

// A file may end in the middle of a request, but not with other bytes.
absl::Status LogLoader::CheckEnd() const {
  const std::string_view rest = parser_.buffered();
  const bool is_request = rest.empty() || BeginsRequest(rest) || BeginsAnnotation(rest);
  return is_request && Position() == at_ ? absl::OkStatus() : Fail("not a command");
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
