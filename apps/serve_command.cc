// `lockstep serve`: the report of runs that are still going on, in a browser. Read-only: there are
// three addresses, and none of them is a file's.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "apps/command.h"
#include "apps/live_report.h"
#include "lockstep/base/error.h"
#include "lockstep/train/interrupt.h"

namespace lockstep {
namespace {

constexpr int kLookMilliseconds = 1000;
constexpr int kSilentLooks = 15;          // then a line that says only that the server is there
constexpr std::size_t kMostClients = 64;  // threads: each page that is open has one

struct Arguments {
  std::vector<std::string> paths;
  std::string address = "127.0.0.1";
  int port = 8321;
};

// Another site's name may be made to point here, and its page would then read ours: so a request
// must name this machine as the user does.
bool names_this_server(const httplib::Request& request, const std::string& address) {
  std::string host = request.get_header_value("Host");
  if (const auto colon = host.rfind(':');
      colon != std::string::npos && host.find(']', colon) == std::string::npos) {
    host.resize(colon);
  }
  if (address == "0.0.0.0" || address == "::") return true;  // whoever asked for that means all
  return host == address || host == "[" + address + "]" || host == "localhost" ||
         host == "127.0.0.1" || host == "[::1]";
}

void add_headers(httplib::Response& response) {
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cache-Control", "no-store");
}

// Server-sent events: the numbers whenever they have changed.
void send_events(LiveReport& report, httplib::Response& response) {
  struct Client {
    std::uint64_t seen = 0;
    int silent = 0;
    bool begun = false;
  };
  const auto client = std::make_shared<Client>();
  response.set_chunked_content_provider(
      "text/event-stream", [&report, client](std::size_t, httplib::DataSink& sink) {
        if (client->begun) poll(nullptr, 0, kLookMilliseconds);
        const std::uint64_t now = report.signature();
        std::string text;
        if (!client->begun || now != client->seen) {  // the first time, too: the page may be older
          const std::string data = report.data();
          if (!data.empty()) text = "data: " + data + "\n\n";
        } else if (++client->silent % kSilentLooks == 0) {
          text = ": still here\n\n";
        }
        client->begun = true;
        client->seen = now;
        return interrupt_signal() == 0 && (text.empty() || sink.write(text.data(), text.size()));
      });
}

// Keeps Ctrl-C and its like from this thread and those it makes: one that waits for a connection
// would hear of them only with the next. They go to threads that were there before.
class SignalsElsewhere {
 public:
  SignalsElsewhere() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsElsewhere() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsElsewhere(const SignalsElsewhere&) = delete;
  SignalsElsewhere& operator=(const SignalsElsewhere&) = delete;

 private:
  sigset_t before_;
};

void serve_command(const Arguments& arguments) {
  LiveReport report(arguments.paths, {});
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kMostClients); };
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    add_headers(response);
    if (names_this_server(request, arguments.address)) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    response.status = 403;
    response.set_content("This server does not answer to that name.\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_payload_max_length(1 << 16);  // nobody has anything to send
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(report.page(), "text/html; charset=utf-8");
  });
  server.Get("/data.json", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(report.data(), "application/json");
  });
  server.Get("/events", [&](const httplib::Request&, httplib::Response& response) {
    send_events(report, response);
  });
  const int port = arguments.port == 0 ? server.bind_to_any_port(arguments.address)
                   : server.bind_to_port(arguments.address, arguments.port) ? arguments.port
                                                                            : -1;
  if (port < 0) {
    throw ConfigError("cannot listen on {} port {}; is another server there? --port chooses one",
                      arguments.address, arguments.port);
  }
  const bool brackets = arguments.address.find(':') != std::string::npos;
  std::cout << fmt::format("http://{}{}{}:{}/  (Ctrl-C ends it)\n", brackets ? "[" : "",
                           arguments.address, brackets ? "]" : "", port)
            << std::flush;
  if (report.data().empty()) {
    std::cout << fmt::format("There is no run in {} yet; the page looks again every two seconds.\n",
                             fmt::join(arguments.paths, ", "))
              << std::flush;
  }
  const InterruptWatch watch;
  std::atomic<bool> ended = false;
  std::thread stopper([&] {
    while (interrupt_signal() == 0 && !ended) poll(nullptr, 0, 100);
    while (!ended && !server.is_running()) poll(nullptr, 0, 10);  // it may not be listening yet
    if (!ended) server.stop();
  });
  {
    const SignalsElsewhere on_the_stopper;
    server.listen_after_bind();
  }
  ended = true;
  stopper.join();
  std::cout << "Ended.\n";
}

}  // namespace

void add_serve_command(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("serve", "Show the report in a browser while runs go on");
  command->add_option("runs", arguments->paths, "Runs, sweeps, or directories with runs in them")
      ->required();
  command->add_option("--address", arguments->address,
                      "Where to listen; only this machine can reach the default, 127.0.0.1");
  command->add_option("--port", arguments->port, "0: any that is free")
      ->check(CLI::Range(0, 65535));
  command->callback([arguments] { serve_command(*arguments); });
}

}  // namespace lockstep
