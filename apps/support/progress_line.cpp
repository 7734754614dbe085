#include "apps/support/progress_line.hpp"

#include <fmt/format.h>

#include <cmath>

#include "apps/support/terminal.hpp"

namespace krill::apps {
namespace {

constexpr double live_interval = 0.1, line_interval = 5;  // seconds
constexpr std::size_t sights_kept = 32;                   // at most, so that the pace is that of the recent past

std::string duration(double seconds) {
  if (seconds < 1) return "< 1 s";
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 360'000 ? fmt::format("{:.1f} h", seconds / 3600) : "> 100 h";
}

}  // namespace

Pace pace(const std::deque<Sight>& sights) {
  if (sights.size() < 2) return {};
  const Sight &then = sights.front(), &now = sights.back();
  const int iterations = now.iteration - then.iteration;
  const double seconds = now.seconds - then.seconds;
  if (iterations <= 0 || !(seconds > 0)) return {};
  Pace p;
  p.iterations_second = iterations / seconds;
  if (!(then.relative > 0 && now.relative > 0)) return p;
  p.rate = std::pow(now.relative / then.relative, 1.0 / iterations);
  if (p.rate < 1 && now.target_relative > 0)
    p.seconds_left =
        std::max(0.0, std::log(now.target_relative / now.relative) / std::log(p.rate)) / p.iterations_second;
  return p;
}

std::string progress_text(const std::string& solver, const Sight& now, const Pace& pace, std::size_t width) {
  std::string text = fmt::format("{} iteration {}", solver, now.iteration);
  const auto append = [&](const std::string& part) {
    if (text.size() + part.size() <= width) text += part;
  };
  append(fmt::format(", residual {:.2e}", now.relative));
  append(fmt::format(" -> {:.0e}", now.target_relative));
  if (pace.rate > 0) append(fmt::format(", rate {:.3f}", pace.rate));
  if (pace.seconds_left >= 0) append(fmt::format(", {} left", duration(pace.seconds_left)));
  return text.substr(0, width);
}

ProgressLine::Style ProgressLine::style_of(std::FILE* out) { return is_live(out) ? Style::live : Style::lines; }

ProgressLine::ProgressLine(std::FILE* out, Style style, std::string solver)
    : out_(out), style_(style), solver_(std::move(solver)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Sight& sight) {
  if (style_ == Style::silent) return;
  const bool live = style_ == Style::live;
  if (sight.seconds - shown_at_ < (live ? live_interval : line_interval)) return;
  shown_at_ = sight.seconds;
  sights_.push_back(sight);
  if (sights_.size() > sights_kept) sights_.pop_front();
  if (live) {
    // One column stays free: a terminal that has filled its last column may already have begun the next line.
    std::fputs(("\r" + progress_text(solver_, sight, pace(sights_), columns(out_) - 1) + "\x1b[K").c_str(), out_);
    drawn_ = true;
  } else {
    std::fputs(("  " + progress_text(solver_, sight, pace(sights_), text_width - 2) + "\n").c_str(), out_);
  }
  std::fflush(out_);
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace krill::apps
