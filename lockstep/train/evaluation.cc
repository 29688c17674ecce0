#include "lockstep/train/evaluation.h"

#include <algorithm>
#include <cstring>

#include "lockstep/collective/chunks.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

constexpr std::size_t kBatch = 128;  // fits the cache of one core better than larger ones

}  // namespace

void Tallies::add(const PassResult& result, std::size_t batch) {
  loss += result.loss * static_cast<double>(result.labels);
  labels += static_cast<double>(result.labels);
  correct += static_cast<double>(result.correct);
  samples += static_cast<double>(batch);
}

void Tallies::add(const Tallies& other) {
  loss += other.loss;
  labels += other.labels;
  correct += other.correct;
  samples += other.samples;
}

Tallies sum_over(Group& group, const Tallies& mine) {
  Tallies sum;
  for (const auto& bytes : all_gather_bytes(group, std::as_bytes(std::span(&mine, 1)))) {
    Tallies one;
    if (bytes.size() != sizeof one) throw CommError("a rank sent tallies of another size");
    std::memcpy(&one, bytes.data(), sizeof one);
    sum.add(one);
  }
  return sum;
}

Tallies evaluate(Group& group, Replica& replica, const Loader& loader,
                 std::span<const SampleId> samples) {
  const Range mine = chunk(samples.size(), group.size(), group.index());
  Tallies tallies;
  Batch batch;
  for (std::size_t at = mine.begin; at < mine.end(); at += kBatch) {
    loader.load_plain(samples.subspan(at, std::min(kBatch, mine.end() - at)), batch);
    tallies.add(replica.evaluate(batch), batch.size());
  }
  if (replica.keeps_time()) return sum_over(group, tallies);
  group.transport().charge(replica.modelled_seconds() / 3 * static_cast<double>(mine.size));
  return sum_over(group, tallies);
}

}  // namespace lockstep
