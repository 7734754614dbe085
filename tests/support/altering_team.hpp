// A team by which other messages arrive than were sent.
#pragma once
#include <functional>
#include <utility>

#include "sparse/core/team.hpp"

namespace krill::test {

/// A rank's end of another team. alter() gets the messages of each exchange once they have arrived.
class AlteringTeam final : public Team {
 public:
  using Alter = std::function<void(std::span<const Incoming>)>;
  AlteringTeam(Team& team, Alter alter) : team_(team), alter_(std::move(alter)) {}
  int rank() const override { return team_.rank(); }
  int size() const override { return team_.size(); }
  void gather(const void* mine, void* all, std::size_t bytes) override { team_.gather(mine, all, bytes); }
  void start(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    coming_.assign(in.begin(), in.end());
    team_.start(out, in);
  }
  void finish() override {
    team_.finish();
    alter_(coming_);
  }
  void give_up() noexcept override { team_.give_up(); }

 private:
  Team& team_;
  Alter alter_;
  std::vector<Incoming> coming_ = {};
};

}  // namespace krill::test
