#include "server/commands/list/list_end.h"

#include <cassert>

namespace zsetd {

ListEnd TakeListEnd(ArgReader& args) {
  if (args.Take("left")) return ListEnd::kLeft;
  if (!args.Take("right")) args.Refuse(kSyntaxError);
  return ListEnd::kRight;
}

KeyEvent PushEvent(ListEnd end) {
  return end == ListEnd::kLeft ? KeyEvent::kLPush : KeyEvent::kRPush;
}

KeyEvent PopEvent(ListEnd end) { return end == ListEnd::kLeft ? KeyEvent::kLPop : KeyEvent::kRPop; }

List::Cursor CursorFrom(const List& list, ListEnd end) {
  return list.CursorAt(end == ListEnd::kLeft || list.empty() ? 0 : list.size() - 1);
}

void StepFrom(ListEnd end, List::Cursor& cursor) {
  if (end == ListEnd::kLeft) return cursor.Next();
  cursor.Previous();
}

void PushAt(List& list, ListEnd end, std::string_view element) {
  if (end == ListEnd::kLeft) return list.PushFront(element);
  list.PushBack(element);
}

void AnnounceAll(const Edit<List>& list, Args elements) {
  size_t bytes = 0;
  for (const std::string_view element : elements) bytes += element.size();
  list.Announce(elements.size(), bytes);
}

std::string_view ElementAt(const List& list, ListEnd end) {
  assert(!list.empty());
  return list.At(end == ListEnd::kLeft ? 0 : list.size() - 1);
}

void DropAt(const Edit<List>& list, ListEnd end, size_t count) {
  assert(count <= list->size());
  const size_t first = end == ListEnd::kLeft ? 0 : list->size() - count;
  list->Erase(first, first + count);
  list.ReconsiderEncoding();
}

}  // namespace zsetd
