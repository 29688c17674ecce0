# `cmake --install`: the program, one shared library of all folders, the headers, and the package
# that find_package(lockstep) finds. One library of objects, so that nothing that only registers
# itself is left out.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY LOCKSTEP_FOLDERS)
add_library(lockstep_whole SHARED)
lockstep_use(lockstep_whole ${folders})
target_compile_features(lockstep_whole INTERFACE cxx_std_20)
target_link_libraries(lockstep_whole INTERFACE fmt::fmt Boost::headers Threads::Threads)
set_target_properties(lockstep_whole PROPERTIES OUTPUT_NAME lockstep EXPORT_NAME lockstep
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS lockstep_whole EXPORT lockstepTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION ${package})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lockstep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lockstepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake DESTINATION ${package})
