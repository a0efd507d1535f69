#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace zsetd {

// A member or a payload too long for a block, in an allocation of its own.
class LargeMember {
 public:
  static LargeMember* Make(std::string_view member) {
    void* memory = ::operator new(sizeof(LargeMember) + member.size());
    return new (memory) LargeMember(member);
  }
  static void Free(LargeMember* member) { ::operator delete(member); }

  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size_}; }

 private:
  explicit LargeMember(std::string_view member) : size_(member.size()) {
    std::memcpy(this + 1, member.data(), member.size());
  }

  size_t size_;
};

}  // namespace zsetd
