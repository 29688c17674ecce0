// Runs on described clusters, and the exchanges that the tests time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/transport/sim_world.h"

namespace lockstep {

inline void run_on(const std::string& toml, int ranks, const RankBody& body, double timeout = 60) {
  make_sim_world(parse_cluster(toml, "test.toml"), timeout)->run(ranks, body);
}

inline void send(Transport& transport, int to, Tag tag, std::size_t bytes) {
  const std::vector<std::byte> data(bytes, std::byte{7});
  Request request = transport.isend(to, tag, data);
  transport.wait(request);
}

inline int receive(Transport& transport, int from, Tag tag, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  Request request = transport.irecv(from, tag, data);
  transport.wait(request);
  return request.peer();
}

// Everybody with everybody within log2(ranks) rounds: after it, nobody has left before all came.
inline void meet(Transport& transport, Tag tag) {
  const int ranks = transport.size();
  std::byte mine{1}, theirs{0};
  for (int far = 1; far < ranks; far *= 2) {
    Request in = transport.irecv((transport.rank() - far % ranks + ranks) % ranks, tag,
                                 std::span(&theirs, 1));
    Request out = transport.isend((transport.rank() + far) % ranks, tag,
                                  std::span<const std::byte>(&mine, 1));
    transport.wait(in);
    transport.wait(out);
  }
}

// The textbook ring: share-reduce, then share-gather, one chunk a step.
inline void ring_all_reduce(Transport& transport, std::span<float> values) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const std::size_t count = values.size() / static_cast<std::size_t>(ranks);
  std::vector<float> incoming(count);
  const auto chunk = [&](int index) {
    const int wrapped = (index % ranks + ranks) % ranks;
    return values.subspan(static_cast<std::size_t>(wrapped) * count, count);
  };
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    const auto out = chunk(rank - step);
    const auto target = chunk(rank - step - 1);
    const bool reduce = step < ranks - 1;
    const auto in = reduce ? std::span(incoming) : target;
    Request receiving = transport.irecv((rank + ranks - 1) % ranks, 1, std::as_writable_bytes(in));
    Request sending = transport.isend((rank + 1) % ranks, 1, std::as_bytes(out));
    transport.wait(receiving);
    if (reduce) {
      for (std::size_t i = 0; i < count; ++i) target[i] += incoming[i];
    }
    transport.wait(sending);
  }
}

}  // namespace lockstep
