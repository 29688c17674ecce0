// What strategies have in common whose model lives on the parameter server: workers push, take what
// comes back, and now and then meet, which is when all of them hold the server's model.
#pragma once

#include "lockstep/sync/strategy.h"

namespace lockstep {

class ServedStrategy : public SyncStrategy {
 public:
  // The kinds of their messages: all rules answer a pull with their parameters.
  static constexpr std::uint32_t kPull = kFirstOwn;
  static constexpr std::uint32_t kFirstKind = kPull + 1;  // of the strategy's own

  void prepare(const SyncSetup& setup) override;
  bool consistent_now() const override { return met_; }
  const StalenessRecord* staleness() const override { return &staleness_; }
  void before_saving() override { account(); }  // also of what the server was told to rest
  void state(StateVisitor& visitor) override;

 protected:
  // Pushes the gradients and takes the new parameters. Returns the first shard's answer.
  ServerHeader push(SyncStep& step, ServerHeader header);
  // The two halves of it, for strategies between which something happens.
  ServerHeader hand_in(SyncStep& step, ServerHeader header);
  void take(const ServerHeader& header);
  // What they are made of: hands the shards values, takes theirs, and keeps account.
  std::span<const ServerHeader> exchange(const ServerHeader& header, std::span<const float> values,
                                         std::span<float> into);
  // Collective: waits for all workers, then takes the server's model.
  void meet();
  // The same for workers whose parameters are not the server's.
  void meet(std::span<float> model);
  void part() { met_ = false; }  // after the meeting, with the next step
  ServerClient& server() { return *server_; }
  int workers() const { return communicator_->size(); }
  int index() const { return communicator_->index(); }
  StalenessRecord& record() { return staleness_; }

 private:
  std::span<const ServerHeader> send_gradients(SyncStep& step, ServerHeader header,
                                               std::span<float> into);
  void take_up(std::span<const ServerHeader> answers);
  void wait_for_all();
  void account();

  Replica* replica_ = nullptr;
  Communicator* communicator_ = nullptr;
  ServerClient* server_ = nullptr;
  ServerTraffic accounted_;
  StalenessRecord staleness_;
  bool met_ = false;
};

}  // namespace lockstep
