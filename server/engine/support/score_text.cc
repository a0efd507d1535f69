#include "server/engine/support/score_text.h"

#include "protocol/text/number_text.h"

namespace zsetd {

std::string ScoreText(const ScoreForm& form, double score, Millis now) {
  if (form.decays()) return DoubleText(form.half_life().Shown(score, now));
  return StoredScoreText(form, score);
}

std::string StoredScoreText(const ScoreForm& form, double score) {
  const bool is_number = form.is_double() || form.decays();
  return is_number ? DoubleText(score) : form.ScoreText(ScoreCode(score));
}

double PlainScore(const ScoreForm& form, double score) {
  return form.is_double() ? score : form.Rounded(ScoreCode(score));
}

}  // namespace zsetd
