#include "server/process/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// By spdlog's level, from trace to off.
constexpr std::array<std::string_view, spdlog::level::n_levels> kNames = {
    "debug", "verbose", "notice", "warning", "warning", "warning", "warning"};

class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string_view name = kNames[message.level];
    line.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

spdlog::sink_ptr SinkTo(const std::string& file) {
  if (file.empty()) return std::make_shared<spdlog::sinks::stdout_sink_mt>();
  return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
}

}  // namespace

absl::Status OpenLog(const std::string& file) {
  // Tried first, because spdlog throws where it cannot open the file.
  if (!file.empty() && !std::ofstream(file, std::ios::app)) {
    return Refusal("Cannot open the log file '" + file + "': " + std::strerror(errno));
  }
  auto logger = std::make_shared<spdlog::logger>("zsetd", SinkTo(file));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelName>('*').set_pattern("%P %Y-%m-%d %H:%M:%S.%e %* %v");
  logger->set_formatter(std::move(formatter));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  return absl::OkStatus();
}

void SetLogLevel(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  spdlog::set_level(static_cast<spdlog::level::level_enum>(found - kNames.begin()));
}

}  // namespace zsetd
