#pragma once

namespace zsetd {

class AdminCall;

// The subcommands of CLUSTER that change or read the slots of this node.
void AddSlots(AdminCall& call);
void AddSlotsRange(AdminCall& call);
void DelSlots(AdminCall& call);
void DelSlotsRange(AdminCall& call);
void FlushSlots(AdminCall& call);
void SetSlot(AdminCall& call);
void KeySlotOf(AdminCall& call);
void CountKeysInSlot(AdminCall& call);
void GetKeysInSlot(AdminCall& call);

}  // namespace zsetd
