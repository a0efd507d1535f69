#include "server/replication/master_stream.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_size.h"
#include "protocol/resp/request_writer.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr size_t kMostKeptCapacity = 1u << 20;  // the largest capacity of an empty buffer

bool IsFrame(Args request) {
  return request.size() == 1 &&
         (EqualsIgnoringCase(request[0], "multi") || EqualsIgnoringCase(request[0], "exec"));
}

bool ConcernsLink(Args request) {
  return EqualsIgnoringCase(request[0], "ping") || EqualsIgnoringCase(request[0], "replconf");
}

RequestLimits Limits() { return {.max_bulk_bytes = kMostStringBytes}; }

// Returns the requests in `bytes` except those that concern the link.
std::string EncodedAgain(std::string_view bytes) {
  OutputBuffer out;
  RequestParser parser(Limits());
  while (!bytes.empty()) {
    const std::span<char> space = parser.Space();
    const size_t count = std::min(space.size(), bytes.size());
    bytes.copy(space.data(), count);
    bytes.remove_prefix(count);
    parser.Arrived(count);
    while (parser.Next() == RequestParser::Result::kRequest) {
      if (!ConcernsLink(parser.argv())) AppendRequest(out, parser.argv());
    }
  }
  return std::string(out.view());
}

}  // namespace

MasterStream::MasterStream(Engine& engine, OnApplied on_applied)
    : engine_(engine),
      on_applied_(std::move(on_applied)),
      applier_(engine, Applier::Statistics::kCounts),
      parser_(Limits()) {}

void MasterStream::Begin(int64_t offset, int database) {
  applier_.Restart(database);
  parser_ = RequestParser(Limits());
  offset_ = offset;
  kept_.clear();
  request_end_ = 0;
  unit_changes_data_ = false;
  unit_is_plain_ = true;
  ack_requested_ = false;
}

absl::Status MasterStream::Receive(std::string_view bytes) {
  const bool continues_unit = !kept_.empty();
  parsed_ = kept_.size();
  if (continues_unit) kept_ += bytes;
  received_ = continues_unit ? std::string_view(kept_) : bytes;
  units_end_ = reported_ = 0;
  reported_database_ = units_database_ = database();
  const absl::Status status = ApplyAll();
  assert(units_end_ <= received_.size());
  offset_ += static_cast<int64_t>(units_end_);
  if (continues_unit) {
    kept_.erase(0, units_end_);
  } else {
    kept_ = received_.substr(units_end_);
  }
  request_end_ -= units_end_;
  if (kept_.empty() && kept_.capacity() > kMostKeptCapacity) kept_ = std::string();
  received_ = {};
  return status;
}

absl::Status MasterStream::ApplyAll() {
  absl::Status status = absl::OkStatus();
  applier_.Begin();
  while (status.ok() && parsed_ < received_.size()) {
    const std::span<char> space = parser_.Space();
    const size_t count = std::min(space.size(), received_.size() - parsed_);
    received_.copy(space.data(), count, parsed_);
    parser_.Arrived(count);
    parsed_ += count;
    RequestParser::Result result;
    while (status.ok() && (result = parser_.Next()) == RequestParser::Result::kRequest) {
      const size_t start = std::exchange(request_end_, parsed_ - parser_.buffered_bytes());
      unit_is_plain_ &=
          received_[start] == '*' && EncodedSize(parser_.argv()) == request_end_ - start;
      status = ApplyOne(parser_.argv());
      if (status.ok() && !applier_.InTransaction()) EndUnit();
    }
    if (status.ok() && result == RequestParser::Result::kBroken) {
      status = Refusal("ERR the master's stream is not a sequence of requests: " +
                       std::string(parser_.error()));
    }
  }
  Report();
  applier_.End();
  engine_.executor().OnApplied();
  return status;
}

absl::Status MasterStream::ApplyOne(Args request) {
  if (ConcernsLink(request)) {
    applier_.Count(request);
    unit_is_plain_ = false;
    const bool is_replconf = EqualsIgnoringCase(request[0], "replconf") && request.size() > 1;
    ack_requested_ |= is_replconf && EqualsIgnoringCase(request[1], "getack");
    return absl::OkStatus();
  }
  unit_changes_data_ |= !IsFrame(request) && !applier_.LeavesOut(request);
  return applier_.Apply(request);
}

void MasterStream::EndUnit() {
  const bool changes_data = std::exchange(unit_changes_data_, false);
  const bool is_plain = std::exchange(unit_is_plain_, true) || !changes_data;
  if (changes_data != units_change_data_ || !is_plain) Report();
  units_change_data_ = changes_data;
  units_end_ = request_end_;
  units_database_ = database();
  if (!is_plain) Report(EncodedAgain(UnreportedBytes()));
}

std::string_view MasterStream::UnreportedBytes() const {
  assert(reported_ <= units_end_);
  return received_.substr(reported_, units_end_ - reported_);
}

void MasterStream::Report() { Report(UnreportedBytes()); }

void MasterStream::Report(std::string_view log_bytes) {
  if (reported_ == units_end_) return;
  on_applied_({.bytes = UnreportedBytes(),
               .log_bytes = log_bytes,
               .database_before = reported_database_,
               .database_after = units_database_,
               .changes_data = units_change_data_});
  reported_ = units_end_;
  reported_database_ = units_database_;
}

}  // namespace zsetd
