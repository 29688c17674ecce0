// What the environment tells about who started this program.
#include <array>
#include <cstdlib>

#include "lockstep/transport/mpi_session.h"

namespace lockstep {
namespace {

// Open MPI; PMIx launchers; MPICH and Intel MPI; Cray. Slurm sets SLURM_PROCID in batch scripts
// too, so there the step's number of tasks must be there as well.
constexpr std::array kRankNames{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "ALPS_APP_PE"};

const char* rank_text() {
  for (const char* const name : kRankNames) {
    if (const char* const text = std::getenv(name)) return text;
  }
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks == nullptr || std::atoi(tasks) < 2) return nullptr;
  return std::getenv("SLURM_PROCID");
}

}  // namespace

bool started_by_mpi() {
  return rank_text() != nullptr;
}

int launched_rank() {
  const char* const text = rank_text();
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace lockstep
