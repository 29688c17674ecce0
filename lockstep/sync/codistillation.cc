// Codistillation (Anil et al. 2018): n groups of workers train a model each, synchronously inside
// the group and on the group's own data. Every `period` steps a group gets copies of other groups'
// models, its teachers: all others, or on a ring the next group's. From the burn-in step on, the
// loss of a batch gains
//
//   weight · ψ,   ψ = −Σ_c q̄_c log p_c,   q̄ = mean over the teachers of softmax(z_teacher / T)
//
// where p = softmax(z) is the student's own prediction, not softened: there is no T² as in Hinton
// et al. (2015), where both sides are. With T = 1, the default, the two are the same.
//
// Groups exchange after the step before the burn-in's and after every `period` steps from there, so
// teachers are 0 to period − 1 steps old when they are asked. All groups start from one model: with
// a burn-in of 0 it is the first teacher.
//
// The groups' models agree ever more in what they predict, but never become one, and their average
// would mean nothing. The run shows and leaves that of the first group.
#include <cmath>

#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/sync/teachers.h"

namespace lockstep {
namespace {

struct CodistillationOptions {
  int groups = 2;
  std::int64_t period = 1;
  double burn_in = 0;  // below 1: a share of training
  bool ring = false;
  double weight = 1;
  double temperature = 1;
};

class Codistillation : public SyncStrategy {
 public:
  explicit Codistillation(CodistillationOptions options) : options_(options) {}

  SyncTraits traits() const override { return {.gradients = true, .apart = true}; }

  int households(int workers) const override {
    if (workers % options_.groups != 0) {
      throw ConfigError(
          "[sync] groups = {} does not divide {} worker{} into equal groups; change groups or "
          "[cluster] workers",
          options_.groups, workers, workers == 1 ? "" : "s");
    }
    return options_.groups;
  }

  void prepare(const SyncSetup& setup) override {
    communicator_ = &setup.communicator;
    const int workers = setup.communicator.size(), groups = households(workers);
    const int size = workers / groups, me = setup.communicator.index(), group = me / size;
    for (int i = 0; i < size; ++i) members_.push_back(group * size + i);
    for (int i = 0; i < groups; ++i) counterparts_.push_back(i * size + me % size);
    if (groups == 1 || options_.weight == 0) return;  // nobody is taught
    for (int away = 1; away < (options_.ring ? 2 : groups); ++away) {
      from_.push_back((group + away) % groups);
      to_.push_back((group + groups - away) % groups);
    }
    const double burn_in = options_.burn_in;
    first_taught_ = std::llround(burn_in < 1 ? burn_in * double(setup.steps) : burn_in);
    setup.replica.predict({}, {});  // those that cannot say so now, not at the end of the burn-in
    teachers_.start(setup.replica, static_cast<int>(from_.size()));
  }

  void before(const SyncStep& step, Batch& batch) override {
    if (teachers_.size() == 0 || step.index < first_taught_) return;
    teachers_.predict(step.replica, options_.temperature, batch);
    batch.soft.weight = static_cast<float>(options_.weight);
    // A teacher only goes forward, a third of what forward and backward take.
    const double passes = static_cast<double>(batch.size()) * teachers_.size();
    step.communicator.group().transport().charge(step.replica.modelled_seconds() / 3 * passes);
  }

  Communicator* gradient_members(std::int64_t) override { return &communicator_->part(members_); }
  void step(SyncStep& step) override {
    average_and_step(step, group_of(step));
    const std::int64_t taught = step.index + 1 - first_taught_;  // steps, when the next one begins
    if (teachers_.size() > 0 && taught >= 0 && taught % options_.period == 0) exchange(step);
    met_ = step.meeting;
  }

  void finish(SyncStep& last) override { take_from_first(last, last.replica.params()); }
  bool consistent_now() const override { return met_; }
  void show_model(SyncStep& step) override {
    const auto statistics = step.replica.buffers();
    if (!statistics.empty()) group_of(step).average(statistics);
    take_from_first(step, step.replica.params());
    take_from_first(step, statistics);
  }
  void state(StateVisitor& visitor) override { teachers_.state(visitor); }

 private:
  Communicator& group_of(SyncStep& step) const { return step.communicator.part(members_); }

  // Counterparts, the workers with the same place in their groups, exchange, so that all links are
  // used and nobody passes anything on. Running statistics are each worker's own: they are averaged
  // first, that all members of a group may have the same teachers.
  void exchange(SyncStep& step) {
    AlignedVector<float> own = model_of(step.replica);
    const auto statistics = std::span(own).subspan(step.replica.params().size());
    if (!statistics.empty()) group_of(step).average(statistics);
    Group& counterparts = step.communicator.group().part(counterparts_);
    talk(step.communicator, counterparts, [&](Traffic& account) {
      Outgoing under_way;
      for (const int group : to_) under_way.join(counterparts.send(group, own));
      for (std::size_t i = 0; i < from_.size(); ++i) {
        counterparts.receive(from_[i], teachers_.model(static_cast<int>(i)));
      }
      under_way.wait();
      account.sent += to_.size() * own.size() * sizeof(float);
      account.received += from_.size() * own.size() * sizeof(float);
      account.rounds += 1;
    });
  }

  // What the first worker has, whose group is the first.
  void take_from_first(SyncStep& step, std::span<float> values) const {
    if (options_.groups == 1 || values.empty()) return;
    Group& everyone = step.communicator.group();
    talk(step.communicator, everyone, [&](Traffic& account) {
      broadcast(everyone, values, 0);
      account.sent +=
          binomial_children(everyone.index(), everyone.size()).size() * values.size_bytes();
      account.received += everyone.index() == 0 ? 0 : values.size_bytes();
      account.rounds += static_cast<std::uint64_t>(tree_levels(everyone.size()));
    });
  }

  // Waits until all are there, so that waiting can be told from communicating.
  template <typename Action>
  static void talk(Communicator& communicator, Group& group, const Action& action) {
    Traffic& account = communicator.account();
    const double began = group.transport().now();
    barrier(group);
    const double met = group.transport().now();
    action(account);
    account.waiting += met - began;
    account.communicating += group.transport().now() - met;
  }

  CodistillationOptions options_;
  Communicator* communicator_ = nullptr;
  std::vector<int> members_;       // of this worker's group
  std::vector<int> counterparts_;  // in all groups, itself included
  std::vector<int> from_, to_;     // the groups that teach this one, and that it teaches
  std::int64_t first_taught_ = 0;  // the burn-in step
  Teachers teachers_;
  bool met_ = false;
};

OptionSet codistillation_options() {
  OptionSet options;
  options.integer("groups", 2, "how many groups of equal size train a model each")
      .at_least(1)
      .at_most(1e6);
  options.integer("period", 50, "steps after which groups exchange their models").at_least(1);
  options
      .real("burn_in", 0.2,
            "when teachers begin to count: below 1 a share of training, else a number of steps")
      .at_least(0);
  options.text("topology", "all", "a group's teachers: all other groups, or the next one on a ring")
      .one_of({"all", "ring"});
  options.real("weight", 1, "of what the teachers say in the loss; 0: groups train alone")
      .at_least(0);
  options.real("temperature", 1, "T, softens the teachers' predictions, softmax(z/T)").above(0);
  return options;
}

const Registration<SyncStrategy> kCodistillation{
    "codistillation", "Groups train a model each, and learn from what the others' predict.",
    codistillation_options(), [](const Options& options) {
      return std::make_unique<Codistillation>(CodistillationOptions{
          static_cast<int>(options.integer("groups")), options.integer("period"),
          options.real("burn_in"), options.text("topology") == "ring", options.real("weight"),
          options.real("temperature")});
    }};

}  // namespace
}  // namespace lockstep
