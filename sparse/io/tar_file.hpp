// Tar archives, plain or compressed.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace krill {

/// Whether the name is that of a tar archive: .tar, .tar.gz, .tgz, .tar.xz, .tar.zst.
bool names_tar_archive(const std::filesystem::path&);

/// A tar archive that appears whole or not at all, compressed as its name says. The same members give the same bytes:
/// they have no time, no owner. Every function raises Error that names the file and the reason.
class TarFile {
 public:
  explicit TarFile(const std::filesystem::path& target);
  ~TarFile();
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;

  void add(const std::string& name, std::string_view text);
  void commit();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill
