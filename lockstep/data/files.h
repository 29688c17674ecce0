// Whole files: read at once, plain or gzip, and written so that nobody ever sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

using FileBytes = std::vector<std::uint8_t>;

// Size of a regular file; a DataError that names it if there is none.
std::uint64_t size_of_file(const std::filesystem::path& path);
// A DataError that names the file if it cannot be read.
FileBytes read_file(const std::filesystem::path& path);
// A gzip file is unpacked; more than `most` bytes are refused, so that a small file cannot fill the
// memory.
FileBytes read_gzip_or_plain(const std::filesystem::path& path, std::size_t most);

// The parts one after the other, under a temporary name first; a DataError leaves nothing behind.
void write_file(const std::filesystem::path& path,
                std::initializer_list<std::span<const std::uint8_t>> parts);

std::string sha256(std::span<const std::uint8_t> bytes);  // 64 hexadecimal digits

}  // namespace lockstep
