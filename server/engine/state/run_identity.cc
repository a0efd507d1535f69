#include "server/engine/state/run_identity.h"

#include "server/engine/support/unique_id.h"

namespace zsetd {

RunIdentity::RunIdentity(Millis started_at) : started_at_(started_at), run_id_(UniqueId()) {}

}  // namespace zsetd
