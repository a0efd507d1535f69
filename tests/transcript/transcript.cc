#include "tests/transcript/transcript.h"

#include <algorithm>

#include "protocol/resp/inline_words.h"
#include "protocol/resp/request_writer.h"
#include "tests/transcript/transcript_line.h"

namespace zsetd {
namespace {

// Reads a file line by line. Keeps the first error.
class Parser {
 public:
  absl::StatusOr<Transcript> Parse(std::string_view text);

 private:
  void Take(std::string_view line);
  void TakeRequest(std::string_view line);
  void TakeRaw(std::string_view line);
  void TakeHeader(std::string_view line);
  void TakeReply(std::string_view line, Expectation Step::*expectation);
  Step& AddStep(Step::Kind kind, std::string_view line);
  void CheckThatLastStepExpects();
  void Fail(std::string_view what);

  int line_number_ = 0;
  Transcript transcript_;
  absl::Status status_;
};

absl::StatusOr<Transcript> Parser::Parse(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ++line_number_;
    Take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  CheckThatLastStepExpects();
  if (!status_.ok()) return status_;
  return std::move(transcript_);
}

void Parser::Take(std::string_view line) {
  switch (KindOfLine(line)) {
    case LineKind::kNothing:
      return;
    case LineKind::kRequest:
      return TakeRequest(line);
    case LineKind::kRaw:
      return TakeRaw(line);
    case LineKind::kHeard:
      AddStep(Step::Kind::kHear, line).client = TakeName(line);
      return;
    case LineKind::kTime:
      AddStep(Step::Kind::kPass, line).time = TimeOfLine(line);
      return;
    case LineKind::kOracle:
      TakeOracleMark(line);
      return TakeReply(line, &Step::oracle);
    case LineKind::kReply:
      return TakeReply(line, &Step::expected);
  }
}

void Parser::TakeRequest(std::string_view line) {
  Step& step = AddStep(Step::Kind::kSend, line);
  step.client = TakeName(line);
  const auto words = SplitWords(line);
  if (!words || words->empty()) return Fail("the quotes are not balanced, or there is no word");
  step.bytes = Multibulk(*words);
}

void Parser::TakeRaw(std::string_view line) {
  Step& step = AddStep(Step::Kind::kSend, line);
  step.client = TakeName(line);
  const auto words = SplitWords(line);
  if (!words || words->size() != 1) return Fail("raw bytes are one quoted word");
  step.bytes = words->front();
}

void Parser::TakeHeader(std::string_view line) {
  if (line == "proto 3") {
    transcript_.protocol = 3;
  } else if (line == "socket") {
    transcript_.needs_socket = true;
  } else if (line == "cluster") {
    transcript_.in_cluster = true;
  } else if (line.starts_with("node ")) {
    transcript_.in_cluster = true;
    transcript_.nodes.append(line.substr(line.find(' ') + 1)).append("\n");
  } else {
    Fail("this is neither a header nor a request");
  }
}

void Parser::TakeReply(std::string_view line, Expectation Step::*expectation) {
  if (transcript_.steps.empty()) return TakeHeader(line);
  Step& step = transcript_.steps.back();
  if (step.kind == Step::Kind::kPass) return Fail("no client receives this reply");
  const std::string_view wrong = AddLine(line, step.*expectation);
  if (!wrong.empty()) Fail(wrong);
}

Step& Parser::AddStep(Step::Kind kind, std::string_view line) {
  CheckThatLastStepExpects();
  Step& step = transcript_.steps.emplace_back();
  step.kind = kind;
  step.line_number = line_number_;
  step.line = line;
  return step;
}

void Parser::CheckThatLastStepExpects() {
  if (transcript_.steps.empty()) return;
  const Step& last = transcript_.steps.back();
  if (last.kind != Step::Kind::kPass && last.expected.empty())
    Fail("the previous step expects no reply");
}

void Parser::Fail(std::string_view what) {
  status_.Update(absl::InvalidArgumentError("line " + std::to_string(line_number_) + ": " +
                                            std::string(what)));
}

}  // namespace

const Expectation& Step::Expected(Dialect dialect) const {
  return dialect == Dialect::kOracle && !oracle.empty() ? oracle : expected;
}

absl::StatusOr<Transcript> ParseTranscript(std::string_view text) { return Parser().Parse(text); }

std::string Multibulk(const std::vector<std::string>& words) {
  return EncodeRequest(std::vector<std::string_view>(words.begin(), words.end()));
}

}  // namespace zsetd
