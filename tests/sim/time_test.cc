// How long things take on a described cluster.
#include <cmath>

#include "sim_helpers.h"

namespace lockstep {
namespace {

constexpr const char* kStar = "hosts = 8\nbandwidth = \"100MB/s\"\nlatency = \"100us\"\n";

// Seconds from rank `from` to rank `to`, both at 0.
double transfer_time(const std::string& toml, int ranks, int from, int to, std::size_t bytes) {
  double took = 0;
  run_on(toml, ranks, [&](Transport& transport) {
    if (transport.rank() == from) send(transport, to, 1, bytes);
    if (transport.rank() == to) {
      receive(transport, from, 1, bytes);
      took = transport.now();
    }
  });
  return took;
}

TEST(SimTime, AMessageTakesLatencyPlusBytesOverBandwidth) {
  for (std::size_t bytes : {0ul, 1ul, 1000ul, 1'000'000ul, 100'000'000ul}) {
    const double law = 100e-6 + static_cast<double>(bytes) / 100e6;
    EXPECT_NEAR(transfer_time(kStar, 8, 2, 5, bytes), law, 1e-6 * law + 2e-9) << bytes;
  }
}

TEST(SimTime, ZeroLatencyIsAllowed) {
  EXPECT_NEAR(transfer_time("bandwidth = 1e6\nlatency = 0", 2, 0, 1, 1000), 1e-3, 1e-8);
}

TEST(SimTime, DirectionsDoNotDisturbEachOther) {
  run_on(kStar, 2, [](Transport& transport) {
    const std::vector<std::byte> out(1'000'000);
    std::vector<std::byte> in(1'000'000);
    Request receiving = transport.irecv(1 - transport.rank(), 1, in);
    Request sending = transport.isend(1 - transport.rank(), 1, out);
    transport.wait(receiving);
    transport.wait(sending);
    EXPECT_NEAR(transport.now(), 100e-6 + 0.01, 1e-8);
  });
}

TEST(SimTime, TwoFlowsIntoOneHostShareItsLink) {
  run_on(kStar, 3, [](Transport& transport) {
    if (transport.rank() > 0) return send(transport, 0, 1, 1'000'000);
    std::vector<std::byte> first(1'000'000), second(1'000'000);
    Request one = transport.irecv(1, 1, first);
    Request two = transport.irecv(2, 1, second);
    transport.wait(one);
    EXPECT_NEAR(transport.now(), 100e-6 + 0.02, 1e-7);
    transport.wait(two);
    EXPECT_NEAR(transport.now(), 100e-6 + 0.02, 1e-7);
  });
}

TEST(SimTime, ABackboneIsSharedByAll) {
  const std::string shared = std::string(kStar) + "backbone = \"100MB/s\"\n";
  run_on(shared, 4, [](Transport& transport) {
    const int rank = transport.rank();
    if (rank < 2) {
      send(transport, rank + 2, 1, 1'000'000);
    } else {
      receive(transport, rank - 2, 1, 1'000'000);
      EXPECT_NEAR(transport.now(), 100e-6 + 0.02, 1e-7);
    }
  });
}

TEST(SimTime, ALateReceiverDelaysTheSender) {
  run_on(kStar, 2, [](Transport& transport) {
    if (transport.rank() == 0) {
      send(transport, 1, 1, 100'000);
    } else {
      transport.charge(2);
      receive(transport, 0, 1, 100'000);
    }
    EXPECT_NEAR(transport.now(), 2 + 100e-6 + 1e-3, 1e-8);
  });
}

TEST(SimTime, MessagesToTheSameHostAreFast) {
  const double self = transfer_time(kStar, 9, 0, 8, 1'000'000);  // rank 8 is on host 0, too
  EXPECT_NEAR(self, 1e-6 + 1e-4, 1e-8);
}

TEST(SimTime, TwoLevelIsFastInsideAndSlowBetween) {
  const std::string toml =
      "topology = \"two-level\"\nmachines = 2\nper_machine = 4\n"
      "inside_bandwidth = \"10GB/s\"\ninside_latency = \"2us\"\n"
      "between_bandwidth = \"125MB/s\"\nbetween_latency = \"50us\"\n";
  EXPECT_NEAR(transfer_time(toml, 8, 0, 3, 1'000'000), 2e-6 + 1e-4, 1e-8);
  EXPECT_NEAR(transfer_time(toml, 8, 0, 4, 1'000'000), 50e-6 + 8e-3, 1e-8);
  run_on(toml, 8, [](Transport& transport) {
    EXPECT_EQ(transport.host_of(3), 0);
    EXPECT_EQ(transport.host_of(4), 1);
    // Four flows leave one machine over its one link.
    const int rank = transport.rank();
    if (rank < 4) send(transport, rank + 4, 1, 1'000'000);
    if (rank >= 4) receive(transport, rank - 4, 1, 1'000'000);
    EXPECT_NEAR(transport.now(), 50e-6 + 4 * 8e-3, 1e-7);
  });
}

TEST(SimTime, TorusPaysLatencyAHop) {
  const std::string toml =
      "topology = \"torus\"\ndims = [4, 4]\nbandwidth = \"100MB/s\"\nlatency = \"10us\"\n";
  EXPECT_NEAR(transfer_time(toml, 16, 0, 1, 100'000), 10e-6 + 1e-3, 1e-8);
  EXPECT_NEAR(transfer_time(toml, 16, 0, 3, 100'000), 10e-6 + 1e-3, 1e-8);   // round the edge
  EXPECT_NEAR(transfer_time(toml, 16, 0, 10, 100'000), 40e-6 + 1e-3, 1e-8);  // two and two
  const std::string oblong =
      "topology = \"torus\"\ndims = [4, 2]\nbandwidth = \"100MB/s\"\nlatency = \"10us\"\n";
  EXPECT_NEAR(transfer_time(oblong, 8, 0, 3, 100'000), 10e-6 + 1e-3, 1e-8);  // first varies fastest
  EXPECT_NEAR(transfer_time(toml, 17, 0, 16, 100'000), 1e-6 + 1e-5, 1e-8);   // the same host
}

TEST(SimTime, FatTreePaysLatencyACable) {
  const std::string toml =
      "topology = \"fat-tree\"\ndown = [4, 4]\nup = [1, 2]\nbandwidth = \"100MB/s\"\n"
      "latency = \"10us\"\n";
  EXPECT_NEAR(transfer_time(toml, 16, 0, 3, 100'000), 20e-6 + 1e-3, 1e-8);
  EXPECT_NEAR(transfer_time(toml, 16, 0, 4, 100'000), 40e-6 + 1e-3, 1e-8);
}

TEST(SimTime, SlowHostsAndSpeedScaleComputation) {
  const std::string toml = "hosts = 4\nspeed = 2.0\n[[slow]]\nhost = 3\nfactor = 4.0\n";
  run_on(toml, 4, [](Transport& transport) {
    transport.charge(1);
    transport.charge(0);
    EXPECT_NEAR(transport.now(), transport.rank() == 3 ? 2 : 0.5, 1e-9);
  });
}

TEST(SimTime, StragglersComeAsOftenAsAskedAndTheSameEachTime) {
  const auto times = [](int seed) {
    std::vector<double> ends(4);
    run_on("[stragglers]\nprobability = 0.25\nfactor = 5\nseed = " + std::to_string(seed), 4,
           [&](Transport& transport) {
             for (int i = 0; i < 400; ++i) transport.charge(1);
             ends[static_cast<std::size_t>(transport.rank())] = transport.now();
           });
    return ends;
  };
  const auto first = times(1);
  EXPECT_EQ(first, times(1));
  EXPECT_NE(first, times(2));
  EXPECT_NE(first[0], first[1]);
  for (double end : first) EXPECT_NEAR(end, 400 * (1 + 0.25 * 4), 150);
}

TEST(SimTime, RingAllReduceKeepsItsLaw) {
  for (int ranks : {2, 3, 8, 16, 64}) {
    for (std::size_t count : {64ul * 3, 64ul * 3 * 5000}) {
      double end = 0;
      std::vector<float> result;
      run_on("bandwidth = \"1Gbit/s\"\nlatency = \"50us\"\n", ranks, [&](Transport& transport) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), static_cast<float>(transport.rank()));
        ring_all_reduce(transport, values);
        if (transport.rank() == ranks - 1) {
          end = transport.now();
          result = values;
        }
      });
      const double bytes = static_cast<double>(count * sizeof(float));
      const double law = 2 * (ranks - 1) * (50e-6 + bytes / (ranks * 125e6));
      EXPECT_NEAR(end, law, 0.05 * law) << ranks << " ranks, " << count << " floats";
      const float sum = static_cast<float>(ranks * (ranks - 1)) / 2;
      EXPECT_FLOAT_EQ(result[5], 5 * static_cast<float>(ranks) + sum);
    }
  }
}

}  // namespace
}  // namespace lockstep
