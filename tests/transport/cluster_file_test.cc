#include "lockstep/transport/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

ClusterDescription parse(const std::string& text) {
  return parse_cluster(text, "rack.toml");
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

constexpr const char* kTwoLevel = R"(topology = "two-level"
machines = 2
per_machine = 4
inside_bandwidth = "10GB/s"
inside_latency = "1us"
between_bandwidth = "1Gbit/s"
between_latency = "50us"
)";

TEST(ClusterFile, AnEmptyFileIsTheDefaultStar) {
  const auto cluster = parse("");
  EXPECT_EQ(cluster.topology, Topology::kStar);
  EXPECT_EQ(cluster.hosts_for(7), 7);
  EXPECT_EQ(cluster.host_of_rank(6, 7), 6);
  EXPECT_DOUBLE_EQ(cluster.bandwidth, 125e6);
  EXPECT_DOUBLE_EQ(cluster.latency, 50e-6);
  EXPECT_EQ(cluster.summary(7), "star of 7 hosts, 125 MB/s, 50.0 us");
}

TEST(ClusterFile, HostsHaveMemory) {
  EXPECT_EQ(parse("").memory_of(0), 0);
  const auto cluster = parse("hosts = 4\nmemory = \"4K\"\n[[host]]\nhost = 1\nmemory = 100\n");
  EXPECT_DOUBLE_EQ(cluster.memory_of(0), 4096);
  EXPECT_DOUBLE_EQ(cluster.memory_of(1), 100);
  EXPECT_THAT(error_of("memory = \"much\""), HasSubstr("rack.toml:1: memory"));
  EXPECT_THAT(error_of("memory = true"), HasSubstr("rack.toml:1: memory must be a text"));
  EXPECT_THAT(error_of("[[host]]\nhost = 1\n"), HasSubstr("[[host]] memory is missing"));
  EXPECT_THAT(error_of("host = 3"), HasSubstr("[[host]] with host and memory"));
  EXPECT_THAT(error_of("[[host]]\nhost = 1\nmemory = 1\n[[host]]\nhost = 1\nmemory = 2\n"),
              HasSubstr("twice"));
}

TEST(ClusterFile, WaysOfMessages) {
  const auto star = parse("hosts = 3\nbandwidth = 100\nlatency = 2\nbackbone = 50\n");
  EXPECT_DOUBLE_EQ(star.way(0, 2).latency, 2);
  EXPECT_DOUBLE_EQ(star.way(0, 2).bandwidth, 50);
  const auto machines = parse(kTwoLevel);
  EXPECT_DOUBLE_EQ(machines.way(0, 3).bandwidth, 1e10);
  EXPECT_DOUBLE_EQ(machines.way(0, 4).bandwidth, 125e6);
  EXPECT_DOUBLE_EQ(machines.way(0, 4).latency, 50e-6);
  const auto torus = parse("topology = \"torus\"\ndims = [4, 3]\nbandwidth = 100\nlatency = 1\n");
  EXPECT_DOUBLE_EQ(torus.way(0, 3).latency, 1) << "around";
  EXPECT_DOUBLE_EQ(torus.way(0, 2 + 4).latency, 3);
  const auto tree = parse("topology = \"fat-tree\"\ndown = [2, 2]\nbandwidth = 100\nlatency = 1\n");
  EXPECT_DOUBLE_EQ(tree.way(0, 1).latency, 2);
  EXPECT_DOUBLE_EQ(tree.way(0, 3).latency, 4);
}

TEST(ClusterFile, UnitsAreThoseOfNetworks) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("1Gbit/s", "x"), 125e6);
  EXPECT_DOUBLE_EQ(parse_bandwidth("125 MB/s", "x"), 125e6);
  EXPECT_DOUBLE_EQ(parse_bandwidth("1e3", "x"), 1000);
  EXPECT_DOUBLE_EQ(parse_bandwidth("2.5 kB/s", "x"), 2500);
  EXPECT_DOUBLE_EQ(parse_bandwidth("1GiB/s", "x"), 1073741824);
  EXPECT_DOUBLE_EQ(parse_latency("50us", "x"), 50e-6);
  EXPECT_DOUBLE_EQ(parse_latency("50 µs", "x"), 50e-6);
  EXPECT_DOUBLE_EQ(parse_latency("0.2ms", "x"), 2e-4);
  EXPECT_DOUBLE_EQ(parse("bandwidth = 1000\nlatency = 1e-3").bandwidth, 1000);
  for (const char* bad : {"", "fast", "1 parsec", "1Gbps", "1.2.3MB/s", "MB/s", "--1MB/s"}) {
    EXPECT_THROW(parse_bandwidth(bad, "x"), ConfigError) << bad;
  }
  EXPECT_THAT(error_of("latency = \"50 minutes\""),
              AllOf(HasSubstr("rack.toml:1: latency"), HasSubstr("units: ns, us, µs, ms, s")));
}

TEST(ClusterFile, RanksGoRoundTheHostsOrFillThem) {
  const auto round = parse("hosts = 4");
  EXPECT_EQ(round.host_of_rank(5, 8), 1);
  EXPECT_EQ(round.most_ranks(), kMostHosts);
  const auto fill = parse("hosts = 4\nranks_per_host = 2");
  EXPECT_EQ(fill.host_of_rank(5, 8), 2);
  EXPECT_EQ(fill.most_ranks(), 8);
  EXPECT_EQ(parse("ranks_per_host = 2").hosts_for(5), 3);
}

TEST(ClusterFile, ShapesSayHowManyHostsThereAre) {
  EXPECT_EQ(parse("topology = \"torus\"\ndims = [4, 3, 2]").hosts, 24);
  const auto tree = parse("topology = \"fat-tree\"\ndown = [4, 8]\nup = [1, 2]");
  EXPECT_EQ(tree.hosts, 32);
  EXPECT_EQ(tree.cables, (std::vector<int>{1, 1}));
  const auto machines = parse(kTwoLevel);
  EXPECT_EQ(machines.hosts, 8);
  EXPECT_EQ(machines.machine_of_host(3), 0);
  EXPECT_EQ(machines.machine_of_host(4), 1);
  EXPECT_THAT(machines.summary(8), HasSubstr("2 machines of 4 hosts"));
}

TEST(ClusterFile, SlowHostsAndStragglers) {
  const auto cluster = parse(
      "hosts = 8\nspeed = 0.5\n[[slow]]\nhost = 3\nfactor = 4.0\n[[slow]]\nhost = 5\nfactor = 2\n"
      "[stragglers]\nprobability = 0.05\nfactor = 5\nseed = 9\n");
  EXPECT_EQ(cluster.slowdown(3), 4);
  EXPECT_EQ(cluster.slowdown(5), 2);
  EXPECT_EQ(cluster.slowdown(0), 1);
  EXPECT_EQ(cluster.speed, 0.5);
  EXPECT_EQ(cluster.stragglers.probability, 0.05);
  EXPECT_EQ(cluster.stragglers.seed, 9u);
}

TEST(ClusterFile, UnknownKeysNameLineAndNearestKey) {
  EXPECT_THAT(error_of("hosts = 4\nlatncy = 1"),
              AllOf(StartsWith("rack.toml:2: "), HasSubstr("did you mean \"latency\"?")));
  EXPECT_THAT(error_of("[[slow]]\nhost = 1\nfaktor = 2"), HasSubstr("did you mean \"factor\"?"));
  EXPECT_THAT(error_of("[stragglers]\nprob = 1"), HasSubstr("[stragglers]"));
  EXPECT_THAT(error_of("topology = \"torsu\""), HasSubstr("did you mean \"torus\"?"));
  EXPECT_THAT(error_of("topology = 3"), HasSubstr("Valid: "));
  // A key of another topology is as wrong as a key of none.
  EXPECT_THAT(error_of("dims = [2, 2]"), HasSubstr("unknown key \"dims\""));
}

TEST(ClusterFile, TornFilesNameLineAndColumn) {
  EXPECT_THAT(error_of("hosts = 4\nlatency = \"50"), StartsWith("rack.toml:2:"));
  EXPECT_THAT(error_of("hosts = = 4"), StartsWith("rack.toml:1:9:"));
  EXPECT_THAT(error_of("hosts = 4\nhosts = 5"), StartsWith("rack.toml:2:"));
}

TEST(ClusterFile, ValuesThatCannotBeBuiltAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hosts = 0", "hosts must be a whole number from 1 to 65536, not 0"},
      {"hosts = -3", "not -3"},
      {"hosts = 99999999999", "from 1 to 65536"},
      {"hosts = 99999999999999999999", "rack.toml:1:"},
      {"hosts = 2.5", "whole number"},
      {"hosts = \"4\"", "whole number"},
      {"speed = 0", "speed must be above 0"},
      {"speed = nan", "speed must be above 0"},
      {"speed = \"fast\"", "must be a number"},
      {"bandwidth = -1", "bandwidth must be above 0"},
      {"bandwidth = \"-1Gbit/s\"", "bandwidth must be above 0"},
      {"bandwidth = 1e300", "at most 1e+15"},
      {"bandwidth = inf", "at most"},
      {"bandwidth = [1]", "a text with a unit"},
      {"latency = \"-1us\"", "latency must be at least 0"},
      {"topology = \"torus\"", "dims is missing"},
      {"topology = \"torus\"\ndims = []", "list of whole numbers"},
      {"topology = \"torus\"\ndims = [4, 0]", "from 1 to 65536, not 0"},
      {"topology = \"torus\"\ndims = [60000, 60000, 60000, 60000]", "more than 65536 hosts"},
      {"topology = \"torus\"\ndims = [4, 4]\nhosts = 15", "dims makes 16"},
      {"topology = \"fat-tree\"", "down is missing"},
      {"topology = \"fat-tree\"\ndown = [4, 4]\nup = [1]", "needs one a level"},
      {"topology = \"two-level\"", "machines is missing"},
      {"hosts = 2\n[[slow]]\nhost = 2\nfactor = 2", "[[slow]] host must be"},
      {"[[slow]]\nhost = 2", "[[slow]] factor is missing"},
      {"[[slow]]\nhost = 2\nfactor = 0", "above 0"},
      {"[[slow]]\nhost = 2\nfactor = 2\n[[slow]]\nhost = 2\nfactor = 3", "twice"},
      {"slow = 3", "[[slow]] with host and factor"},
      {"stragglers = 3", "must be a table"},
      {"[stragglers]\nprobability = 1.5\nfactor = 2", "at most 1"},
      {"[stragglers]\nprobability = 0.5", "factor is missing"},
      {"[stragglers]\nprobability = 0.5\nfactor = 2\nseed = -1", "seed must be"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error_of(text), HasSubstr(expected)) << text;

  std::string slower_inside = kTwoLevel;
  slower_inside.replace(slower_inside.find("1us"), 3, "1ms");
  EXPECT_THAT(error_of(slower_inside), HasSubstr("between_latency must be at least"));
}

TEST(ClusterFile, FilesAreReadAndMissingOnesNamed) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lockstep_cluster_" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "hosts = 3\nlatency = 1\nwrong = 2\n";
  try {
    load_cluster(path);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), StartsWith(path.string() + ":3: "));
  }
  std::ofstream(path) << "hosts = 3\n";
  EXPECT_EQ(load_cluster(path).hosts, 3);
  std::filesystem::remove(path);
  EXPECT_THROW(load_cluster(path), ConfigError);
  EXPECT_THROW(load_cluster(std::filesystem::temp_directory_path()), ConfigError);
}

// What SimGrid would end the program for.
TEST(ClusterFile, KeepsAwayFromTheSimulatorWhatItCannotBuild) {
  EXPECT_EQ(parse_cluster("topology = \"torus\"\ndims = [4, 1, 1]", "t").dims, std::vector<int>{4});
  EXPECT_EQ(parse_cluster("topology = \"torus\"\ndims = [1, 1]", "t").dims, std::vector<int>{1});
  EXPECT_EQ(parse_cluster("latency = 1e-320", "t").latency, 0);
  EXPECT_THROW(parse_cluster("topology = \"fat-tree\"\ndown = [65536]\nup = [65536]", "t"),
               ConfigError);
  EXPECT_EQ(parse_cluster("topology = \"fat-tree\"\ndown = [4, 4]\nup = [1, 2]", "t").hosts, 16);
}

}  // namespace
}  // namespace lockstep
