#pragma once

#include <optional>
#include <string_view>

#include "server/engine/call.h"
#include "server/engine/engine.h"

namespace zsetd {

// A call that may see the whole server: for commands about settings, clients, users, channels,
// transactions, scripts, statistics and the like. The parameter type of a row's function selects
// it. Commands on keys take a Call and cannot reach an AdminCall (tests/checks/layering.py).
class AdminCall : public Call {
 public:
  AdminCall(Engine& the_engine, Client& the_client, const Command& row, Args argv,
            std::optional<std::string_view> ready_key = std::nullopt)
      : Call(the_engine.store(), the_engine.metrics(), the_engine.effects(), the_client, row, argv,
             ready_key),
        engine(the_engine) {}

  Engine& engine;

  // The database that the client has selected.
  Database& database() { return engine.store().database(client.database); }
};

inline void CommandFunction::operator()(AdminCall& call) const {
  if (keys_only_ != nullptr) return keys_only_(call);
  admin_(call);
}

}  // namespace zsetd
