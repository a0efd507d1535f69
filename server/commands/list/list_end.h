#pragma once

#include <cstddef>
#include <string_view>

#include "core/list/list.h"
#include "server/engine/command/arg_reader.h"
#include "server/engine/store/edit.h"
#include "server/engine/store/key_event.h"

namespace zsetd {

enum class ListEnd { kLeft, kRight };

// Takes LEFT or RIGHT.
ListEnd TakeListEnd(ArgReader& args);

// The event of the change at that end, which has the name of the command: "lpush", "rpush", "lpop"
// or "rpop".
KeyEvent PushEvent(ListEnd end);
KeyEvent PopEvent(ListEnd end);

// A cursor at that end, from which to move to the other end.
List::Cursor CursorFrom(const List& list, ListEnd end);
void StepFrom(ListEnd end, List::Cursor& cursor);

void PushAt(List& list, ListEnd end, std::string_view element);

// Announces that the elements are about to be added.
void AnnounceAll(const Edit<List>& list, Args elements);

// The element at that end of a list that is not empty. Valid until its next change.
std::string_view ElementAt(const List& list, ListEnd end);

// Removes `count` elements from that end. The list has at least that many.
void DropAt(const Edit<List>& list, ListEnd end, size_t count);

}  // namespace zsetd
