#include "sparse/io/input_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sparse/core/error.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/numbers.hpp"

namespace krill {
namespace fs = std::filesystem;

namespace {

struct Release {
  void operator()(archive* a) const { archive_read_free(a); }
};

/// Unpacks a gzip file for libarchive by zlib, which compares its checksums and lengths; libarchive does not.
class GzipFile {
 public:
  GzipFile(const fs::path& path, std::size_t block_bytes) : file_(gzopen(path.c_str(), "rb")), block_(block_bytes) {
    if (file_) gzbuffer(file_.get(), static_cast<unsigned>(block_bytes));
  }

  static bool is_one(const fs::path& path) {
    std::array<char, 2> magic{};
    std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
    return magic == std::array{'\x1f', '\x8b'};
  }

  int open(archive* a) { return archive_read_open(a, this, nullptr, next_block, nullptr); }
  /// What stands behind the end of a tar archive, too: the checksum comes last.
  int read_to_end(archive* a) {
    const void* block = nullptr;
    la_ssize_t bytes = 1;
    while (bytes > 0) bytes = next_block(a, this, &block);
    return bytes == 0 ? ARCHIVE_OK : ARCHIVE_FATAL;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  static la_ssize_t next_block(archive* a, void* self, const void** block) {
    auto& mine = *static_cast<GzipFile*>(self);
    if (!mine.file_) return fail(a, "it cannot be opened");
    *block = mine.block_.data();
    const int bytes = gzread(mine.file_.get(), mine.block_.data(), static_cast<unsigned>(mine.block_.size()));
    int error = Z_OK;
    const char* reason = gzerror(mine.file_.get(), &error);
    return bytes < 0 || (bytes == 0 && error != Z_OK && error != Z_STREAM_END) ? fail(a, reason) : bytes;
  }
  static la_ssize_t fail(archive* a, const char* reason) {
    archive_set_error(a, EIO, "%s", reason);
    return -1;
  }

  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> block_;
};

void reserve(InputFile& file, std::size_t bytes) {
  require_memory("the text of " + file.name, bytes);
  file.text.reserve(bytes);
}

bool read_at(int descriptor, char* to, std::size_t bytes, std::size_t offset) {
  while (bytes > 0) {
    const ssize_t read = ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    to += read, offset += static_cast<std::size_t>(read), bytes -= static_cast<std::size_t>(read);
  }
  return true;
}

/// The members of a file in turn; a file that is no archive has one member, itself.
class Members {
 public:
  explicit Members(fs::path path) : path_(std::move(path)), archive_(archive_read_new()) {
    if (!archive_) throw OutOfMemory("reading " + path_.string(), block_bytes, available_memory());
    archive_read_support_filter_bzip2(archive_.get());
    archive_read_support_filter_xz(archive_.get());
    archive_read_support_filter_lzma(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
    archive_read_support_format_tar(archive_.get());
    archive_read_support_format_raw(archive_.get());
    archive_read_support_format_empty(archive_.get());
    if (GzipFile::is_one(path_)) gzip_.emplace(path_, block_bytes);
    require_success(gzip_ ? gzip_->open(archive_.get())
                          : archive_read_open_filename(archive_.get(), path_.c_str(), block_bytes));
  }

  /// False behind the last member, and then all of the file was read and its checksums were right.
  bool next() {
    const int status = archive_read_next_header(archive_.get(), &entry_);
    if (status == ARCHIVE_EOF) {
      if (gzip_) require_success(gzip_->read_to_end(archive_.get()));
      return false;
    }
    require_success(status);
    return true;
  }
  bool in_archive() const { return (archive_format(archive_.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR; }
  bool is_file() const { return !in_archive() || archive_entry_filetype(entry_) == AE_IFREG; }
  fs::path name() const {
    const char* name = archive_entry_pathname(entry_);
    return name ? name : "";
  }

  /// The member in hand, up to `limit` bytes of it (0: whole).
  InputFile read(std::size_t limit) {
    InputFile file(in_archive() ? fmt::format("{}({})", path_.string(), visible(name().string())) : path_.string(), {});
    if (is_packed() || limit > 0)
      unpack(file, limit);
    else
      return read_bytes(path_, 0, fs::file_size(path_));
    return file;
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 18;

  void require_success(int status) {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    const char* reason = archive_error_string(archive_.get());
    throw Error(
        fmt::format("{}: the file cannot be read: {}\n  check that it may be read and that it is whole (plain, "
                    "gz, bz2, xz, zst, or one of these around a tar archive)",
                    path_.string(), reason ? reason : "unknown reason"));
  }
  bool is_packed() const {
    return gzip_ || in_archive() || archive_filter_code(archive_.get(), 0) != ARCHIVE_FILTER_NONE;
  }

  void unpack(InputFile& file, std::size_t limit) {
    const void* block = nullptr;
    std::size_t bytes = 0;
    for (la_int64_t offset = 0; next_block(&block, &bytes, &offset);) {
      if (std::cmp_not_equal(offset, file.text.size()))
        throw Error(file.name + ": the archive stores this file with holes\n  pack it without the option --sparse");
      if (file.text.size() + bytes > file.text.capacity())
        reserve(file, std::max(file.text.size() + bytes, file.text.capacity() / 2 * 3));
      const auto* text = static_cast<const char*>(block);
      file.text.insert(file.text.end(), text, text + bytes);
      if (limit > 0 && file.text.size() >= limit) {
        file.complete = false;
        break;
      }
    }
  }

  bool next_block(const void** block, std::size_t* bytes, la_int64_t* offset) {
    const int status = archive_read_data_block(archive_.get(), block, bytes, offset);
    if (status == ARCHIVE_EOF) return false;
    require_success(status);
    return true;
  }
  fs::path path_;
  std::optional<GzipFile> gzip_;
  std::unique_ptr<archive, Release> archive_;
  archive_entry* entry_ = nullptr;
};

/// ".mtx", ".rb", and the three letters of Harwell-Boeing files: ".rua", ".psa", ...
bool has_matrix_extension(const fs::path& name) {
  std::string extension = name.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view values = "rcpiq", structures = "ushzr";
  return extension == ".mtx" || extension == ".rb" ||
         (extension.size() == 4 && values.find(extension[1]) != values.npos &&
          structures.find(extension[2]) != structures.npos && extension[3] == 'a');
}
bool is_rhs(const fs::path& name) { return name.extension() == ".mtx" && name.stem().string().ends_with("_b"); }
bool is_named_as_its_folder(const fs::path& name) {
  return has_matrix_extension(name) && name.stem() == name.parent_path().filename();
}

void require_regular_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(fmt::format("{}: the file cannot be read: {}\n  check the name and the folder", path.string(),
                            error ? error.message() : std::generic_category().message(ENOENT)));
  if (fs::is_directory(status))
    throw Error(fmt::format("{}: this is a folder, not a file\n  give the name of a matrix file in it", path.string()));
  if (!fs::is_regular_file(status))
    throw Error(
        fmt::format("{}: this is a device or a pipe, not a file\n  save its contents to a file first", path.string()));
}

struct Archived {
  InputBundle bundle;
  bool found = false;
  std::vector<std::string> candidates;  // members that may be the matrix, by their extension
};

/// One pass over the file. `is_matrix` decides on the members of an archive; what is no archive is the matrix. Where
/// the stem of its name is known, other right-hand sides than its own are not read.
Archived search(const fs::path& path, std::size_t limit, const std::function<bool(const fs::path&)>& is_matrix,
                const std::string& known_stem = {}) {
  Archived result;
  std::vector<std::pair<std::string, InputFile>> sides;  // right-hand sides by the name of their matrix
  std::string matrix_stem;
  for (Members members(path); members.next();) {
    const fs::path name = members.name();
    if (!members.is_file()) continue;
    if (!members.in_archive() || (!result.found && is_matrix(name))) {
      result.bundle.matrix = members.read(limit);
      result.found = true;
      matrix_stem = name.stem().string();
      if (limit > 0) return result;
    } else if (is_rhs(name)) {
      if (limit == 0 && (known_stem.empty() || name.stem() == known_stem + "_b"))
        sides.emplace_back(name.stem().string(), members.read(0));
    } else if (has_matrix_extension(name)) {
      result.candidates.push_back(name.string());
    }
  }
  for (auto& [stem, file] : sides)
    if (stem == matrix_stem + "_b" && result.bundle.rhs.empty()) result.bundle.rhs.push_back(std::move(file));
  return result;
}

}  // namespace

InputFile read_bytes(const fs::path& path, std::size_t begin, std::size_t end) {
  InputFile file(path.string(), {});
  const std::size_t size = end - begin;
  reserve(file, size);
  file.text.resize(size);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr std::size_t piece = std::size_t{1} << 22;
  bool complete = descriptor >= 0;
#pragma omp parallel for schedule(dynamic) reduction(&& : complete) if (size > 2 * piece)
  for (std::size_t at = 0; at < size; at += piece)
    complete = complete && read_at(descriptor, file.text.data() + at, std::min(piece, size - at), begin + at);
  if (descriptor >= 0) ::close(descriptor);
  if (!complete)
    throw Error(fmt::format("{}: the file cannot be read, or changed while it was read\n  try again", file.name));
  return file;
}

MemberName::MemberName(const fs::path& path) : file(path) {
  const std::string name = path.string();
  std::error_code ignored;
  if (!name.ends_with(')') || fs::exists(path, ignored)) return;
  for (std::size_t open = name.find('('); open != name.npos; open = name.find('(', open + 1))
    if (fs::is_regular_file(name.substr(0, open), ignored)) {
      file = name.substr(0, open), member = name.substr(open + 1, name.size() - open - 2);
      return;
    }
}

/// The member that was asked for.
static InputBundle read_member(const MemberName& asked, std::size_t limit) {
  Archived result = search(
      asked.file, limit, [&](const fs::path& name) { return name == asked.member; },
      fs::path(asked.member).stem().string());
  const std::string file = asked.file.string();
  if (!result.found)
    throw Error(fmt::format("{}: the archive has no member {}\n  it holds {}", file, visible(asked.member),
                            result.candidates.empty() ? "no matrix" : visible(result.candidates.front()) + ", ..."));
  if (result.bundle.matrix.name == file)
    throw Error(fmt::format("{}: this is no archive\n  leave out ({})", file, visible(asked.member)));
  if (result.bundle.matrix.text.empty())
    throw Error(fmt::format("{}: this member is empty\n  check how the archive was made", result.bundle.matrix.name));
  return std::move(result.bundle);
}

InputBundle read_input(const fs::path& path, std::size_t limit) {
  if (const MemberName asked(path); !asked.member.empty()) return read_member(asked, limit);
  require_regular_file(path);
  Archived result = search(path, limit, is_named_as_its_folder);
  if (!result.found && result.candidates.size() == 1)
    result = search(path, limit, [only = result.candidates[0]](const fs::path& name) { return name == only; });
  std::ranges::transform(result.candidates, result.candidates.begin(), visible);
  if (!result.found && !result.candidates.empty())
    throw Error(fmt::format(
        "{}: the archive holds {} matrices and none is named as its folder: {}\n  name one of "
        "them, as {}({}); systems of one size that are tridiagonal or pentadiagonal are solved together by "
        "matrix: {{batch: FILE}}",
        path.string(), result.candidates.size(),
        fmt::join(result.candidates.begin(),
                  result.candidates.begin() + std::min<std::ptrdiff_t>(5, std::ssize(result.candidates)), ", "),
        path.string(), result.candidates.front()));
  if (!result.found || result.bundle.matrix.text.empty())
    throw Error(
        fmt::format("{}: there is no matrix in this file: it is empty, or an archive without a matrix file\n"
                    "  expected a matrix file, or a tar archive with NAME/NAME.mtx in it\n"
                    "  check how the file was made, or fetch it again",
                    path.string()));
  return std::move(result.bundle);
}

std::vector<std::string> matrices_in_archive(const fs::path& path) {
  require_regular_file(path);
  std::vector<std::string> names;
  for (Members members(path); members.next();)
    if (members.in_archive() && members.is_file() && has_matrix_extension(members.name()) && !is_rhs(members.name()))
      names.push_back(fmt::format("{}({})", path.string(), members.name().string()));
  return names;
}

void for_each_matrix_file(const fs::path& path, const std::function<bool(InputFile)>& f) {
  require_regular_file(path);
  for (Members members(path); members.next();) {
    if (!members.in_archive())
      throw Error(
          fmt::format("{}: this is no archive\n  a batch is a tar archive of matrix files, plain or compressed; "
                      "one matrix is read by matrix: {{file: {}}}",
                      path.string(), path.string()));
    if (members.is_file() && has_matrix_extension(members.name()) && !f(members.read(0))) return;
  }
}

}  // namespace krill
