// Laws of checkpoints, on the world under test and several numbers of ranks. Only rank 0 touches
// the disk, so only the process that leads finds files.
#include "lockstep/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/train/checkpoint_folder.h"
#include "tests/train/run_folder.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const std::vector<int> kRanks{1, 2, 3, 4, 7};

// Weights that all ranks share, and what each has for itself, of a length of its own.
struct Worker {
  explicit Worker(int rank, float weight = 1.5f, std::size_t n = 1000)
      : weights(n, weight), residual(10, static_cast<float>(rank)) {
    drawn = 100 + rank;
    blob.assign(static_cast<std::size_t>(rank) * 3, std::byte{7});
    if (rank == 1) extra.emplace_back(0.5);
  }
  void state(StateVisitor& visitor) {
    visitor.floats("weights", weights);
    visitor.floats("residual", residual);
    visitor.integer("step", step);
    visitor.integer("drawn", drawn);
    visitor.bytes("blob", blob);
    for (double& value : extra) visitor.real("extra", value);  // only rank 1 has it
  }
  ShowState show() {
    return [this](StateVisitor& visitor) { state(visitor); };
  }
  bool operator==(const Worker&) const = default;

  std::vector<float> weights, residual;
  std::int64_t step = 42, drawn;
  std::vector<std::byte> blob;
  std::vector<double> extra;
};

// Another worker of the same shape.
Worker blank(int rank) {
  Worker worker(rank, 0.0f);
  worker.residual.assign(10, -1.0f);
  worker.step = worker.drawn = 0;
  worker.blob.clear();
  for (double& value : worker.extra) value = 0;
  return worker;
}

class CheckpointTest : public FolderTest {
 protected:
  void save(int ranks, std::int64_t step, int keep = 3, float weight = 1.5f) {
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      Worker worker(group.index(), weight);
      save_checkpoint(group, folder(), {step, 0.5, 0, "[train]\n"}, worker.show(), keep);
    });
  }
  void load(int ranks) {
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      load_checkpoint(group, folder());
    });
  }
  std::string folder() const { return path("checkpoint"); }
  void expect_steps(const std::vector<std::int64_t>& expected) const {
    std::vector<std::int64_t> steps;
    for (const auto& stored : stored_checkpoints(folder())) steps.push_back(stored.step);
    if (leads()) {
      EXPECT_EQ(steps, expected);
    }
  }
  bool leads() const { return world_->leads(); }

  std::unique_ptr<World> world_ = world_under_test();
};

void flip(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 0x20));
}

TEST_F(CheckpointTest, LoadingGivesEveryRankWhatItSaved) {
  for (const int ranks : ranks_under_test(kRanks)) {
    save(ranks, ranks);
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      Worker worker = blank(group.index());
      const auto loaded = load_checkpoint(group, folder());
      ASSERT_TRUE(loaded.has_value());
      EXPECT_THAT(loaded->restore(worker.show()), IsEmpty());
      EXPECT_EQ(worker, Worker(group.index()));
      EXPECT_EQ(loaded->meta().step, ranks);
      EXPECT_EQ(loaded->meta().epoch, 0.5);
      EXPECT_EQ(loaded->meta().workers, ranks);
      EXPECT_EQ(loaded->meta().config, "[train]\n");
      EXPECT_THAT(loaded->passed_over(), IsEmpty());
      EXPECT_EQ(loaded->change(), "");
    });
  }
}

TEST_F(CheckpointTest, WhatIsEqualEverywhereIsStoredOnce) {
  const std::size_t n = 100'000;
  for (const int ranks : ranks_under_test({2, 4})) {
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      Worker worker(group.index(), 2.5f, n);
      save_checkpoint(group, folder(), {1, 0, 0, ""}, worker.show(), 1);
    });
    if (!leads()) continue;
    const auto size = std::filesystem::file_size(checkpoint_path(folder(), 1));
    EXPECT_GE(size, n * sizeof(float));
    EXPECT_LE(size, n * sizeof(float) + 10'000);
  }
}

TEST_F(CheckpointTest, TheSameStateGivesTheSameBytes) {
  for (const int ranks : ranks_under_test({1, 3, 4})) {
    std::vector<std::byte> files[2];
    for (auto& file : files) {
      save(ranks, 1);
      if (leads()) file = read_file(checkpoint_path(folder(), 1), 1'000'000);
    }
    EXPECT_EQ(files[0], files[1]);
  }
}

TEST_F(CheckpointTest, TheNewestStay) {
  for (int step = 1; step <= 5; ++step) save(1, step * 10, 2);
  expect_steps({50, 40});
  save(1, 60, 1);
  expect_steps({60});
}

TEST_F(CheckpointTest, WhatAKilledWriterLeftIsRemovedAndNeverLoaded) {
  save(1, 10);
  if (leads()) std::ofstream(folder() + "/step-00000020.ckpt.partial-1-1") << "LOCKSTEP";
  expect_steps({10});
  save(1, 30);
  if (leads()) {
    EXPECT_FALSE(std::filesystem::exists(folder() + "/step-00000020.ckpt.partial-1-1"));
  }
}

TEST_F(CheckpointTest, ADamagedOneIsNamedAndTheOneBeforeItUsed) {
  for (const int ranks : ranks_under_test({1, 2, 4})) {
    save(ranks, 10, 9, 1.0f);
    save(ranks, 20, 9, 2.0f);
    save(ranks, 30, 9, 3.0f);
    if (leads()) {
      flip(checkpoint_path(folder(), 30), 500);
      std::filesystem::resize_file(checkpoint_path(folder(), 20), 100);
    }
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      Worker worker = blank(group.index());
      const auto loaded = load_checkpoint(group, folder());
      ASSERT_TRUE(loaded.has_value());
      loaded->restore(worker.show());
      EXPECT_EQ(worker, Worker(group.index(), 1.0f));
      EXPECT_EQ(loaded->meta().step, 10);
      EXPECT_THAT(loaded->passed_over(),
                  ElementsAre(AllOf(HasSubstr("step-00000030.ckpt"), HasSubstr("checksum")),
                              HasSubstr("step-00000020.ckpt")));
    });
    // The run goes on from there: what it saves must not give way to the damaged ones.
    save(ranks, 15, 1);
    expect_steps({15});
  }
}

// A rank that fails ends its process on mpi, so what is refused is tested on threads.
TEST_F(CheckpointTest, OnlyDamagedOnesAreAnError) {
  world_ = Registry<World>::instance().make("threads");
  save(2, 10);
  save(2, 20);
  for (const int step : {10, 20}) flip(checkpoint_path(folder(), step), 40);
  EXPECT_THAT([&] { load(2); }, ThrowsMessage<DataError>(AllOf(HasSubstr("step-00000010.ckpt"),
                                                               HasSubstr("step-00000020.ckpt"))));
}

TEST_F(CheckpointTest, RefusesAnotherNumberOfWorkersUnlessAllowed) {
  world_ = Registry<World>::instance().make("threads");
  save(2, 1);
  EXPECT_THAT([&] { load(3); }, ThrowsMessage<ConfigError>(HasSubstr("of 2 ranks")));
}

TEST_F(CheckpointTest, ADiskThatRefusesIsNamed) {
  world_ = Registry<World>::instance().make("threads");
  std::ofstream(folder()) << "a file where the folder should be";
  EXPECT_THAT([&] { save(2, 1); }, ThrowsMessage<DataError>(HasSubstr(folder())));
}

TEST_F(CheckpointTest, AFolderWithoutAnyGivesNothing) {
  for (const int ranks : ranks_under_test({1, 2})) {
    world_->run(ranks, [&](Transport& transport) {
      Group group(transport);
      EXPECT_FALSE(load_checkpoint(group, folder()).has_value());
    });
  }
}

TEST_F(CheckpointTest, WithAnotherNumberOfWorkersRanksTakeTurns) {
  // The values of rank 1 that others lack would be missing there: all have the same names here.
  const auto worker_of = [](int rank) {
    Worker worker(rank);
    worker.extra.clear();
    return worker;
  };
  for (const int old : ranks_under_test({1, 2, 4})) {
    for (const int now : ranks_under_test({1, 2, 3, 4})) {
      world_->run(old, [&](Transport& transport) {
        Group group(transport);
        Worker worker = worker_of(group.index());
        save_checkpoint(group, folder(), {5, 0, 0, ""}, worker.show(), 1);
      });
      world_->run(now, [&](Transport& transport) {
        Group group(transport);
        Worker worker = blank(0);
        const auto loaded = load_checkpoint(group, folder(), OtherWorkers::kAllow);
        ASSERT_TRUE(loaded.has_value());
        loaded->restore(worker.show());
        EXPECT_EQ(worker, worker_of(group.index() % old));
        EXPECT_EQ(loaded->meta().workers, old);
        EXPECT_EQ(loaded->change().empty(), old == now);
      });
    }
  }
}

TEST_F(CheckpointTest, SaysWhatAnotherNumberOfWorkersMeans) {
  const auto change = [&](int old, int now) {
    save(old, 1);
    std::string text;
    world_->run(now, [&](Transport& transport) {
      Group group(transport);
      const auto loaded = load_checkpoint(group, folder(), OtherWorkers::kAllow);
      if (transport.rank() == 0) text = loaded->change();
    });
    return text;
  };
  for (const int most : ranks_under_test({2})) {
    const std::string grown = change(1, most), shrunk = change(most, 1);
    if (!leads()) continue;
    EXPECT_EQ(grown,
              "saved with 1 worker, resumed with 2: worker 1 begins with the state of worker 0");
    EXPECT_EQ(shrunk,
              "saved with 2 workers, resumed with 1: what worker 1 had of its own is dropped");
  }
  for (const int most : ranks_under_test({4})) {
    const std::string grown = change(2, most), shrunk = change(most, 2);
    if (!leads()) continue;
    EXPECT_EQ(
        grown,
        "saved with 2 workers, resumed with 4: workers 2 to 3 begin with the state of workers "
        "0 to 1");
    EXPECT_EQ(
        shrunk,
        "saved with 4 workers, resumed with 2: what workers 2 to 3 had of their own is dropped");
  }
}

TEST_F(CheckpointTest, AnotherModelIsRefusedByName) {
  save(1, 1);
  world_->run(1, [&](Transport& transport) {
    Group group(transport);
    const auto loaded = load_checkpoint(group, folder());
    Worker larger(0, 0.0f, 1001);
    EXPECT_THAT([&] { loaded->restore(larger.show()); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("step-00000001.ckpt"),
                                               HasSubstr("\"weights\" has 1000 values"))));
    std::int64_t step = 0;
    EXPECT_THAT(loaded->restore([&](StateVisitor& v) { v.integer("step", step); }),
                ElementsAre("weights", "residual", "drawn", "blob"));
    EXPECT_EQ(step, 42);
  });
}

}  // namespace
}  // namespace lockstep
