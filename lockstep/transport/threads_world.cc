// Ranks as threads of this process: the default world. Needs nothing installed, shares memory, and
// is as fast as processes while using far less memory.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "lockstep/transport/thread_budget.h"
#include "lockstep/transport/threads_transport.h"
#include "lockstep/transport/world.h"

namespace lockstep {
namespace {

constexpr int kMostThreads = 4096;
constexpr double kGrace = 10;  // seconds a rank may compute on after another one has failed

class ThreadsWorld : public World {
 public:
  explicit ThreadsWorld(const Options& options) : timeout_(options.real("timeout")) {}

  int most_ranks() const override { return kMostThreads; }

  std::string describe(int ranks) const override {
    return fmt::format("{} thread{} on {} core{}, {} compute thread{} each", ranks,
                       ranks == 1 ? "" : "s", usable_cores(), usable_cores() == 1 ? "" : "s",
                       thread_budget(ranks), thread_budget(ranks) == 1 ? "" : "s");
  }

  void run(int ranks, const RankBody& body) override {
    check_ranks(ranks, kMostThreads, "the threads world runs");
    ThreadsRun run(ranks, Patience::usual(ranks, usable_cores(), timeout_));
    std::mutex mutex;
    std::condition_variable ended;
    int running = ranks;
    std::vector<std::thread> threads;
    const auto rank_body = [&](int rank) {
      apply_thread_budget(thread_budget(ranks));
      try {
        ThreadsTransport transport(run, rank, 0);
        body(transport);
        run.board.line(rank).finish();
      } catch (...) {
        run.record(rank, 0, std::current_exception());
      }
      const std::lock_guard lock(mutex);
      if (--running == 0 || run.board.failed()) ended.notify_all();
    };
    for (int rank = 0; rank < ranks; ++rank) {
      try {
        threads.emplace_back(rank_body, rank);
      } catch (const std::system_error& e) {
        const std::lock_guard lock(mutex);
        running -= ranks - rank;
        run.board.fail(fmt::format("cannot start thread {} of {}: {}", rank + 1, ranks, e.what()));
        break;
      }
    }
    {
      std::unique_lock lock(mutex);
      // A companion's failure notifies nobody: look now and then.
      while (!ended.wait_for(lock, std::chrono::milliseconds(100),
                             [&] { return running == 0 || run.board.failed(); })) {
      }
      // After a failure whoever waits gives up at once. A rank that computes for ever cannot be
      // stopped but with the process.
      if (!ended.wait_for(lock, std::chrono::duration<double>(kGrace),
                          [&] { return running == 0; })) {
        std::cerr << fmt::format(
            "lockstep: {}\n{} of {} ranks did not stop within {} s; giving up.\n",
            run.board.reason(), running, ranks, kGrace);
        std::_Exit(run.exit_code());
      }
    }
    for (auto& thread : threads) thread.join();
    rethrow(run);
  }

 private:
  static void rethrow(ThreadsRun& run) {
    if (!run.board.failed()) return;
    if (!run.first_error) throw CommError("{}", run.board.reason());
    try {
      std::rethrow_exception(run.first_error);
    } catch (const CommError&) {
      throw CommError("{}", run.first_reason);
    } catch (const Error&) {  // the user's own mistake needs no account of the ranks
      throw;
    } catch (...) {
      throw CommError("{}", run.first_reason);
    }
  }

  double timeout_;
};

const Registration<World> kThreads{
    "threads", "Ranks are threads of this process; they read each other's memory.", world_options(),
    [](const Options& options) { return std::make_unique<ThreadsWorld>(options); }};

}  // namespace
}  // namespace lockstep
