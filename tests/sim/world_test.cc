// What the sim world promises beyond the laws of every world.
#include <exception>
#include <stdexcept>

#include "sim_helpers.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

template <typename Error>
std::string error_of(int ranks, const RankBody& body, double timeout = 60) {
  try {
    run_on("", ranks, body, timeout);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SimWorld, ManyRanksMeet) {
  for (int ranks : {256, 1024}) {
    int met = 0;
    run_on("", ranks, [&](Transport& transport) {
      transport.charge(transport.rank() == 7 ? 1 : 0);
      meet(transport, 1);
      EXPECT_GE(transport.now(), 1);
      ++met;
    });
    EXPECT_EQ(met, ranks);
  }
}

TEST(SimWorld, EachOfManyRunsStartsAtZeroAndGivesTheSameTimes) {
  std::vector<double> first;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> ends(5);
    run_on("hosts = 5\nlatency = \"33us\"", 5, [&](Transport& transport) {
      EXPECT_EQ(transport.now(), 0);
      transport.charge(0.1 * (1 + transport.rank()));
      meet(transport, 1);
      std::vector<float> values(1000, 1.0f);
      ring_all_reduce(transport, values);
      ends[static_cast<std::size_t>(transport.rank())] = transport.now();
    });
    if (round == 0) first = ends;
    EXPECT_EQ(ends, first);  // to the last bit
    run_on("", 1 + round % 4, [](Transport& transport) { meet(transport, 1); });
  }
}

TEST(SimWorld, AnybodysMessagesComeInTheSameOrderEachTime) {
  const auto order = [] {
    std::vector<int> seen;
    run_on("[stragglers]\nprobability = 0.3\nfactor = 3\n", 9, [&](Transport& transport) {
      if (transport.rank() == 0) {
        for (int i = 0; i < 8 * 20; ++i) seen.push_back(receive(transport, kAnyRank, 1, 1000));
      } else {
        for (int i = 0; i < 20; ++i) {
          transport.charge(1e-3);
          send(transport, 0, 1, 1000);
        }
      }
    });
    return seen;
  };
  const auto first = order();
  EXPECT_EQ(first.size(), 160u);
  EXPECT_EQ(order(), first);
  EXPECT_EQ(order(), first);
}

TEST(SimWorld, FirstComeFirstServed) {
  run_on("", 3, [](Transport& transport) {
    if (transport.rank() == 0) {
      transport.charge(5);
      EXPECT_EQ(receive(transport, kAnyRank, 1, 8), 2);
      EXPECT_EQ(receive(transport, kAnyRank, 1, 8), 1);
    } else {
      transport.charge(3 - transport.rank());
      send(transport, 0, 1, 8);
    }
  });
}

TEST(SimWorld, LookingNeverBlocksButTimePasses) {
  run_on("", 2, [](Transport& transport) {
    if (transport.rank() == 1) {
      transport.charge(0.01);
      return send(transport, 0, 1, 8);
    }
    std::vector<std::byte> data(8);
    Request request = transport.irecv(1, 1, data);
    EXPECT_FALSE(transport.test(request));
    EXPECT_LT(transport.now(), 1e-5);
    while (!transport.test(request)) {
    }
    EXPECT_EQ(data[3], std::byte{7});
    EXPECT_TRUE(transport.test(request));
    EXPECT_NEAR(transport.now(), 0.01 + 50e-6, 1e-5);
  });
}

TEST(SimWorld, AWithdrawnMessageIsGone) {
  run_on("", 2, [](Transport& transport) {
    std::vector<std::byte> data(8);
    if (transport.rank() == 0) {
      { Request dropped = transport.irecv(1, 1, data); }
      meet(transport, 2);
      std::vector<std::byte> kept(8);
      Request request = transport.irecv(1, 1, kept);
      transport.wait(request);
      EXPECT_EQ(data[0], std::byte{0});
      EXPECT_EQ(kept[0], std::byte{7});
    } else {
      { Request dropped = transport.isend(0, 3, data); }
      meet(transport, 2);
      send(transport, 0, 1, 8);
    }
  });
}

TEST(SimWorld, CompanionsRunBesideTheirRank) {
  int served = 0;
  run_on("", 4, [&](Transport& transport) {
    Task server;
    if (transport.rank() == 0) {
      server = transport.spawn([&](Transport& mine) {
        EXPECT_EQ(mine.rank(), 0);
        for (int i = 0; i < 4; ++i) {
          const int from = receive(mine, kAnyRank, 5, 100);
          mine.charge(1);
          send(mine, from, 6, 100);
          ++served;
        }
      });
    }
    send(transport, 0, 5, 100);
    receive(transport, 0, 6, 100);
    if (server) {
      server->join();
      EXPECT_EQ(served, 4);
      EXPECT_GT(transport.now(), 4);
    }
  });
  EXPECT_EQ(served, 4);
}

TEST(SimWorld, ADeadlockEndsWithAReportOnEveryRank) {
  int told = 0;
  const auto body = [&](Transport& transport) {
    const Operation operation(transport, "all-reduce ring");
    transport.step("share-reduce", 1, 6);
    if (transport.rank() == 1) return;
    try {
      receive(transport, (transport.rank() + 1) % 4, 9, 8);
    } catch (const CommError& error) {
      EXPECT_THAT(error.what(), HasSubstr("waited 5.0 s for rank"));
      EXPECT_NEAR(transport.now(), 5, 1e-6);
      ++told;
      throw;
    }
  };
  const std::string text = error_of<CommError>(4, body, 5);
  EXPECT_EQ(told, 3);
  EXPECT_THAT(text, HasSubstr("(receive) in all-reduce ring, share-reduce step 2 of 6"));
  EXPECT_THAT(text, HasSubstr("the limit is timeout = 5 s"));
  EXPECT_THAT(text, HasSubstr("rank 1: finished"));
  run_on("", 4, [](Transport& transport) { meet(transport, 1); });
}

TEST(SimWorld, AnotherRanksErrorWakesEverybody) {
  int told = 0;
  const std::string text = error_of<CommError>(4, [&](Transport& transport) {
    if (transport.rank() == 2) {
      transport.charge(1);
      throw std::runtime_error("out of luck");
    }
    try {
      receive(transport, 2, 1, 8);
    } catch (const CommError&) {
      EXPECT_NEAR(transport.now(), 1, 1e-6);
      ++told;
      EXPECT_THROW(transport.charge(1), CommError);
      throw;
    }
  });
  EXPECT_EQ(told, 3);
  EXPECT_THAT(text, HasSubstr("rank 2 failed: out of luck"));
  EXPECT_THAT(text, HasSubstr("ranks 0-1, 3: waiting 1.0 s for rank 2 (receive)"));
  EXPECT_THAT(text, HasSubstr("rank 2: died: out of luck"));
  run_on("", 4, [](Transport& transport) { meet(transport, 1); });
}

// All actors share a thread, and C++ keeps one stack of caught exceptions a thread.
TEST(SimWorld, ExceptionsStayWithTheirRank) {
  struct Talker {
    Transport& transport;
    ~Talker() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      meet(transport, 1);
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  run_on("", 5, [](Transport& transport) {
    for (int i = 0; i < 10; ++i) {
      const std::string mine = fmt::format("rank {} round {}", transport.rank(), i);
      try {
        const Talker talker{transport};
        throw std::runtime_error(mine);
      } catch (const std::exception&) {
        transport.charge(0.1 * transport.rank());
        meet(transport, 1);
        try {
          throw;
        } catch (const std::exception& again) {
          meet(transport, 1);
          EXPECT_EQ(again.what(), mine);
        }
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      EXPECT_EQ(std::current_exception(), nullptr);
    }
  });
}

TEST(SimWorld, LongTimesAreNoTrouble) {
  for (double start : {1e6, 1e9, 1e12}) {
    run_on("", 4, [&](Transport& transport) {
      transport.charge(start);
      for (int i = 0; i < 100; ++i) meet(transport, 1);
      EXPECT_NEAR(transport.now(), start + 200 * 50e-6, 1e-3 * start * 1e-3);
    });
  }
  const auto deadlock = [](Transport& transport) { receive(transport, 0, 1, 8); };
  EXPECT_THAT(error_of<CommError>(2, deadlock, 1e300), HasSubstr("waited"));
}

TEST(SimWorld, ErrorsOfTheUserComeAsTheyAre) {
  const auto config = [](Transport& transport) {
    if (transport.rank() == 0) throw ConfigError("no such thing");
    meet(transport, 1);
  };
  EXPECT_EQ(error_of<ConfigError>(3, config), "no such thing");
  const auto data = [](Transport& transport) {
    if (transport.rank() == 2) throw DataError("torn file");
    meet(transport, 1);
  };
  EXPECT_EQ(error_of<DataError>(3, data), "torn file");
  EXPECT_THAT(error_of<CommError>(2, [](Transport&) { throw 5; }), HasSubstr("unknown exception"));
}

TEST(SimWorld, AFailingCompanionEndsTheRun) {
  const std::string text = error_of<CommError>(3, [](Transport& transport) {
    Task task = transport.spawn([](Transport& mine) {
      mine.charge(0.5);
      if (mine.rank() == 1) throw std::runtime_error("shard lost");
      receive(mine, 1, 1, 8);
    });
    receive(transport, (transport.rank() + 1) % 3, 2, 8);  // unwinds through the joining Task
  });
  EXPECT_THAT(text, HasSubstr("shard lost"));
}

TEST(SimWorld, ALongMessageNamesRanksAndSizes) {
  const std::string text = error_of<CommError>(2, [](Transport& transport) {
    if (transport.rank() == 0) send(transport, 1, 4, 100);
    if (transport.rank() == 1) receive(transport, 0, 4, 60);
  });
  EXPECT_THAT(text,
              HasSubstr("rank 1 got 100 bytes from rank 0 under tag 4, but its buffer holds 60"));
}

TEST(SimWorld, RoomForRanksIsChecked) {
  auto world = make_sim_world(parse_cluster("hosts = 2\nranks_per_host = 3", "test.toml"));
  EXPECT_EQ(world->most_ranks(), 6);
  EXPECT_THROW(world->run(7, [](Transport&) {}), ConfigError);
  EXPECT_THROW(world->run(0, [](Transport&) {}), ConfigError);
  world->run(6, [](Transport& transport) {
    EXPECT_EQ(transport.host_of(2), 0);
    EXPECT_EQ(transport.host_of(3), 1);
  });
  EXPECT_TRUE(world->simulated());
  EXPECT_EQ(world->describe(6), "6 simulated ranks on a star of 2 hosts, 125 MB/s, 50.0 us");
}

TEST(SimWorld, RegistryMakesItFromAFile) {
  auto& registry = Registry<World>::instance();
  Options options = registry.options("sim");
  options.set("cluster_file", "/nowhere/rack.toml");
  EXPECT_THROW(registry.make("sim", options), ConfigError);
  registry.make("sim")->run(3, [](Transport& transport) { meet(transport, 1); });
}

}  // namespace
}  // namespace lockstep
