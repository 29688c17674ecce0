#include "lockstep/transport/mpi_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_leave.h"
#include "lockstep/transport/mpi_watch.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

MpiSession* running_session = nullptr;

// 0: machines are hosts.
int ranks_per_host() {
  const char* const text = std::getenv("LOCKSTEP_RANKS_PER_HOST");
  if (text == nullptr || *text == 0) return 0;
  const std::string_view view = text;
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size() || value < 1) {
    throw ConfigError("LOCKSTEP_RANKS_PER_HOST is \"{}\"; it must be a whole number from 1", text);
  }
  return value;
}

}  // namespace

void mpi_check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommError("{} failed: {}", call, text);
}

MpiSession& MpiSession::get() {
  if (running_session == nullptr) running_session = new MpiSession;
  return *running_session;
}

MpiSession* MpiSession::running() {
  return running_session;
}

MpiSession::MpiSession() {
  // Open MPI's single-copy path writes a message that is too long past the end of the buffer before
  // it notices; and at the size of our pieces two copies are faster (64 KB: 12 µs against 23).
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  // Over TCP a piece of ours goes out at once instead of asking first: on a link of 100 Mbit/s an
  // all-reduce of 16 MB took 2.17 s when every piece asked, and 1.43 s so.
  setenv("OMPI_MCA_btl_tcp_eager_limit", "300000", 0);
  int provided = MPI_THREAD_SINGLE;
  mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_MULTIPLE) {
    throw ConfigError(
        "this MPI library was built without MPI_THREAD_MULTIPLE, which the mpi world needs; use "
        "another one, or world = \"threads\"");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
  MPI_Comm_rank(world_, &process_);
  MPI_Comm_size(world_, &processes_);
  find_hosts();
  share_page();
  set_clock();
  finish_mpi_at_exit();
}

bool MpiSession::leads_host() const {
  return std::find(hosts_.begin(), hosts_.end(), host()) - hosts_.begin() == process_;
}

void MpiSession::find_hosts() {
  MPI_Comm machine = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, process_, MPI_INFO_NULL, &machine),
            "MPI_Comm_split_type");
  int lowest = process_;
  mpi_check(MPI_Bcast(&lowest, 1, MPI_INT, 0, machine), "MPI_Bcast");
  MPI_Comm_free(&machine);
  machines_.resize(static_cast<std::size_t>(processes_));
  mpi_check(MPI_Allgather(&lowest, 1, MPI_INT, machines_.data(), 1, MPI_INT, world_),
            "MPI_Allgather");

  const int together = ranks_per_host();
  std::map<std::pair<int, int>, int> numbers;
  for (int p = 0; p < processes_; ++p) {
    const std::pair key{machines_[static_cast<std::size_t>(p)], together > 0 ? p / together : 0};
    hosts_.push_back(numbers.emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  host_count_ = static_cast<int>(numbers.size());
}

// Where processes of a machine cannot map each other's memory (containers), each is a host.
void MpiSession::share_page() {
  const std::size_t bytes = MpiHostPage::bytes(processes_);
  const auto count = static_cast<std::size_t>(processes_);
  auto window = MpiWindow::create(bytes);
  const MpiWindow::Address mine = window->address();
  std::vector<MpiWindow::Address> addresses(count);
  mpi_check(
      MPI_Allgather(&mine, sizeof mine, MPI_BYTE, addresses.data(), sizeof mine, MPI_BYTE, world_),
      "MPI_Allgather");
  const auto leader = std::find(hosts_.begin(), hosts_.end(), host()) - hosts_.begin();
  std::shared_ptr<MpiWindow> shared = window;
  if (leader != process_) shared = MpiWindow::open(addresses[static_cast<std::size_t>(leader)]);
  const int opened = shared ? 1 : 0;
  std::vector<int> all_opened(count);
  mpi_check(MPI_Allgather(&opened, 1, MPI_INT, all_opened.data(), 1, MPI_INT, world_),
            "MPI_Allgather");
  if (std::find(all_opened.begin(), all_opened.end(), 0) != all_opened.end()) {
    for (int p = 0; p < processes_; ++p) hosts_[static_cast<std::size_t>(p)] = p;
    host_count_ = processes_;
    shared = window;
  }
  page_ = std::make_unique<MpiHostPage>(shared);
  if (leads_host()) page_->introduce(processes_, host_count_);
  page_->process(process_).id.store(getpid());
  mpi_check(MPI_Barrier(world_), "MPI_Barrier");
  watch_for_the_end(*this, shared->descriptor());
  shared->seal();
}

// Processes of one machine share its clock; another machine's is read once, to within the time a
// message takes.
void MpiSession::set_clock() {
  mpi_check(MPI_Barrier(world_), "MPI_Barrier");
  double first = wall_seconds();
  mpi_check(MPI_Bcast(&first, 1, MPI_DOUBLE, 0, world_), "MPI_Bcast");
  if (machines_[static_cast<std::size_t>(process_)] != machines_[0]) {
    clock_offset_ = first - wall_seconds();
  }
}

}  // namespace lockstep
