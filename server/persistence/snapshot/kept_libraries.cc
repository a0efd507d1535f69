#include "server/persistence/snapshot/kept_libraries.h"

#include <utility>

#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr char kFunctionOpcode = static_cast<char>(245);  // of a library in Redis's snapshots
constexpr size_t kMostCodeBytes = 16u << 20;

// Returns the name in the first line of a library, such as "#!lua name=mylib".
std::string NameIn(std::string_view code) {
  constexpr std::string_view kName = "name=";
  for (std::string_view word : Split(code.substr(0, code.find_first_of("\r\n")), ' ')) {
    if (word.starts_with(kName)) return std::string(word.substr(kName.size()));
  }
  return std::string(code);  // damaged: no two of these replace each other
}

}  // namespace

KeptLibraries::KeptLibraries(Engine& engine, const Log& log) : log_(log) {
  if (engine.settings().scripting) return;
  installation_.emplace(engine.services().scripting.Install(*this));
}

absl::StatusOr<std::string> KeptLibraries::LoadLibrary(std::string_view code, bool) {
  if (!std::exchange(has_logged_, true)) {
    log_.Write(LogLevel::kWarning,
               "Keeping libraries of functions for the next snapshots; they cannot be called "
               "(scripting no)");
  }
  std::string name = NameIn(code);
  code_by_name_[name] = code;
  return name;
}

absl::Status KeptLibraries::DeleteLibrary(std::string_view name) {
  if (const auto found = code_by_name_.find(name); found != code_by_name_.end()) {
    code_by_name_.erase(found);
  }
  return absl::OkStatus();
}

std::string KeptLibraries::DumpLibraries() const {
  std::string dump;
  RdbWriter writer(dump);
  for (const auto& [name, code] : code_by_name_) {
    dump += kFunctionOpcode;
    writer.String(code);
  }
  return dump;
}

absl::Status KeptLibraries::RestoreLibraries(std::string_view dump, RestorePolicy policy) {
  RdbReader reader(dump, kMostCodeBytes);
  std::map<std::string, std::string, std::less<>> restored;
  while (!reader.AtEnd()) {
    if (static_cast<char>(reader.Byte()) != kFunctionOpcode) {
      return Refusal("ERR given type is not a function");
    }
    std::string code(reader.String());
    if (!reader.ok()) return Refusal("ERR failed loading functions");
    std::string name = NameIn(code);
    restored[std::move(name)] = std::move(code);
  }
  if (policy == RestorePolicy::kFlush) code_by_name_.clear();
  restored.merge(code_by_name_);  // keeps the restored library of a name that both have
  code_by_name_ = std::move(restored);
  return absl::OkStatus();
}

}  // namespace zsetd
