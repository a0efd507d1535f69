#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/engine/services/installation.h"
#include "server/engine/services/no_services.h"

namespace zsetd {

// The libraries of functions of a server that cannot run them (scripting no). Snapshots, the log
// and a master's stream contain them. They are kept for the next snapshots, but cannot be called or
// listed. The server that propagated a change has checked it, so no change is refused.
class KeptLibraries : public NoScripting {
 public:
  // The arguments outlive this. Is the scripting service of the engine if `scripting` is no.
  KeptLibraries(Engine& engine, const Log& log);

  absl::StatusOr<std::string> LoadLibrary(std::string_view code, bool replace) override;
  absl::Status DeleteLibrary(std::string_view name) override;
  void FlushLibraries() override { code_by_name_.clear(); }
  std::string DumpLibraries() const override;
  absl::Status RestoreLibraries(std::string_view dump, RestorePolicy policy) override;

 private:
  const Log& log_;
  bool has_logged_ = false;
  std::map<std::string, std::string, std::less<>> code_by_name_;
  std::optional<Installation> installation_;  // nullopt: the engine can run scripts
};

}  // namespace zsetd
