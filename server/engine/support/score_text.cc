#include "server/engine/support/score_text.h"

#include "protocol/text/number_text.h"

namespace zsetd {

std::string ScoreText(const ScoreForm& form, double score) {
  return form.is_double() ? DoubleText(score) : form.ScoreText(ScoreCode(score));
}

double PlainScore(const ScoreForm& form, double score) {
  return form.is_double() ? score : form.Rounded(ScoreCode(score));
}

}  // namespace zsetd
