#include "lockstep/transport/mpi_native.h"

#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_transport.h"

namespace lockstep {

bool mpi_allreduce(Transport& transport, std::span<float> values, MpiNativeOp op) {
  auto* const mpi = dynamic_cast<MpiTransport*>(&transport);
  if (mpi == nullptr) return false;
  LOCKSTEP_CHECK(values.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                 "{} values", values.size());
  const MPI_Op native = op == MpiNativeOp::kSum   ? MPI_SUM
                        : op == MpiNativeOp::kMax ? MPI_MAX
                                                  : MPI_MIN;
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT,
                          native, mpi->comm()),
            "MPI_Allreduce");
  return true;
}

}  // namespace lockstep
