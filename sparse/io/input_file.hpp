// Input files in memory, unpacked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sparse/io/buffer.hpp"

namespace krill {

/// A file, or a member of an archive, in memory.
struct InputFile {
  InputFile() = default;
  InputFile(std::string file_name, std::string_view contents)
      : name(std::move(file_name)), text(contents.begin(), contents.end()) {}

  std::string_view view() const { return {text.data(), text.size()}; }

  std::string name;  ///< for messages: the path, and for a member of an archive "path(member)"
  Buffer<char> text;
  bool complete = true;           ///< false where reading ended at the limit
  std::int64_t lines_before = 0;  ///< of a part of a file, for messages
};

/// The matrix of a file and, where it is an archive that holds one, the right-hand side.
struct InputBundle {
  InputFile matrix;
  std::vector<InputFile> rhs;  ///< one or none
};

/// A member of a tar archive, as messages call it and as a name may ask for it: "steps.tar.gz(A_01.mtx)". A name that
/// is none, and that of a file that is there, is the file itself, without a member.
struct MemberName {
  std::filesystem::path file;
  std::string member;

  explicit MemberName(const std::filesystem::path&);
};

/// Reads a file that is plain or packed with gzip, bzip2, xz, lzma or zstd, or a tar archive as the SuiteSparse
/// collection has them: its member NAME/NAME.mtx (.rb, .rua, ...), or the only member of such a kind, is the matrix,
/// and NAME_b.mtx the right-hand side; of an archive of several the one that is asked for (MemberName). The contents
/// decide how a file is packed, not its name. With a limit other than 0, reading ends after so many bytes of the
/// matrix, without the right-hand side.
///
/// A plain file is read in parallel. Raises Error for a file that is missing, empty, a folder, unreadable or damaged,
/// and OutOfMemory where the text would not fit. Sizes that a header claims are checked before anything is allocated.
InputBundle read_input(const std::filesystem::path&, std::size_t limit = 0);

/// Bytes [begin, end) of a file, as they lie there. In parallel. Raises Error where they cannot be read, and
/// OutOfMemory.
InputFile read_bytes(const std::filesystem::path&, std::size_t begin, std::size_t end);

/// The names of the matrices of a tar archive, as read_input takes them, in the order of the archive, by their
/// extension and without right-hand sides (NAME_b.mtx); none where the file is no archive. Raises as read_input.
std::vector<std::string> matrices_in_archive(const std::filesystem::path&);

/// Calls f with the matrix files of a tar archive, by their extension, in the order of the archive, one at a time in
/// memory, until it returns false. Raises as read_input, and where the file is no archive.
void for_each_matrix_file(const std::filesystem::path&, const std::function<bool(InputFile)>& f);

}  // namespace krill
