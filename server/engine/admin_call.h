#pragma once

#include <cassert>
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
  AdminCall(Engine& the_engine, Caller& the_caller, const Command& row, Args argv,
            std::optional<std::string_view> ready_key = std::nullopt)
      : Call(the_engine.store(), the_engine.metrics(), the_engine.effects(), the_caller, row, argv,
             ready_key),
        engine(the_engine) {}

  Engine& engine;

  // The client whose request this is. For commands that no script and no journal may contain.
  Client& client() const {
    assert(caller.client() != nullptr);
    return *caller.client();
  }

  // The database that the caller has selected.
  Database& database() { return engine.store().database(caller.database); }
};

inline void CommandFunction::operator()(AdminCall& call) const {
  if (keys_only_ != nullptr) return keys_only_(call);
  admin_(call);
}

}  // namespace zsetd
