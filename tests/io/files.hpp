// Files for tests, in a folder that goes when the test ends.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace krill::test {

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  std::size_t files() const;  ///< in it at present

 private:
  std::filesystem::path folder_;
};

std::string read_text(const std::filesystem::path&);

enum class Packing { none, gzip, bzip2, xz, lzma, zstd };

/// A packed file; a tar archive of several members where they have names.
void pack(const std::filesystem::path&, Packing, const std::string& text);
void pack_tar(const std::filesystem::path&, Packing, const std::vector<std::pair<std::string, std::string>>& members);

/// The folder of real matrices: KRILL_MATRICES, or the default beside the project; empty where there is none.
std::filesystem::path matrices_folder();

/// What f() throws as an E, or "" where it throws nothing; other exceptions pass.
template <class E, class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

}  // namespace krill::test
