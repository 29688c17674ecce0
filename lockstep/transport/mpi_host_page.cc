#include "lockstep/transport/mpi_host_page.h"

#include <cstring>
#include <new>

#include "lockstep/base/aligned.h"

namespace lockstep {
namespace {

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
constexpr std::size_t kHeadBytes = round_up(sizeof(MpiHostPage::Head));

std::size_t board_offset(int processes) {
  return kHeadBytes + round_up(sizeof(MpiHostPage::Process) * static_cast<std::size_t>(processes));
}

}  // namespace

std::size_t MpiHostPage::bytes(int processes) {
  return board_offset(processes) + StatusBoard::bytes(processes);
}

MpiHostPage::MpiHostPage(std::shared_ptr<MpiWindow> window)
    : window_(std::move(window)),
      head_(std::launder(reinterpret_cast<Head*>(window_->data()))),
      processes_(std::launder(reinterpret_cast<Process*>(window_->data() + kHeadBytes))) {}

void MpiHostPage::introduce(int count, int hosts) {
  head_->processes.store(count);
  head_->hosts.store(hosts);
}

void MpiHostPage::reset(int ranks) {
  std::memset(window_->data() + board_offset(processes()), 0, StatusBoard::bytes(processes()));
  for (int i = 0; i < processes(); ++i) processes_[i].answered.store(0);
  head_->exit_code.store(0);
  head_->printer.store(0);
  head_->printed.store(0);
  head_->told.store(0);
  head_->asking.store(0);
  head_->ranks.store(ranks);
}

StatusBoard MpiHostPage::board(int ranks) const {
  return StatusBoard(window_->data() + board_offset(processes()), ranks);
}

bool MpiHostPage::claim_printing(int process) const {
  int nobody = 0;
  return head_->printer.compare_exchange_strong(nobody, process + 1) || nobody == process + 1;
}

void MpiHostPage::note_exit_code(int code) const {
  int none = 0;
  head_->exit_code.compare_exchange_strong(none, code);
}

}  // namespace lockstep
