// The compact forms in which Redis stores small values. Each is one string of bytes:
//
//   listpack   [ bytes:4 | count:2 | element ... | 0xff ]     what Redis 7 writes
//   ziplist    [ bytes:4 | last:4 | count:2 | element ... | 0xff ]     what it wrote before
//   zipmap     [ pairs:1 | name | value ... | 0xff ]                 and long before
//   intset     [ width:4 | count:4 | integer ... ]
//
// Each reader calls `visit` for the elements in order; integers are passed as text. It returns true
// if all bytes were sound and `visit` never returned false. The view that `visit` receives is valid
// during that call. The bytes are not trusted: readers do not read beyond them. O(bytes).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace zsetd {

using VisitElement = std::function<bool(std::string_view)>;

bool ReadListpack(std::string_view bytes, const VisitElement& visit);
bool ReadZiplist(std::string_view bytes, const VisitElement& visit);
bool ReadZipmap(std::string_view bytes, const VisitElement& visit);
bool ReadIntset(std::string_view bytes, const VisitElement& visit);

// Returns the intset of `integers`. Precondition: they are ascending, distinct and not empty.
std::string MakeIntset(std::span<const int64_t> integers);

// Makes a listpack, element by element.
class ListpackWriter {
 public:
  ListpackWriter();

  void Add(std::string_view element);

  size_t size() const { return bytes_.size(); }  // in bytes, so far
  bool empty() const { return count_ == 0; }

  // Returns the complete listpack and leaves the writer empty.
  std::string Finish();

 private:
  void AddInteger(int64_t value);
  void AddString(std::string_view element);

  std::string bytes_;
  size_t count_ = 0;
};

}  // namespace zsetd
