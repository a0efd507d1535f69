#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zsetd {

// Copies of values for long replies that are still being written. Replies that begin while a value
// is unchanged share one copy of it, so that a client cannot have it copied once for each
// connection.
//
// A copy belongs to the replies that read it: it is freed with the last of them.
class ValueCopies {
 public:
  // A copy of what the key holds now: what `make()` returns, a std::shared_ptr<T>, or what it
  // returned earlier if the key has not changed since. Copies of several types T are independent.
  template <class T, class Make>
  std::shared_ptr<T> Take(int database, std::string_view key, Make make);

  // The key, or all keys of the database, have changed: the next reply needs another copy.
  void Touch(int database, std::string_view key) {
    if (!copies_.empty()) copies_.erase({database, std::string(key)});
  }
  void TouchAll(int database) {
    std::erase_if(copies_, [=](const auto& each) { return each.first.first == database; });
  }

  // Forgets copies that have been freed. O(copies).
  void Sweep() {
    std::erase_if(copies_, [](const auto& each) {
      return std::ranges::all_of(each.second,
                                 [](const Copy& copy) { return copy.value.expired(); });
    });
  }

  size_t size() const { return copies_.size(); }  // keys, some of whose copies may be freed

 private:
  // The address identifies a type.
  template <class T>
  static inline const char kTypeMark = 0;

  struct Copy {
    const char* type;
    std::weak_ptr<void> value;
  };

  std::map<std::pair<int, std::string>, std::vector<Copy>> copies_;
};

template <class T, class Make>
std::shared_ptr<T> ValueCopies::Take(int database, std::string_view key, Make make) {
  std::vector<Copy>& copies = copies_[{database, std::string(key)}];
  for (const Copy& copy : copies) {
    const std::shared_ptr<void> found = copy.type == &kTypeMark<T> ? copy.value.lock() : nullptr;
    if (found != nullptr) return std::static_pointer_cast<T>(found);
  }
  std::erase_if(copies, [](const Copy& copy) { return copy.value.expired(); });
  std::shared_ptr<T> made = make();
  copies.push_back({&kTypeMark<T>, made});
  return made;
}

}  // namespace zsetd
