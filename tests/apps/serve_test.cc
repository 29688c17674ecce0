// The live report as a browser asks for it.
#include <httplib.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>

#include "lockstep/base/json_lines.h"
#include "tests/apps/program.h"
#include "tests/experiment/runs_on_disk.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

// `lockstep serve` on a port of its own choice; asked to end, it says so.
class Server {
 public:
  explicit Server(const std::string& arguments) {
    const std::string command = "echo $$; exec '" + std::string(LOCKSTEP_PROGRAM) + "' serve " +
                                arguments + " --port 0 2>&1 </dev/null";
    pipe_ = popen(command.c_str(), "r");
    if (pipe_ == nullptr) throw std::runtime_error("no process could be made");
    process_ = std::atoi(line().c_str());
    said_ = line();
    const auto colon = said_.find(':', said_.find("//"));
    if (colon != std::string::npos) port_ = std::atoi(said_.c_str() + colon + 1);
  }
  ~Server() {
    if (pipe_ != nullptr) end();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Outcome end() {
    if (process_ > 0) kill(process_, SIGTERM);  // 0 would be the test itself and its family
    Outcome outcome;
    for (std::string one = line(); !one.empty(); one = line()) outcome.text += one;
    const int status = pclose(pipe_);
    pipe_ = nullptr;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
  }
  const std::string& said() const { return said_; }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(60);
    return client;
  }

 private:
  std::string line() {
    std::array<char, 4096> buffer;
    return fgets(buffer.data(), buffer.size(), pipe_) != nullptr ? buffer.data() : "";
  }

  FILE* pipe_;
  pid_t process_ = 0;
  std::string said_;
  int port_ = 0;
};

class Serve : public FolderTest {
 protected:
  void SetUp() override {
    write_run(path("runs/a"), {"cluster.workers=1"}, {0.5, 0.6});
    write_run(path("runs/b"), {"cluster.workers=2"}, {0.5, 0.7});
    std::ofstream(path("secret.txt")) << "nobody's business";
  }
};

TEST_F(Serve, AnswersThePageAndItsNumbersAndNothingElse) {
  Server server(path("runs"));
  EXPECT_THAT(server.said(), HasSubstr("http://127.0.0.1:"));
  httplib::Client client = server.client();
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("workers=2"));
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  const auto data = client.Get("/data.json");
  ASSERT_TRUE(data);
  EXPECT_EQ(Json::parse(data->body)["lines"].size(), 2u);
  for (const char* elsewhere : {"/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/runs/a",
                                "/runs/a/config.toml", "/etc/passwd", "//etc/passwd"}) {
    const auto answer = client.Get(elsewhere);
    ASSERT_TRUE(answer) << elsewhere;
    EXPECT_EQ(answer->status, 404) << elsewhere;
  }
  const auto posted = client.Post("/", "x", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 404) << "it is read-only";
  const Outcome ended = server.end();
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("Ended."));
}

TEST_F(Serve, PagesOfOtherSitesMayNotRead) {
  const Server server(path("runs"));
  httplib::Client client = server.client();
  for (const char* address : {"/", "/data.json", "/events"}) {
    const auto answer = client.Get(address, {{"Host", "elsewhere.example"}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 403);
  }
  const auto local = client.Get("/", {{"Host", "localhost:1234"}});
  ASSERT_TRUE(local);
  EXPECT_EQ(local->status, 200);
}

TEST_F(Serve, WhatChangesIsSent) {
  const Server server(path("runs"));
  httplib::Client client = server.client();
  std::string heard;
  std::size_t events = 0;
  double last = 0;
  client.Get("/events", [&](const char* text, std::size_t size) {
    heard.append(text, size);
    for (auto end = heard.find("\n\n"); end != std::string::npos; end = heard.find("\n\n")) {
      const std::string event = heard.substr(0, end);
      heard.erase(0, end + 2);
      if (event.rfind("data: ", 0) != 0) continue;
      ++events;
      const Json accuracy = Json::parse(event.substr(6))["lines"].at(0).at("accuracy");
      if (accuracy.is_object()) last = accuracy.at("mean");  // it is being written otherwise
      if (events == 1) write_run(path("runs/a"), {"cluster.workers=1"}, {0.5, 0.6, 0.9});
    }
    return last < 89;  // a look may come between two writes; the last one counts
  });
  EXPECT_GE(events, 2u);
  EXPECT_NEAR(last, 90, 1e-9);
}

TEST_F(Serve, WaitsForTheFirstRunAndSaysSo) {
  Server server(path("later"));
  httplib::Client client = server.client();
  const auto nothing = client.Get("/");
  ASSERT_TRUE(nothing);
  EXPECT_THAT(nothing->body, HasSubstr("There is no run yet"));
  write_run(path("later/a"), {"cluster.workers=1"}, {0.5, 0.6});
  const auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->body, HasSubstr("id=\"curves\""));
  EXPECT_THAT(server.end().text, HasSubstr("There is no run in " + path("later")));
}

TEST_F(Serve, WrongArgumentsAreRefused) {
  expect_refused("serve " + path("runs") + " --address 203.0.113.1", "cannot listen", "--port");
}

}  // namespace
}  // namespace lockstep
