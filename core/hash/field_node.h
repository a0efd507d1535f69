#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>

#include "core/hash/field.h"

namespace zsetd {

// A field in a dictionary, in one allocation: the link of its chain, then the packed field.
class FieldNode {
 public:
  static std::unique_ptr<FieldNode> Make(const Field& field) {
    auto* node = ::new (::operator new(sizeof(FieldNode) + PackedBytes(field))) FieldNode();
    Pack(reinterpret_cast<char*>(node + 1), field);
    return std::unique_ptr<FieldNode>(node);
  }
  static void operator delete(void* memory) { ::operator delete(memory); }

  Field field() const { return Unpack(reinterpret_cast<const char*>(this + 1)); }
  std::string_view key() const { return field().name; }

  FieldNode* next() const { return next_; }
  void set_next(FieldNode* next) { next_ = next; }

 private:
  FieldNode() = default;

  FieldNode* next_ = nullptr;
};

}  // namespace zsetd
