// A thread beside a rank, with a transport of its own on the same communicators.
#pragma once

#include <exception>
#include <functional>
#include <thread>

#include "lockstep/transport/mpi_run.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class MpiCompanion : public Companion {
 public:
  MpiCompanion(MpiRun& run, std::function<void(Transport&)> body);
  ~MpiCompanion() override;
  void join() override;

 private:
  MpiRun& run_;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace lockstep
