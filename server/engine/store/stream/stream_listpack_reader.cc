#include "server/engine/store/stream/stream_listpack_reader.h"

#include "protocol/text/number_text.h"
#include "server/engine/store/stream/stream_listpack.h"

namespace zsetd {
namespace {

constexpr size_t kMostEntryBytes = 1u << 30;

}  // namespace

bool StreamListpackReader::SameNames() const { return (flags_ & kListpackSameFields) != 0; }

bool StreamListpackReader::Take(std::string_view element) {
  switch (expected_) {
    case Expected::kName:
      return TakeText(element, master_names_, Expected::kMasterEnd);
    case Expected::kText:
      return TakeText(element, texts_, Expected::kElements);
    default:
      return TakeNumber(element);
  }
}

bool StreamListpackReader::TakeNumber(std::string_view element) {
  int64_t parsed = 0;
  if (!ReadInteger(element, parsed)) return false;
  const auto number = static_cast<uint64_t>(parsed);
  const auto next = [&](uint64_t& field, Expected expected) {
    field = number;
    expected_ = expected;
    return true;
  };
  switch (expected_) {
    case Expected::kLive:
      return next(announced_live_, Expected::kDeleted);
    case Expected::kDeleted:
      return next(announced_deleted_, Expected::kNameCount);
    case Expected::kNameCount:
      return parsed > 0 && StartTexts(number, Expected::kName, Expected::kMasterEnd);
    case Expected::kMasterEnd:
      expected_ = Expected::kFlags;
      return number == 0;
    case Expected::kFlags:
      return next(flags_, Expected::kMs);
    case Expected::kMs:
      id_.ms = base_.ms + number;
      expected_ = Expected::kSequence;
      return true;
    case Expected::kSequence:
      id_.seq = base_.seq + number;
      field_count_ = master_names_.size();
      expected_ = Expected::kFieldCount;
      return !SameNames() || StartTexts(field_count_, Expected::kText, Expected::kElements);
    case Expected::kFieldCount:
      field_count_ = number;
      return parsed > 0 && parsed < INT64_MAX / 2 &&
             StartTexts(2 * number, Expected::kText, Expected::kElements);
    case Expected::kElements:
      return EndEntry(number);
    default:
      return false;
  }
}

bool StreamListpackReader::StartTexts(uint64_t count, Expected texts, Expected without) {
  left_ = count;
  bytes_ = 0;
  texts_.clear();
  expected_ = count > 0 ? texts : without;
  return true;
}

bool StreamListpackReader::TakeText(std::string_view element, std::vector<std::string>& texts,
                                    Expected next) {
  bytes_ += element.size() + 1;
  if (bytes_ > kMostEntryBytes) return false;
  texts.emplace_back(element);
  if (--left_ == 0) expected_ = next;
  return true;
}

bool StreamListpackReader::EndEntry(uint64_t elements) {
  expected_ = Expected::kFlags;
  if (elements != ListpackElementsOf(field_count_, SameNames())) return false;
  if (last_id_ ? id_ <= *last_id_ : id_ <= stream_.last_id()) return false;
  last_id_ = id_;
  if ((flags_ & kListpackDeleted) == 0) {
    AppendEntry();
  } else {
    ++deleted_;
  }
  return true;
}

void StreamListpackReader::AppendEntry() {
  ++live_;
  std::vector<std::string_view> fields;
  if (SameNames()) {
    for (size_t i = 0; i < master_names_.size(); ++i) {
      fields.emplace_back(master_names_[i]);
      fields.emplace_back(texts_[i]);
    }
  } else {
    fields.assign(texts_.begin(), texts_.end());
  }
  for (const std::string_view text : fields) text_bytes_ += text.size();
  const size_t blocks = stream_.block_count();
  const bool has_first_names = SameNames() && block_has_names_;
  stream_.Append(id_, fields, Limits(),
                 has_first_names ? StreamBlock::Names::kOfFirst : StreamBlock::Names::kCompared);
  if (stream_.block_count() > blocks) block_has_names_ = SameNames();
}

// Those of the block in which the entry is stored. A block that the rest shares begins with an
// entry that has the listpack's names.
StreamLimits StreamListpackReader::Limits() const {
  if (text_bytes_ <= kMostGrowth * listpack_bytes_ + kSmallGrowth) return limits_;
  const bool begins_block = SameNames() && !block_has_names_;
  return {.entries = begins_block ? 1u : 0u, .bytes = 0, .producers = limits_.producers};
}

bool StreamListpackReader::IsComplete() const {
  return expected_ == Expected::kFlags && live_ == announced_live_ &&
         deleted_ == announced_deleted_;
}

}  // namespace zsetd
