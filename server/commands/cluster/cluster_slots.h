#pragma once

#include <cstddef>
#include <cstdint>

namespace zsetd {

class AdminCall;
class ArgReader;

// Takes the number of a slot; otherwise an error.
uint16_t TakeSlot(ArgReader& args);

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
