#pragma once

#include <cstddef>
#include <string_view>

#include "core/list/list.h"
#include "server/engine/command/arg_reader.h"
#include "server/engine/store/key_event.h"

namespace zsetd {

enum class ListEnd { kLeft, kRight };

// Takes LEFT or RIGHT.
ListEnd TakeListEnd(ArgReader& args);

// The change at that end, whose name is also that of the command that makes it: "lpush", "rpush",
// "lpop", "rpop".
KeyEvent PushEvent(ListEnd end);
KeyEvent PopEvent(ListEnd end);

// To walk from that end to the other.
List::Cursor CursorFrom(const List& list, ListEnd end);
void StepFrom(ListEnd end, List::Cursor& cursor);

void PushAt(List& list, ListEnd end, std::string_view element);

// Updates the list's encoding before these are added.
void ExpectAll(List& list, Args elements, const ListLimits& limits);

// The element at that end; the list is not empty. Valid until its next change.
std::string_view ElementAt(const List& list, ListEnd end);

// Removes that many elements, of as many at least, from that end.
void DropAt(List& list, ListEnd end, size_t count, const ListLimits& limits);

}  // namespace zsetd
