#include "server/commands/debug/data_digest.h"

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "core/keyspace/value.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

// As in Redis: %.17g, which distinguishes all doubles.
std::string DigestScoreText(double score) {
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.17g", score);
  return {text.data(), static_cast<size_t>(length)};
}

DataDigest DigestOfPair(std::string_view first, std::string_view second) {
  DataDigest digest;
  digest.Append(first);
  digest.Append(second);
  return digest;
}

// Redis's numbers of types: 0 strings, 1 lists, 2 sets, 3 sorted sets, 4 hashes, 6 streams.
void AppendContents(DataDigest& digest, const ByteString& string) {
  AppendNumber(digest, 0);
  digest.Append(string.view());
}

void AppendContents(DataDigest& digest, const List& list) {
  AppendNumber(digest, 1);
  for (auto at = list.CursorAt(0); at.valid(); at.Next()) digest.Append(at.element());
}

void AppendContents(DataDigest& digest, const Set& set) {
  AppendNumber(digest, 2);
  set.ForEach([&](std::string_view member) { digest.Add(member); });
}

void AppendContents(DataDigest& digest, const SortedSet& set) {
  AppendNumber(digest, 3);
  for (auto at = set.At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    digest.Add(
        DigestOfPair(element.member, DigestScoreText(PlainScore(set.form(), element.score))));
  }
}

void AppendContents(DataDigest& digest, const Hash& hash) {
  AppendNumber(digest, 4);
  hash.ForEach([&](const Field& field) { digest.Add(DigestOfPair(field.name, field.value)); });
}

// The groups are not part of the digest.
void AppendContents(DataDigest& digest, const Stream& stream) {
  AppendNumber(digest, 6);
  for (Stream::Cursor at(stream, kFirstStreamId, Stream::Cursor::kForward); at.valid(); at.Next()) {
    digest.Append(std::to_string(at.id().ms) + "." + std::to_string(at.id().seq));
    at.entry().ForEachField([&](std::string_view name, std::string_view value) {
      digest.Append(name);
      digest.Append(value);
    });
  }
}

}  // namespace

void DataDigest::Append(std::string_view part) {
  Add(part);
  SHA1(digest_.data(), kBytes, digest_.data());
}

void DataDigest::Add(std::string_view part) {
  std::array<unsigned char, kBytes> hash;
  SHA1(reinterpret_cast<const unsigned char*>(part.data()), part.size(), hash.data());
  for (size_t i = 0; i < kBytes; ++i) digest_[i] ^= hash[i];
}

std::string DataDigest::Text() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest_) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

void AppendNumber(DataDigest& digest, uint32_t number) {
  const std::array<char, 4> bytes = {static_cast<char>(number >> 24),
                                     static_cast<char>(number >> 16),
                                     static_cast<char>(number >> 8), static_cast<char>(number)};
  digest.Append({bytes.data(), bytes.size()});
}

void AppendValue(DataDigest& digest, const Entry& entry) {
  entry.VisitValue([&](const auto& value) { AppendContents(digest, value); });
  if (entry.deadline()) digest.Add("!!expire!!");
}

}  // namespace zsetd
