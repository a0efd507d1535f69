#include "server/engine/engine.h"

#include <string>
#include <utility>

#include "server/engine/command/foreign_commands.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/network_control.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// Restores what the host has applied of a rejected change.
void Restore(const Host& host, const Settings& settings) {
  if (!host.apply) return;
  const absl::Status status = host.apply(settings);
  if (status.ok()) return;
  host.log->Write(LogLevel::kWarning, "Cannot restore the settings before a rejected change: " +
                                          std::string(ErrorLine(status)));
}

}  // namespace

Engine::Engine(const Settings& settings, Families families, uint64_t seed, Millis now, Host host)
    : settings_(settings),
      host_(std::move(host)),
      commands_(families),
      store_(settings_, host_, metrics_, reply_holds_, seed, now),
      clients_(settings_, host_, metrics_, store_, notifier_, access_, mode_,
               [this](Client& client) { executor_.OnLeave(client); }),
      access_(commands_, clients_.all(), settings_, metrics_.stats(),
              [this](Client& client) { clients_.End(client); }),
      notifier_(settings_, host_, effects_, store_, clients_.all(), store_.rng().Next()),
      identity_(now),
      replication_(settings_, mode_) {
  clients_.ApplySettings();
  store_.set_log_bytes([this] { return services_.append_log->log_status().buffer_bytes; });
}

absl::Status Engine::Prepare() {
  for (const auto& [name, new_name] : settings_.renamed_commands) {
    if (commands_.Rename(name, new_name)) continue;
    const bool is_known = commands_.Find(name) != nullptr;
    if (!is_known && FindForeignCommand(name) != nullptr) continue;  // it has no name here to take
    return Refusal(
        "rename-command " + name + ": " +
        (is_known ? "Target command name already exists" : "No such command in rename-command"));
  }
  return access_.LoadConfigured();
}

absl::Status Engine::Configure(const Settings& settings) {
  absl::Status applied = host_.apply ? host_.apply(settings) : absl::OkStatus();
  if (applied.ok()) applied = services_.network->Apply(settings);
  if (applied.ok()) {
    applied = services_.append_log->Apply(settings);
    if (!applied.ok()) services_.network->Apply(settings_).IgnoreError();
  }
  if (!applied.ok()) {
    Restore(host_, settings_);
    return applied;
  }
  if (settings.requirepass != settings_.requirepass) {
    access_.SetDefaultPassword(settings.requirepass);
  }
  settings_ = settings;
  store_.ApplySettings();
  clients_.ApplySettings();
  services_.cluster->ApplySettings();
  return absl::OkStatus();
}

}  // namespace zsetd
