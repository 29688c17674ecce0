// The sections of a configuration and the keys that do not belong to a component.
#include "lockstep/assign/assignment.h"
#include "lockstep/collective/all_reduce.h"
#include "lockstep/compress/compression_plan.h"
#include "lockstep/data/dataset.h"
#include "lockstep/model/replica.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/optim/schedule.h"
#include "lockstep/overlap/bucketing.h"
#include "lockstep/pipeline/schedule.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/train/config.h"
#include "lockstep/train/parallel.h"

namespace lockstep {
namespace {

OptionSet cluster_options() {
  OptionSet options;
  options.text("world", "", "threads, mpi or sim; empty: mpi when mpirun started it, else threads");
  options.integer("workers", 4, "workers that train, each with its own share of the data")
      .at_least(1)
      .at_most(65536);
  options
      .integer("merge", 0,
               "workers computed by one rank as one large batch, with batch-norm statistics of "
               "their own; 1: none; 0: on threads with 4 or more workers a core, else none")
      .at_least(0);
  options.integer("threads", 0, "compute threads of a rank; 0: the cores shared out").at_least(0);
  options.texts("slow", {},
                "workers that compute slower: {3 = 2.0} makes worker 3 take twice as long");
  options
      .real("jitter", 0,
            "random slowdown of every step: the standard deviation of the logarithm of its factor")
      .at_least(0)
      .at_most(10);
  options.real("timeout", 60, "seconds a rank may wait for another before the run ends").above(0);
  options.text("cluster_file", "", "the cluster that sim simulates; empty: a star of 1 Gbit/s");
  return options;
}

OptionSet data_options() {
  OptionSet options;
  options.real("validation", 0.1, "share of the training samples that is held back to validate")
      .at_least(0)
      .at_most(0.9);
  options.flag("normalise", true, "subtract the mean and divide by the deviation, by channel");
  options.integer("pad", 0, "pixels of zeros around an image, of which a random window is cut")
      .at_least(0)
      .at_most(64);
  options.flag("flip", false, "turn every other image left to right, at random");
  return options;
}

OptionSet train_options() {
  OptionSet options;
  options.real("epochs", 1, "passes over the data").above(0).at_most(1e6);
  options.integer("steps", 0, "stop after this many steps; 0: by epochs").at_least(0);
  options.integer("batch", 0, "samples of a step, all workers together").at_least(0);
  options
      .integer(
          "local_batch", 0,
          "samples of a step on one worker; without batch, local_batch and effective_batch: 32")
      .at_least(0);
  options
      .integer("effective_batch", 0,
               "the batch that synchronous workers would need for steps as exact; sets local_batch "
               "by the periods of [sync]")
      .at_least(0);
  options.integer("seed", 1, "of everything random").at_least(0);
  options.text("precision", "float", "of forward and backward; weights stay float")
      .one_of({"float", "bf16", "fp16"});
  options.real("label_smoothing", 0, "share of the target spread over all classes")
      .at_least(0)
      .at_most(0.9);
  options
      .text("batch_norm", "local",
            "statistics over each worker's batch; shared by batch_norm_workers workers; or "
            "batch-only: without moving averages")
      .one_of({"local", "shared", "batch-only"});
  options.integer("batch_norm_workers", 0, "how many workers share statistics; 0: all; must divide")
      .at_least(0);
  options.real("validate_every", 1, "epochs between validations; 0: only at the end").at_least(0);
  options.real("checkpoint_every", 1, "epochs between checkpoints; 0: only at the end").at_least(0);
  options.integer("keep", 2, "how many checkpoints are kept").at_least(1);
  options.integer("log_every", 10, "steps between lines of metrics").at_least(1);
  options.integer("patience", 0, "stop after this many validations without gain; 0: never")
      .at_least(0);
  options.real("least_gain", 0, "gain in accuracy that counts for patience").at_least(0);
  options.flag("timeline", false, "write what every worker did when to timeline.json");
  options.flag("prefetch", true, "make the next batch while the step computes");
  return options;
}

OptionSet aggregate_options() {
  OptionSet options;
  options
      .text("via", "auto",
            "who combines: the workers among themselves, or a parameter server; auto: what [sync] "
            "needs")
      .one_of({"auto", "allreduce", "server"});
  options
      .integer("servers", 0,
               "ranks of their own that hold the server's shards and do not train; 0: a shard "
               "beside each worker")
      .at_least(0)
      .at_most(65536);
  return options;
}

}  // namespace

const std::vector<SectionKind>& section_kinds() {
  static const std::vector<SectionKind> kinds{
      {"cluster", "Over what workers talk", cluster_options(), nullptr, "", ""},
      {"model", "What is trained", {}, &Registry<ModelKind>::instance(), "name", ""},
      {"data", "On what", data_options(), &Registry<DatasetSource>::instance(), "name", "shapes"},
      {"assign",
       "Who sees which samples",
       {},
       &Registry<Assignment>::instance(),
       "name",
       "disjoint"},
      {"train", "How long and how", train_options(), nullptr, "", ""},
      {"optim", "How parameters are updated", {}, &Registry<Optimizer>::instance(), "name", "sgd"},
      {"schedule",
       "How the learning rate changes",
       {},
       &Registry<Schedule>::instance(),
       "name",
       "constant"},
      {"sync",
       "When workers agree",
       {},
       &Registry<SyncStrategy>::instance(),
       "name",
       "synchronous"},
      {"aggregate", "How values are combined", aggregate_options(),
       &Registry<AllReduce>::instance(), "algorithm", "native"},
      {"compress", "What is sent", compress_options(), &Registry<Compressor>::instance(), "name",
       "none"},
      {"overlap",
       "What hides communication behind backward",
       {},
       &Registry<Bucketing>::instance(),
       "name",
       "none"},
      {"parallel", "How the model is cut into stages", parallel_options(),
       &Registry<PipelineSchedule>::instance(), "schedule", "1f1b"},
  };
  return kinds;
}

}  // namespace lockstep
