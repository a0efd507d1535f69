#pragma once

#include <algorithm>
#include <cstring>
#include <lua.hpp>
#include <string_view>
#include <utility>

#include "server/scripting/library/library_errors.h"

namespace zsetd {

// Bytes that a library function collects. They are allocated in the interpreter, so
// `script-memory-limit` applies. Appending beyond it is a Lua error.
class ScriptBuffer {
 public:
  explicit ScriptBuffer(lua_State* lua) : allocate_(lua_getallocf(lua, &owner_)) {}
  ~ScriptBuffer() { Free(); }
  ScriptBuffer(ScriptBuffer&& other) noexcept
      : owner_(other.owner_),
        allocate_(other.allocate_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ScriptBuffer& operator=(ScriptBuffer&&) = delete;

  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }

  void Append(lua_State* lua, char byte) {
    if (size_ == capacity_) Grow(lua, 1);
    data_[size_++] = byte;
  }
  void Append(lua_State* lua, std::string_view bytes) {
    if (bytes.size() > capacity_ - size_) Grow(lua, bytes.size());
    if (!bytes.empty()) std::memcpy(data_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void Append(lua_State* lua, size_t count, char byte) {
    if (count > capacity_ - size_) Grow(lua, count);
    if (count > 0) std::memset(data_ + size_, byte, count);
    size_ += count;
  }
  void Reverse(size_t from) { std::reverse(data_ + from, data_ + size_); }

  // Pushes the bytes as a string.
  void Push(lua_State* lua) const { lua_pushlstring(lua, data_ == nullptr ? "" : data_, size_); }

 private:
  void Grow(lua_State* lua, size_t more) {
    constexpr size_t kLeast = 256;
    const size_t capacity = std::max({kLeast, capacity_ * 2, size_ + more});
    char* data = static_cast<char*>(allocate_(owner_, data_, capacity_, capacity));
    if (data == nullptr) FailMemory(lua);
    data_ = data;
    capacity_ = capacity;
  }
  void Free() {
    if (data_ != nullptr) allocate_(owner_, data_, capacity_, 0);
  }

  void* owner_ = nullptr;
  lua_Alloc allocate_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace zsetd
