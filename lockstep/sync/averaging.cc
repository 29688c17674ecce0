#include "lockstep/sync/averaging.h"

#include "lockstep/server/mean_rule.h"

namespace lockstep {

AverageCost& AverageCost::operator+=(const AverageCost& other) {
  sent += other.sent;
  received += other.received;
  rounds += other.rounds;
  plain += other.plain;
  encoding += other.encoding;
  decoding += other.decoding;
  return *this;
}

AverageCost WholeAveraging::average(Group& group, std::span<float> values, Content content,
                                    const OnPart& on_part) {
  const double began = group.transport().now();
  AverageCost cost = run(group, values, content);
  cost.blocked = group.transport().now() - began;
  if (on_part) on_part({0, values.size()});
  return cost;
}

const AverageCost& AllReduceCosts::of(const AllReduce& algorithm, int members, int index,
                                      std::size_t n) {
  const auto [found, missing] = costs_.try_emplace({&algorithm, members, index, n});
  if (missing) {
    const Tally tally = algorithm.tally_of(members, n);
    const std::uint64_t own = tally.bytes_of(index);
    found->second = {own, own, static_cast<std::uint64_t>(tally.cost().steps), own};
  }
  return found->second;
}

AverageCost AllReduceAveraging::run(Group& group, std::span<float> values, Content) {
  algorithm_.run(group, values, ReduceOp::kMean);
  return cost(group, values.size());
}

AverageCost AllReduceAveraging::cost(Group& group, std::size_t n) const {
  return costs_.of(algorithm_, group.size(), group.index(), n);
}

AverageCost ServerAveraging::run(Group& group, std::span<float> values, Content content) {
  if (!fits(values.size())) return others_.average(group, values, content, {});
  if (!agreed_ || content == Content::kOther) {
    ask(group, values, Form::kPlain);
    return cost(group, values.size());
  }
  const ServerTraffic before = server_.traffic();
  if (content == Content::kChange) {
    ask(group, values, Form::kChange);
  } else {
    agreed_->take_off(group.ranks(), values);
    ask(group, values, content == Content::kModel ? Form::kModelChange : Form::kOwnModel);
    agreed_->add_and_agree(group.ranks(), values);
  }
  const ServerTraffic& now = server_.traffic();
  return {now.sent - before.sent,   now.received - before.received, 2,
          now.plain - before.plain, now.encoding - before.encoding, now.decoding - before.decoding};
}

void ServerAveraging::ask(Group& group, std::span<float> values, Form form) {
  // Groups that average at the same time lie apart or inside one another, so the first member and
  // the size tell them apart.
  server_.ask(
      {.kind = MeanRule::kAverage, .form = form, .clock = group.size(), .version = group.rank(0)},
      values, values);
}

AverageCost ServerAveraging::cost(Group& group, std::size_t n) const {
  if (!fits(n)) return others_.cost(group, n);
  const std::uint64_t bytes = n * sizeof(float);
  return {bytes, bytes, 2, bytes};
}

}  // namespace lockstep
