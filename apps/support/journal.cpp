#include "apps/support/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "sparse/core/error.hpp"

namespace krill::apps {

Journal::Journal(const std::string& path, bool fresh) : path_(path) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be opened", errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    close(descriptor_);
    if (reason != EWOULDBLOCK) fail("cannot be locked", reason);
    throw Error(fmt::format("{}: another krill is writing here; wait for it, or choose another --out", path));
  }
  if (fresh && ftruncate(descriptor_, 0) != 0) fail("cannot be emptied", errno);
  read();
}

Journal::~Journal() { close(descriptor_); }

const nlohmann::ordered_json* Journal::find(const std::string& key) const {
  const auto at = known_.find(key);
  return at == known_.end() ? nullptr : &at->second;
}

void Journal::append(const std::string& key, const nlohmann::ordered_json& outcome) {
  const nlohmann::ordered_json json{{"key", key}, {"outcome", outcome}};
  const std::string line = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    const int reason = errno;
    if (ftruncate(descriptor_, end) != 0) {
    }  // a torn line does no harm
    fail("cannot be written", reason);
  }
  if (fsync(descriptor_) != 0 && errno != EINVAL) fail("cannot be written", errno);
  known_[key] = outcome;
}

void Journal::read() {
  std::string text;
  std::array<char, 65536> bytes;
  for (ssize_t got = 1; got > 0;) {
    got = ::read(descriptor_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got < 0)
      fail("cannot be read", errno);
    else
      text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  std::size_t from = 0;
  for (std::size_t end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const auto json = nlohmann::ordered_json::parse(text.substr(from, end - from), nullptr, false);
    try {
      known_[json.at("key")] = json.at("outcome");
    } catch (const nlohmann::ordered_json::exception&) {
      continue;  // written by another version, or damaged
    }
  }
  if (from < text.size() && ftruncate(descriptor_, static_cast<off_t>(from)) != 0) fail("cannot be repaired", errno);
}

void Journal::fail(const char* what, int error_number) const {
  throw JournalError(fmt::format("{}: the journal {}: {}", path_, what, std::generic_category().message(error_number)));
}

}  // namespace krill::apps
