// On the world under test.
#include "lockstep/data/prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

constexpr Tag kTag = 40;

void fill(std::int64_t step, Batch& batch) {
  batch.step = step;
  batch.ids.assign(static_cast<std::size_t>(step % 3), static_cast<SampleId>(step));
}

// Runs `body` on every rank; no message may be left to whoever uses the tags next.
void run(const RankBody& body) {
  for (const int ranks : ranks_under_test({1, 2, 4})) {
    world_under_test()->run(ranks, [&](Transport& transport) {
      for (int again = 0; again < 3; ++again) body(transport);
    });
  }
}

TEST(Prefetcher, GivesEveryBatchInOrder) {
  run([](Transport& transport) {
    for (const std::int64_t count : {0, 1, 2, 3, 20}) {
      Prefetcher prefetcher(transport, kTag, 5, 5 + count, fill);
      for (std::int64_t step = 5; step < 5 + count; ++step) {
        const Batch& batch = prefetcher.next();
        EXPECT_EQ(batch.step, step);
        EXPECT_EQ(batch.size(), static_cast<std::size_t>(step % 3));
      }
      EXPECT_GE(prefetcher.waited(), 0);
    }
  });
}

TEST(Prefetcher, ABatchStaysUntilTheNextCall) {
  run([](Transport& transport) {
    Prefetcher prefetcher(transport, kTag, 0, 10, fill);
    for (std::int64_t step = 0; step < 10; ++step) {
      const Batch& batch = prefetcher.next();
      // Long enough for the companion to make whatever it may.
      for (int i = 0; i < 3; ++i) {
        Request send = transport.isend(transport.rank(), 7, {});
        Request receive = transport.irecv(transport.rank(), 7, {});
        transport.wait(receive);
        transport.wait(send);
      }
      EXPECT_EQ(batch.step, step);
    }
  });
}

TEST(Prefetcher, MayEndBeforeAllBatchesAreTaken) {
  run([](Transport& transport) {
    for (const int taken : {0, 1, 2, 3, 9}) {
      int made = 0;
      {
        Prefetcher prefetcher(transport, kTag, 0, 10, [&](std::int64_t step, Batch& batch) {
          fill(step, batch);
          ++made;
        });
        for (int i = 0; i < taken; ++i) EXPECT_EQ(prefetcher.next().step, i);
      }
      EXPECT_LE(made, std::max(taken + 1, 2));
    }
  });
}

TEST(Prefetcher, WhatFillThrowsComesOutOfNextAtItsStep) {
  run([](Transport& transport) {
    for (const int bad : {0, 1, 2, 5, 9}) {
      Prefetcher prefetcher(transport, kTag, 0, 10, [&](std::int64_t step, Batch& batch) {
        if (step == bad) throw DataError("sample {} is torn", step);
        fill(step, batch);
      });
      for (int i = 0; i < bad; ++i) EXPECT_EQ(prefetcher.next().step, i);
      try {
        prefetcher.next();
        ADD_FAILURE() << "no error at step " << bad;
      } catch (const DataError& error) {
        EXPECT_EQ(std::string(error.what()), fmt::format("sample {} is torn", bad));
      }
    }
  });
}

TEST(Prefetcher, AnErrorNobodyAskedForIsForgotten) {
  run([](Transport& transport) {
    Prefetcher prefetcher(transport, kTag, 0, 10,
                          [](std::int64_t, Batch&) { throw DataError("never seen"); });
  });
}

TEST(Prefetcher, ItsErrorEndsTheRunAsItIs) {
  std::string text;
  try {
    world_under_test()->run(2, [](Transport& transport) {
      Prefetcher prefetcher(transport, kTag, 0, 10, [&](std::int64_t step, Batch&) {
        if (transport.rank() == 1 && step == 3) throw DataError("the disk is full of sand");
      });
      for (int i = 0; i < 10; ++i) prefetcher.next();
      Request receive = transport.irecv(1 - transport.rank(), 7, {});
      transport.wait(receive);
    });
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_THAT(text, testing::HasSubstr("the disk is full of sand"));
}

TEST(Prefetcher, DoesNotKeepAFailingRankAlive) {
  std::string text;
  try {
    world_under_test()->run(2, [](Transport& transport) {
      Prefetcher prefetcher(transport, kTag, 0, 10, fill);
      prefetcher.next();
      if (transport.rank() == 0) throw ConfigError("the loss is not a number");
      Request receive = transport.irecv(0, 7, {});
      transport.wait(receive);
    });
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_THAT(text, testing::HasSubstr("the loss is not a number"));
}

}  // namespace
}  // namespace lockstep
