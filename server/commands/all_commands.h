#pragma once

#include <span>

#include "server/engine/command/command.h"

namespace zsetd {

// The rows of each family of commands. They are at the end of the file with the family's name.
std::span<const Command> AclCommands();
std::span<const Command> AuthCommands();
std::span<const Command> BitCommands();
std::span<const Command> BitFieldCommands();
std::span<const Command> BitOperationCommands();
std::span<const Command> ClientCommands();
std::span<const Command> ClientTrackingCommands();
std::span<const Command> ClusterCommands();
std::span<const Command> CommandCommands();
std::span<const Command> ConfigCommands();
std::span<const Command> ConnectionCommands();
std::span<const Command> DatabaseCommands();
std::span<const Command> DebugCommands();
std::span<const Command> DumpCommands();
std::span<const Command> FunctionCommands();
std::span<const Command> GeoCommands();
std::span<const Command> GeoSearchCommands();
std::span<const Command> HashCounterCommands();
std::span<const Command> HashEditCommands();
std::span<const Command> HashExpireCommands();
std::span<const Command> HashRandomCommands();
std::span<const Command> HashReadCommands();
std::span<const Command> HashScanCommands();
std::span<const Command> InfoCommands();
std::span<const Command> KeyCommands();
std::span<const Command> KeyExpireCommands();
std::span<const Command> KeyMoveCommands();
std::span<const Command> KeyTtlCommands();
std::span<const Command> LatencyCommands();
std::span<const Command> LcsCommands();
std::span<const Command> ListBlockingPopCommands();
std::span<const Command> ListEditCommands();
std::span<const Command> ListMoveCommands();
std::span<const Command> ListPushPopCommands();
std::span<const Command> ListReadCommands();
std::span<const Command> ListSearchCommands();
std::span<const Command> MemoryCommands();
std::span<const Command> MigrateCommands();
std::span<const Command> ModuleCommands();
std::span<const Command> MonitorCommands();
std::span<const Command> ObjectCommands();
std::span<const Command> PubSubCommands();
std::span<const Command> PubSubInfoCommands();
std::span<const Command> ReplicationCommands();
std::span<const Command> ScanCommands();
std::span<const Command> ScriptCommands();
std::span<const Command> ServerCommands();
std::span<const Command> SetEditCommands();
std::span<const Command> SetOperationCommands();
std::span<const Command> SetRandomCommands();
std::span<const Command> SetReadCommands();
std::span<const Command> SetScanCommands();
std::span<const Command> SlowLogCommands();
std::span<const Command> SnapshotCommands();
std::span<const Command> SortCommands();
std::span<const Command> StringCounterCommands();
std::span<const Command> StringGetCommands();
std::span<const Command> StringRangeCommands();
std::span<const Command> StringSetCommands();
std::span<const Command> TransactionCommands();
std::span<const Command> ZSetAddCommands();
std::span<const Command> ZSetExpireCommands();
std::span<const Command> ZSetBlockingPopCommands();
std::span<const Command> ZSetMoveCommands();
std::span<const Command> ZSetOperationCommands();
std::span<const Command> ZSetPopCommands();
std::span<const Command> ZSetRandomCommands();
std::span<const Command> ZSetRangeCommands();
std::span<const Command> ZSetRankCommands();
std::span<const Command> ZSetReadCommands();
std::span<const Command> ZSetRemoveCommands();
std::span<const Command> ZSetScanCommands();

// The rows of all families.
std::span<const std::span<const Command>> AllCommands();

}  // namespace zsetd
