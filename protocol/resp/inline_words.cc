#include "protocol/resp/inline_words.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace zsetd {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// As in Redis, \v and \f are skipped between arguments, but do not end an unquoted argument.
bool EndsWord(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Reads a line from left to right, argument by argument.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  // Skips to the next argument; false at the end of the line.
  bool FindWord() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
    return !rest_.empty();
  }

  // Takes the argument that starts here; nullopt if a quote in it is unbalanced.
  std::optional<std::string> TakeWord();

 private:
  char TakeByte();

  // Each appends the bytes up to the closing quote. False if the quote is missing, or no space or
  // end follows it.
  bool TakeSingleQuoted(std::string& word);
  bool TakeDoubleQuoted(std::string& word);

  bool AtBoundary() const { return rest_.empty() || IsSpace(rest_.front()); }

  // The byte that an escape means, its backslash already taken.
  char TakeEscape();
  std::optional<char> TakeHexEscape();

  std::string_view rest_;
};

char LineReader::TakeByte() {
  const char c = rest_.front();
  rest_.remove_prefix(1);
  return c;
}

std::optional<std::string> LineReader::TakeWord() {
  std::string word;
  while (!rest_.empty() && !EndsWord(rest_.front())) {
    const char c = TakeByte();
    if (c == '"') return TakeDoubleQuoted(word) ? std::optional(word) : std::nullopt;
    if (c == '\'') return TakeSingleQuoted(word) ? std::optional(word) : std::nullopt;
    word += c;
  }
  return word;
}

bool LineReader::TakeSingleQuoted(std::string& word) {
  while (!rest_.empty()) {
    const char c = TakeByte();
    if (c == '\'') return AtBoundary();
    word += c == '\\' && rest_.starts_with('\'') ? TakeByte() : c;
  }
  return false;
}

bool LineReader::TakeDoubleQuoted(std::string& word) {
  while (!rest_.empty()) {
    const char c = TakeByte();
    if (c == '"') return AtBoundary();
    word += c == '\\' && !rest_.empty() ? TakeEscape() : c;
  }
  return false;
}

char LineReader::TakeEscape() {
  if (const auto byte = TakeHexEscape()) return *byte;
  const char c = TakeByte();
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

std::optional<char> LineReader::TakeHexEscape() {
  if (rest_.size() < 3 || rest_.front() != 'x') return std::nullopt;
  uint8_t byte = 0;
  const char* end = rest_.data() + 3;
  if (std::from_chars(rest_.data() + 1, end, byte, 16).ptr != end) return std::nullopt;
  rest_.remove_prefix(3);
  return static_cast<char>(byte);
}

// Whether this byte is written without quotes. More bytes would be valid, but less readable.
bool NeedsNoQuotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:*@%+,=").find(c) != std::string_view::npos;
}

void AppendEscaped(std::string& text, char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    text += {'\\', c};
  } else if (byte < ' ' || byte == 0x7f) {
    text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xf]};
  } else {
    text += c;
  }
}

}  // namespace

std::optional<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  LineReader reader(line);
  while (reader.FindWord()) {
    auto word = reader.TakeWord();
    if (!word) return std::nullopt;
    words.push_back(*std::move(word));
  }
  return words;
}

std::string QuoteWord(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, NeedsNoQuotes)) return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) AppendEscaped(quoted, c);
  return quoted + '"';
}

}  // namespace zsetd
