#include "server/engine/metrics/slow_log.h"

#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/client/caller.h"
#include "server/engine/command/redaction.h"

namespace zsetd {
namespace {

constexpr size_t kMostWords = 32;       // Redis: SLOWLOG_ENTRY_MAX_ARGC
constexpr size_t kMostWordBytes = 128;  // Redis: SLOWLOG_ENTRY_MAX_STRING

std::string Shortened(std::string_view word) {
  if (word.size() <= kMostWordBytes) return std::string(word);
  return std::string(word.substr(0, kMostWordBytes)) + "... (" +
         IntegerText(static_cast<int64_t>(word.size() - kMostWordBytes)) + " more bytes)";
}

std::vector<std::string> Shortened(Args argv) {
  const bool too_many = argv.size() > kMostWords;
  std::vector<std::string> shortened;
  for (const std::string_view word : argv.first(too_many ? kMostWords - 1 : argv.size())) {
    shortened.push_back(Shortened(word));
  }
  const auto left_out = static_cast<int64_t>(argv.size() - shortened.size());
  if (too_many) shortened.push_back("... (" + IntegerText(left_out) + " more arguments)");
  return shortened;
}

}  // namespace

SlowCommand SlowLog::Describe(const Command& command, Args argv, const Caller& caller, Millis now,
                              Micros took) {
  return {.at = now,
          .took = took,
          .argv = Shortened(WithoutSecrets(command, argv)),
          .address = caller.address,
          .name = caller.name};
}

void SlowLog::Add(SlowCommand slow, size_t most) {
  if (most == 0) return commands_.clear();
  slow.id = next_id_++;
  commands_.push_front(std::move(slow));
  while (commands_.size() > most) commands_.pop_back();
}

}  // namespace zsetd
