#include "server/process/spdlog_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// spdlog's levels from trace to warn have the numbers of LogLevel.
spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(level);
}
static_assert(static_cast<int>(LogLevel::kWarning) == spdlog::level::warn);

// Indexed by SyslogFacility.
constexpr int kFacilities[] = {LOG_USER,   LOG_LOCAL0, LOG_LOCAL1, LOG_LOCAL2, LOG_LOCAL3,
                               LOG_LOCAL4, LOG_LOCAL5, LOG_LOCAL6, LOG_LOCAL7};
static_assert(std::size(kFacilities) == std::size(kSyslogFacilities));

class Role : public spdlog::custom_flag_formatter {
 public:
  explicit Role(const std::atomic<char>& role) : role_(role) {}
  void format(const spdlog::details::log_msg&, const std::tm&,
              spdlog::memory_buf_t& line) override {
    line.push_back(role_.load(std::memory_order_relaxed));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Role>(role_);
  }

 private:
  const std::atomic<char>& role_;
};

class LevelMark : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    constexpr std::string_view kMarks = ".-*#";  // by LogLevel
    line.push_back(kMarks[static_cast<size_t>(message.level)]);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelMark>();
  }
};

class EscapedText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    constexpr char kDigits[] = "0123456789abcdef";
    for (const char byte : message.payload) {
      const auto code = static_cast<unsigned char>(byte);
      if (code >= ' ' && code != 0x7f) {
        line.push_back(byte);
      } else {
        const char escaped[] = {'\\', 'x', kDigits[code >> 4], kDigits[code & 0xf]};
        line.append(std::begin(escaped), std::end(escaped));
      }
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedText>();
  }
};

// %& is the role, %* the level's mark, and %! the escaped text.
std::unique_ptr<spdlog::formatter> Formatter(const std::string& pattern, const std::string& end,
                                             const std::atomic<char>& role) {
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::local, end);
  formatter->add_flag<Role>('&', role)
      .add_flag<LevelMark>('*')
      .add_flag<EscapedText>('!')
      .set_pattern(pattern);
  return formatter;
}

}  // namespace

// The sinks below are used through `all`, under its lock.
struct SpdlogLog::Outputs {
  std::atomic<char> role{'M'};
  spdlog::sink_ptr system;  // null: the system's log is not enabled
  const std::shared_ptr<spdlog::sinks::dist_sink_mt> all =
      std::make_shared<spdlog::sinks::dist_sink_mt>();
  spdlog::logger logger{"zsetd", all};

  Outputs() { logger.flush_on(spdlog::level::trace); }

  // Writes to the file from now on, or to standard output if the name is empty.
  absl::Status WriteTo(const std::string& file) {
    // Checks the file first, because spdlog throws if it cannot open it.
    if (!file.empty() && !std::ofstream(file, std::ios::app)) {
      return Refusal("Cannot open the log file '" + file + "': " + std::strerror(errno));
    }
    spdlog::sink_ptr sink;
    if (file.empty()) {
      sink = std::make_shared<spdlog::sinks::stdout_sink_st>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file);
    }
    sink->set_formatter(Formatter("%P:%& %d %b %Y %H:%M:%S.%e %* %!", "\n", role));
    std::vector<spdlog::sink_ptr> sinks = {std::move(sink)};
    if (system != nullptr) sinks.push_back(system);
    all->set_sinks(std::move(sinks));
    return absl::OkStatus();
  }

  void OpenSystemLog(const Settings& settings) {
    const int facility = kFacilities[static_cast<size_t>(settings.syslog_facility)];
    system = std::make_shared<spdlog::sinks::syslog_sink_st>(
        settings.syslog_ident, LOG_PID | LOG_NDELAY, facility, /*enable_formatting=*/true);
    system->set_formatter(Formatter("%!", "", role));
  }
};

SpdlogLog::SpdlogLog() : outputs_(std::make_unique<Outputs>()) {}

SpdlogLog::~SpdlogLog() = default;

absl::Status SpdlogLog::Open(const Settings& settings) {
  assert(outputs_->all->sinks().empty());
  if (settings.syslog_enabled) outputs_->OpenSystemLog(settings);
  SetLevel(settings.loglevel);
  return outputs_->WriteTo(settings.logfile);
}

// Keeps the sink of the system's log, because a second one would be closed with the first.
absl::Status SpdlogLog::ReopenFile(const std::string& file) {
  assert(!outputs_->all->sinks().empty());
  return file.empty() ? absl::OkStatus() : outputs_->WriteTo(file);
}

void SpdlogLog::SetLevel(LogLevel level) { outputs_->logger.set_level(SpdlogLevel(level)); }

void SpdlogLog::SetRole(bool is_replica) {
  outputs_->role.store(is_replica ? 'S' : 'M', std::memory_order_relaxed);
}

bool SpdlogLog::IsOn(LogLevel level) const {
  return outputs_->logger.should_log(SpdlogLevel(level));
}

void SpdlogLog::Write(LogLevel level, std::string_view text) const {
  outputs_->logger.log(SpdlogLevel(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace zsetd
