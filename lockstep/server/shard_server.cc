#include "lockstep/server/shard_server.h"

#include "lockstep/base/error.h"

namespace lockstep {

// A worker has one request under way at most, so one answer is enough for each.
struct ShardServer::Line {
  Line(std::size_t size, bool compressed) : message(size, compressed) {}
  ServerMessage message;
  Request sending;
  double asked = 0;  // when
};

class ShardServer::Answers : public Answer {
 public:
  Answers(Transport& transport, std::vector<Line>& lines, ShardLines& forms)
      : transport_(transport), lines_(lines), forms_(forms) {}

  void operator()(int worker, ServerHeader header, std::span<const float> values) const override {
    send(worker, header, [&](ServerMessage& message, const ServerHeader& to) {
      return forms_.write(message, to, values);
    });
  }
  void to_all(const std::vector<int>& workers, const ServerHeader& header,
              std::span<const float> values) const override {
    const auto bytes = forms_.change_for(workers, header, values);
    for (const int worker : workers) {
      send(worker, header, [&](ServerMessage& message, const ServerHeader& to) {
        return bytes ? message.write_bytes(to, *bytes) : message.write(to, values);
      });
    }
  }

 private:
  template <typename Write>
  void send(int worker, ServerHeader header, const Write& write) const {
    Line& line = lines_[static_cast<std::size_t>(worker)];
    transport_.wait(line.sending);
    header.worker = worker;
    header.held = transport_.now() - line.asked;
    line.sending = transport_.isend(worker, kServerTag + 1, write(line.message, header));
  }

  Transport& transport_;
  std::vector<Line>& lines_;
  ShardLines& forms_;
};

ShardServer::ShardServer(std::unique_ptr<ShardRule> rule, std::size_t size, int workers,
                         Arrivals arrivals, const ShardCompression* compression)
    : rule_(std::move(rule)),
      size_(size),
      workers_(workers),
      arrivals_(std::move(arrivals)),
      lines_(size, workers, compression) {}

void ShardServer::serve(Transport& transport) {
  const Operation operation(transport, "server shard");
  std::vector<Line> lines;
  for (int worker = 0; worker < workers_; ++worker) lines.emplace_back(size_, lines_.compressed());
  const Answers answer(transport, lines, lines_);
  ServerMessage message(size_, lines_.compressed());
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
    Line& line = lines[static_cast<std::size_t>(header.worker)];
    line.asked = transport.now();
    const auto values = lines_.values_of(header, message);
    if (!values.empty() && values.size() != size_) {
      throw CommError("worker {} sent {} values to a shard of {}", header.worker, values.size(),
                      size_);
    }
    rule_->handle(header, values, answer);
  }
  for (Line& line : lines) transport.wait(line.sending);
}

void ShardServer::state(StateVisitor& visitor) {
  rule_->state(visitor);
  StateScope lines(visitor, "lines");
  lines_.state(lines);
}

}  // namespace lockstep
