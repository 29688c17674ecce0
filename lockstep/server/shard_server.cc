#include "lockstep/server/shard_server.h"

#include "lockstep/base/error.h"

namespace lockstep {

// A worker has one request under way at most, so one answer is enough for each.
struct ShardServer::Line {
  explicit Line(std::size_t size) : message(size) {}
  ServerMessage message;
  Request sending;
  double asked = 0;  // when
};

ShardServer::ShardServer(std::unique_ptr<ShardRule> rule, std::size_t size, int workers,
                         Arrivals arrivals)
    : rule_(std::move(rule)), size_(size), workers_(workers), arrivals_(std::move(arrivals)) {}

void ShardServer::serve(Transport& transport) {
  const Operation operation(transport, "server shard");
  std::vector<Line> lines;
  for (int worker = 0; worker < workers_; ++worker) lines.emplace_back(size_);
  const auto answer = [&](int worker, ServerHeader header, std::span<const float> values) {
    Line& line = lines[static_cast<std::size_t>(worker)];
    transport.wait(line.sending);
    header.worker = worker;
    header.held = transport.now() - line.asked;
    line.sending = transport.isend(worker, kServerTag + 1, line.message.write(header, values));
  };

  ServerMessage message(size_);
  std::vector<char> gone(static_cast<std::size_t>(workers_));
  for (int left = 0; left < workers_;) {
    transport.step("requests", 0, 1);
    // Of a replay: if the next one on the list has left already, it meant the time after; what is
    // still to come now is the others' leave.
    int next = arrivals_.next();
    if (next != kAnyRank && gone.at(static_cast<std::size_t>(next))) next = kAnyRank;
    Request request = transport.irecv(next, kServerTag, message.room());
    transport.wait(request);
    const ServerHeader& header = message.read(request.bytes());
    if (header.worker != request.peer() || header.worker >= workers_) {
      throw CommError("rank {} sent the server a message of worker {}", request.peer(),
                      header.worker);
    }
    if (header.kind == kLeave) {
      gone[static_cast<std::size_t>(header.worker)] = 1;
      ++left;
      continue;
    }
    arrivals_.note(header.worker);
    if (!message.values().empty() && message.values().size() != size_) {
      throw CommError("worker {} sent {} values to a shard of {}", header.worker,
                      message.values().size(), size_);
    }
    Line& line = lines[static_cast<std::size_t>(header.worker)];
    line.asked = transport.now();
    rule_->handle(header, message.values(), answer);
  }
  for (Line& line : lines) transport.wait(line.sending);
}

void ShardServer::state(StateVisitor& visitor) {
  rule_->state(visitor);
}

}  // namespace lockstep
