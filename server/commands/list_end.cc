#include "server/commands/list_end.h"

namespace zsetd {

ListEnd TakeListEnd(ArgReader& args) {
  if (args.Take("left")) return ListEnd::kLeft;
  if (!args.Take("right")) args.Refuse(kSyntaxError);
  return ListEnd::kRight;
}

std::string_view PushEvent(ListEnd end) { return end == ListEnd::kLeft ? "lpush" : "rpush"; }

std::string_view PopEvent(ListEnd end) { return end == ListEnd::kLeft ? "lpop" : "rpop"; }

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

std::string_view ElementAt(const List& list, ListEnd end) {
  return list.At(end == ListEnd::kLeft ? 0 : list.size() - 1);
}

void DropAt(List& list, ListEnd end, size_t count) {
  if (end == ListEnd::kLeft) return list.Erase(0, count);
  list.Erase(list.size() - count, list.size());
}

}  // namespace zsetd
