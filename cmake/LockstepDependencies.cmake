# Every library that Lockstep builds on; docs/dependencies.md says why each is here.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

if(LOCKSTEP_MPI)
  find_package(MPI COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    message(WARNING "No MPI library: building without the mpi world (-DLOCKSTEP_MPI=OFF says so)")
    set(LOCKSTEP_MPI OFF)
  endif()
endif()
if(LOCKSTEP_SIM)
  pkg_check_modules(SIMGRID IMPORTED_TARGET simgrid)
  if(NOT SIMGRID_FOUND)
    message(WARNING "No SimGrid: building without the sim world (-DLOCKSTEP_SIM=OFF says so)")
    set(LOCKSTEP_SIM OFF)
  endif()
endif()

# Torch's package sets global flags and lists CUDA's languages; only its libraries and headers are
# wanted, as system headers so that its warnings stay its own.
if(LOCKSTEP_TORCH)
  find_package(Torch REQUIRED)
  find_package(mimalloc REQUIRED)
  # at::parallel_for is a header that runs on one thread unless compiled with OpenMP.
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  add_library(lockstep_libtorch INTERFACE)
  target_link_libraries(lockstep_libtorch INTERFACE ${TORCH_LIBRARIES} OpenMP::OpenMP_CXX)
  target_include_directories(lockstep_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
endif()
