#include "tests/io/files.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace krill::test {
namespace fs = std::filesystem;

namespace {

void write_archive(const fs::path& path, Packing packing, bool tar,
                   const std::vector<std::pair<std::string, std::string>>& members) {
  archive* a = archive_write_new();
  switch (packing) {
    case Packing::none:
      break;
    case Packing::gzip:
      archive_write_add_filter_gzip(a);
      break;
    case Packing::bzip2:
      archive_write_add_filter_bzip2(a);
      break;
    case Packing::xz:
      archive_write_add_filter_xz(a);
      break;
    case Packing::lzma:
      archive_write_add_filter_lzma(a);
      break;
    case Packing::zstd:
      archive_write_add_filter_zstd(a);
  }
  tar ? archive_write_set_format_pax_restricted(a) : archive_write_set_format_raw(a);
  archive_write_set_bytes_in_last_block(a, 1);
  bool fine = archive_write_open_filename(a, path.c_str()) == ARCHIVE_OK;
  for (const auto& [name, text] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0755);
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    fine = fine && archive_write_header(a, entry) == ARCHIVE_OK &&
           archive_write_data(a, text.data(), text.size()) == static_cast<la_ssize_t>(text.size());
    archive_entry_free(entry);
  }
  fine = archive_write_close(a) == ARCHIVE_OK && fine;
  archive_write_free(a);
  if (!fine) throw std::runtime_error("cannot pack " + path.string());
}

}  // namespace

Folder::Folder() {
  std::string name = fs::temp_directory_path() / "krill_test_XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder for tests");
  folder_ = name;
}
Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}
std::size_t Folder::files() const {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void pack(const fs::path& path, Packing packing, const std::string& text) {
  write_archive(path, packing, false, {{"text", text}});
}
void pack_tar(const fs::path& path, Packing packing, const std::vector<std::pair<std::string, std::string>>& members) {
  write_archive(path, packing, true, members);
}

fs::path matrices_folder() {
  const char* named = std::getenv("KRILL_MATRICES");
  const fs::path folder = named ? named : "../shared/matrices";  // tests run in the project's root
  return fs::is_directory(folder) ? folder : fs::path();
}

}  // namespace krill::test
