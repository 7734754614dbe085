#include "apps/support/interruption.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace {

// What the handler reads must be lock-free: it runs in the middle of anything.
std::atomic<const char*> last_words{nullptr};
std::atomic<bool> seen{false};
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP};
constexpr std::array ignored{SIGPIPE, SIGXFSZ};
std::array<struct sigaction, handled.size() + ignored.size()> earlier;

void on_signal(int) {
  const char* text = last_words;
  if (!text && !seen.exchange(true)) return;
  if (!text) text = "\nkrill: interrupted again and ended at once; outputs of this run may be missing\n";
  discard_unfinished_file();
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
  _exit(1);
}

}  // namespace

Interruption::Interruption(const char* farewell) {
  seen = false;
  last_words = farewell;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  auto* before = earlier.data();
  for (const int signal : handled) sigaction(signal, &action, before++);
  const struct sigaction& hangup = earlier[handled.size() - 1];
  if (hangup.sa_handler == SIG_IGN) sigaction(SIGHUP, &hangup, nullptr);  // nohup asked for that
  action.sa_handler = SIG_IGN;
  for (const int signal : ignored) sigaction(signal, &action, before++);
}

Interruption::~Interruption() {
  const auto* before = earlier.data();
  for (const int signal : handled) sigaction(signal, before++, nullptr);
  for (const int signal : ignored) sigaction(signal, before++, nullptr);
}

void Interruption::ends_at_once(const char* farewell) { last_words = farewell; }
void Interruption::is_awaited() { last_words = nullptr; }
bool Interruption::requested() const { return seen; }

}  // namespace krill::apps
