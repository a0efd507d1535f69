#include "server/engine/state/run_identity.h"

#include "server/engine/state/replication_state.h"

namespace zsetd {

RunIdentity::RunIdentity(Rng& rng, Millis started_at)
    : started_at_(started_at), run_id_(RandomHexDigits(rng)) {}

}  // namespace zsetd
