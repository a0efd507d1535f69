#include "server/commands/families.h"

#include <array>

namespace zsetd {

std::span<const std::span<const Command>> AllCommands() {
  static const std::array kFamilies = {
      BitCommands(),         BitFieldCommands(),     BitOperationCommands(),
      ClientCommands(),      ClientPauseCommands(),  ClientTrackingCommands(),
      CommandCommands(),     ConfigCommands(),       ConnectionCommands(),
      DebugCommands(),       DumpCommands(),         FunctionCommands(),
      GeoCommands(),         GeoSearchCommands(),    HashAllCommands(),
      HashEditCommands(),    HashNumberCommands(),   HashRandomCommands(),
      HashReadCommands(),    HashScanCommands(),     HelloCommands(),
      InfoCommands(),        KeyCommands(),          KeyExpireCommands(),
      KeyMoveCommands(),     KeyTtlCommands(),       KeyspaceWideCommands(),
      LatencyCommands(),     LcsCommands(),          ListEditCommands(),
      ListMoveCommands(),    ListMultiPopCommands(), ListPushPopCommands(),
      ListReadCommands(),    ListSearchCommands(),   LolwutCommands(),
      MemoryCommands(),      MonitorCommands(),      ObjectCommands(),
      PubSubCommands(),      PubSubInfoCommands(),   ReplicationCommands(),
      ScanCommands(),        ScriptCommands(),       ServerCommands(),
      SetCombineCommands(),  SetEditCommands(),      SetRandomCommands(),
      SetReadCommands(),     SetScanCommands(),      SlowLogCommands(),
      SortCommands(),        StringGetCommands(),    StringNumberCommands(),
      StringRangeCommands(), StringSetCommands(),    TransactionCommands(),
      ZSetAlgebraCommands(), ZSetEditCommands(),     ZSetMultiPopCommands(),
      ZSetPopCommands(),     ZSetRandomCommands(),   ZSetRangeCommands(),
      ZSetReadCommands(),    ZSetScanCommands(),
  };
  return kFamilies;
}

}  // namespace zsetd
