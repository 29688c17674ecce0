# How a folder of lockstep/ becomes a library and how a program takes several of them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these ccache passes by every file that has a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${LOCKSTEP_CCACHE})
endif()

add_library(lockstep_flags INTERFACE)
# Contracting a*b+c to one rounding would make results depend on the instruction set. A square root
# that may set errno cannot be vectorised: Adam would take several times as long.
target_compile_options(lockstep_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  -Wnon-virtual-dtor -Woverloaded-virtual -ffp-contract=off -fno-math-errno)
if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_flags INTERFACE -Werror)
endif()
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_flags INTERFACE
    -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
  target_compile_definitions(lockstep_flags INTERFACE LOCKSTEP_SANITIZED=1)
  # ThreadSanitizer takes no account of fences. Ours only order a store before a load (Doorbell);
  # no data is handed over by them, so nothing it reports depends on them.
  if(LOCKSTEP_SANITIZE STREQUAL "thread")
    target_compile_options(lockstep_flags INTERFACE -Wno-tsan)
  endif()
endif()

if(LOCKSTEP_FUZZ)
  target_compile_options(lockstep_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Parses cmake/precompiled.h for all others. A compiler takes the result only where every macro it
# was made with is defined: so this has no more of them than any.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cc CONTENT "")
add_library(lockstep_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(lockstep_precompiled PRIVATE lockstep_flags fmt::fmt)
target_precompile_headers(lockstep_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)

# lockstep_library(<folder> [SOURCES ...] [USES folders ...] [PRECOMPILE headers ...]): every .cc of
# the folder, or SOURCES; with headers of its own precompiled, or cmake/precompiled.h.
# Objects, not an archive: a linker would drop files from an archive that only register themselves.
function(lockstep_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRECOMPILE" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  endif()
  add_library(lockstep_${folder} OBJECT ${ARG_SOURCES})
  target_include_directories(lockstep_${folder} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(lockstep_${folder} PUBLIC lockstep_flags fmt::fmt)
  foreach(used ${ARG_USES})
    target_link_libraries(lockstep_${folder} PUBLIC lockstep_${used})
  endforeach()
  if(ARG_PRECOMPILE)
    target_precompile_headers(lockstep_${folder} PRIVATE ${ARG_PRECOMPILE})
  else()
    target_precompile_headers(lockstep_${folder} REUSE_FROM lockstep_precompiled)
  endif()
  set_property(TARGET lockstep_${folder} PROPERTY LOCKSTEP_USES "${ARG_USES}")
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_FOLDERS ${folder})
endfunction()

# lockstep_use(<target> folders ...): links the folders and whatever they use.
function(lockstep_use target)
  set(todo ${ARGN})
  set(seen "")
  while(todo)
    list(POP_FRONT todo folder)
    if(NOT folder IN_LIST seen)
      list(APPEND seen ${folder})
      get_target_property(uses lockstep_${folder} LOCKSTEP_USES)
      if(uses)
        list(APPEND todo ${uses})
      endif()
      target_link_libraries(${target} PRIVATE lockstep_${folder})
    endif()
  endwhile()
endfunction()
