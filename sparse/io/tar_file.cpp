#include "sparse/io/tar_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill {
namespace {

struct ReleaseWriter {
  void operator()(archive* a) const { archive_write_free(a); }
};
struct ReleaseEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

using AddFilter = int (*)(archive*);
constexpr std::array<std::pair<std::string_view, AddFilter>, 5> endings{{{".tar", archive_write_add_filter_none},
                                                                         {".tar.gz", archive_write_add_filter_gzip},
                                                                         {".tgz", archive_write_add_filter_gzip},
                                                                         {".tar.xz", archive_write_add_filter_xz},
                                                                         {".tar.zst", archive_write_add_filter_zstd}}};

AddFilter filter_of(const std::filesystem::path& path) {
  for (const auto& [ending, filter] : endings)
    if (path.string().ends_with(ending)) return filter;
  return nullptr;
}

}  // namespace

bool names_tar_archive(const std::filesystem::path& path) { return filter_of(path) != nullptr; }

struct TarFile::Body {
  explicit Body(std::filesystem::path path) : target(std::move(path)), file(target), writer(archive_write_new()) {}

  void require_success(int status) {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    if (failure) throw WriteError(*failure);
    const char* reason = archive_error_string(writer.get());
    throw WriteError(fmt::format("{}: cannot be written: {}", target.string(), reason ? reason : "unknown reason"));
  }
  static la_ssize_t write(archive* a, void* self, const void* bytes, std::size_t size) {
    auto& mine = *static_cast<Body*>(self);
    try {
      mine.file.write({static_cast<const char*>(bytes), size});
      return static_cast<la_ssize_t>(size);
    } catch (const Error& error) {  // no exception passes through the library
      mine.failure = error.what();
      archive_set_error(a, EIO, "%s", error.what());
      return -1;
    }
  }

  std::filesystem::path target;
  AtomicFile file;
  std::optional<std::string> failure;
  std::unique_ptr<archive, ReleaseWriter> writer;  // before the file it goes, which it writes to
};

TarFile::TarFile(const std::filesystem::path& target) : body_(std::make_unique<Body>(target)) {
  archive* writer = body_->writer.get();
  const AddFilter filter = filter_of(target);
  body_->require_success((filter ? filter : archive_write_add_filter_none)(writer));
  archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr);
  body_->require_success(archive_write_set_format_pax_restricted(writer));
  archive_write_set_bytes_in_last_block(writer, 1);  // no padding, which decompressors take for more data
  body_->require_success(archive_write_open(writer, body_.get(), nullptr, Body::write, nullptr));
}
TarFile::~TarFile() = default;

void TarFile::add(const std::string& name, std::string_view text) {
  const std::unique_ptr<archive_entry, ReleaseEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  body_->require_success(archive_write_header(body_->writer.get(), entry.get()));
  const la_ssize_t written = archive_write_data(body_->writer.get(), text.data(), text.size());
  body_->require_success(std::cmp_equal(written, text.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
}

void TarFile::commit() {
  body_->require_success(archive_write_close(body_->writer.get()));
  body_->file.commit();
}

}  // namespace krill
