#pragma once

namespace zsetd {

class AdminCall;

// The subcommands of CLUSTER that move slots as a whole.
void MigrateSlots(AdminCall& call);
void CancelSlotMigrations(AdminCall& call);
void GetSlotMigrations(AdminCall& call);
void SyncSlots(AdminCall& call);

}  // namespace zsetd
