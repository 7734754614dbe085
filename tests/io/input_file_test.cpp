#include "sparse/io/input_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "sparse/core/error.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/host_memory.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

constexpr Packing packings[] = {Packing::none, Packing::gzip, Packing::bzip2,
                                Packing::xz,   Packing::lzma, Packing::zstd};

std::string long_text(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += std::to_string(i % 1000 * 2654435761u) + "\n";
  return text;
}

std::string text_of(const std::filesystem::path& path) { return std::string(read_input(path).matrix.view()); }
std::string damage(const std::filesystem::path& path) {
  return thrown<Error>([&] { read_input(path); });
}

TEST(InputFile, unpacks_by_content_whatever_the_name) {
  const Folder folder;
  const std::string text = long_text(50'000);
  for (const Packing packing : packings) {
    pack(folder.path("matrix.mtx"), packing, text);
    EXPECT_EQ(text_of(folder.path("matrix.mtx")), text) << static_cast<int>(packing);
  }
}

TEST(InputFile, reads_large_plain_files_whole) {
  const Folder folder;
  const std::string text = long_text(2'000'000);  // several of the pieces that threads read
  EXPECT_EQ(text_of(folder.write("large", text)), text);
}

TEST(InputFile, takes_matrix_and_rhs_out_of_a_collection_archive) {
  const Folder folder;
  for (const Packing packing : packings) {
    const auto path = folder.path("A.tar.gz");
    pack_tar(path, packing,
             {{"A/", ""}, {"A/A_b.mtx", "rhs"}, {"A/A_coord.mtx", "no"}, {"A/A.mtx", "matrix"}, {"A/B_b.mtx", "no"}});
    const InputBundle files = read_input(path);
    EXPECT_EQ(files.matrix.view(), "matrix");
    EXPECT_EQ(files.matrix.name, path.string() + "(A/A.mtx)");
    ASSERT_EQ(files.rhs.size(), 1u);
    EXPECT_EQ(files.rhs[0].view(), "rhs");
  }
}

/// A file's bytes, damaged, are refused or unpack to what they were: checksums and lengths are compared.
void expect_no_damage_passes(const std::filesystem::path& path, const std::string& text) {
  const std::string whole = read_text(path);
  const auto check = [&](const std::string& damaged, const std::string& how) {
    std::ofstream(path, std::ios::binary) << damaged;
    std::string found = text;
    try {
      found = text_of(path);
    } catch (const Error&) {
    }
    ASSERT_EQ(found, text) << how << " of " << path;
  };
  for (std::size_t at = 2; at < whole.size(); ++at) {  // the first two say that it is gzip
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    check(damaged, "flipped bit in byte " + std::to_string(at));
  }
  for (std::size_t bytes = 2; bytes < whole.size(); ++bytes)
    check(whole.substr(0, bytes), "the first " + std::to_string(bytes) + " bytes");
}

TEST(InputFile, refuses_damaged_gzip) {
  const Folder folder;
  const std::string text = long_text(200);
  pack(folder.path("A.mtx.gz"), Packing::gzip, text);
  expect_no_damage_passes(folder.path("A.mtx.gz"), text);
}

TEST(InputFile, refuses_a_damaged_gzipped_archive) {
  const Folder folder;
  const std::string text = long_text(200);
  pack_tar(folder.path("A.tar.gz"), Packing::gzip, {{"A/A.mtx", text}, {"A/README", long_text(20)}});
  expect_no_damage_passes(folder.path("A.tar.gz"), text);
}

TEST(InputFile, says_why_gzip_is_damaged) {
  const Folder folder;
  const auto path = folder.path("A.mtx.gz");
  pack(path, Packing::gzip, long_text(200));
  const std::string whole = read_text(path);
  folder.write("A.mtx.gz", whole.substr(0, whole.size() - 4));
  EXPECT_NE(damage(path).find("unexpected end of file"), std::string::npos) << damage(path);
  std::string damaged = whole;
  damaged[whole.size() - 8] ^= 1;
  folder.write("A.mtx.gz", damaged);
  EXPECT_NE(damage(path).find("incorrect data check"), std::string::npos) << damage(path);
}

TEST(InputFile, takes_the_only_matrix_of_another_archive) {
  const Folder folder;
  pack_tar(folder.path("t"), Packing::gzip, {{"README", "no"}, {"west.rua", "matrix"}});
  EXPECT_EQ(text_of(folder.path("t")), "matrix");
}

TEST(InputFile, names_the_choice_in_an_ambiguous_archive) {
  const Folder folder;
  pack_tar(folder.path("t"), Packing::none, {{"a.mtx", "1"}, {"b.rb", "2"}});
  EXPECT_EQ(
      damage(folder.path("t")),
      folder.path("t").string() +
          ": the archive holds 2 matrices and none is named as its folder: a.mtx, b.rb\n"
          "  name one of them, as " +
          folder.path("t").string() +
          "(a.mtx); systems of one size that are tridiagonal or pentadiagonal are solved together by matrix: {batch: "
          "FILE}");
}

TEST(InputFile, takes_the_member_that_is_asked_for) {
  const Folder folder;
  const auto path = folder.path("steps.tar");
  const std::string archive = path.string();
  for (const Packing packing : packings) {
    pack_tar(
        path, packing,
        {{"s/1_b.mtx", "b of 1"}, {"s/1.mtx", "first"}, {"s/2.mtx", "second"}, {"s/2_b.mtx", "b of 2"}, {"s/n", ""}});
    EXPECT_EQ(matrices_in_archive(path), (std::vector<std::string>{archive + "(s/1.mtx)", archive + "(s/2.mtx)"}));
    const InputBundle second = read_input(archive + "(s/2.mtx)");
    EXPECT_EQ(second.matrix.view(), "second");
    EXPECT_EQ(second.matrix.name, archive + "(s/2.mtx)");
    ASSERT_EQ(second.rhs.size(), 1u);
    EXPECT_EQ(second.rhs[0].view(), "b of 2");
    EXPECT_EQ(read_input(archive + "(s/1.mtx)").rhs.at(0).view(), "b of 1");
    EXPECT_EQ(text_of(archive + "(s/1_b.mtx)"), "b of 1");
  }
  EXPECT_EQ(damage(archive + "(s/3.mtx)"), archive + ": the archive has no member s/3.mtx\n  it holds s/1.mtx, ...");
  EXPECT_EQ(damage(archive + "(s/n)"), archive + "(s/n): this member is empty\n  check how the archive was made");
  const std::string plain = folder.write("plain.mtx", "text").string();
  EXPECT_EQ(damage(plain + "(x)"), plain + ": this is no archive\n  leave out (x)");
  EXPECT_EQ(matrices_in_archive(plain), std::vector<std::string>());
  EXPECT_NE(damage(folder.path("none.tar(x)")).find("none.tar(x): the file cannot be read"), std::string::npos);
  // The name of a file that is there is that file.
  EXPECT_EQ(text_of(folder.write("plain.mtx(x)", "itself")), "itself");
}

TEST(InputFile, ends_at_the_limit) {
  const Folder folder;
  const std::string text = long_text(100'000);
  for (const Packing packing : packings) {
    pack(folder.path("m"), packing, text);
    const InputFile head = read_input(folder.path("m"), 1000).matrix;
    EXPECT_FALSE(head.complete);
    EXPECT_GE(head.view().size(), 1000u);
    EXPECT_LT(head.view().size(), text.size());
    EXPECT_TRUE(text.starts_with(head.view()));
  }
  EXPECT_TRUE(read_input(folder.write("short", "a\n"), 1000).matrix.complete);
}

TEST(InputFile, says_why_a_file_cannot_be_read) {
  const Folder folder;
  EXPECT_EQ(damage(folder.path("none")), folder.path("none").string() +
                                             ": the file cannot be read: No such file or directory\n"
                                             "  check the name and the folder");
  EXPECT_NE(damage(folder.path("")).find("this is a folder, not a file"), std::string::npos);
  EXPECT_NE(damage("/dev/null").find("a device or a pipe"), std::string::npos);
  if (geteuid() != 0) {
    const auto path = folder.write("secret", "text");
    std::filesystem::permissions(path, std::filesystem::perms::none);
    EXPECT_NE(damage(path).find("Permission denied"), std::string::npos) << damage(path);
  }
}

TEST(InputFile, refuses_empty_files_and_archives) {
  const Folder folder;
  EXPECT_NE(damage(folder.write("empty", "")).find("there is no matrix in this file"), std::string::npos);
  for (const Packing packing : packings) {
    pack(folder.path("packed"), packing, "");
    EXPECT_NE(damage(folder.path("packed")).find("there is no matrix"), std::string::npos) << static_cast<int>(packing);
    pack_tar(folder.path("tar"), packing, {{"README", "text"}});
    EXPECT_NE(damage(folder.path("tar")).find("there is no matrix"), std::string::npos) << static_cast<int>(packing);
  }
}

TEST(InputFile, refuses_damaged_archives_and_never_crashes) {
  const Folder folder;
  const std::string text = long_text(20'000);
  for (const Packing packing : packings) {
    if (packing == Packing::none) continue;
    pack(folder.path("m"), packing, text);
    const std::string packed = read_text(folder.path("m"));
    EXPECT_NE(damage(folder.write("cut", packed.substr(0, packed.size() / 2))), "") << static_cast<int>(packing);
    for (std::size_t at = 0; at < packed.size(); at += packed.size() / 50) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      thrown<Error>([&] { read_input(folder.write("damaged", damaged)); });
    }
  }
}

TEST(Checksum, is_xxh64) {  // the values of the reference program, xxh64sum
  EXPECT_EQ(xxh64(""), 0xef46db3751d8e999);
  EXPECT_EQ(xxh64("a"), 0xd24ec4f1a98c6e5b);
  EXPECT_EQ(xxh64("abc"), 0x44bc2cf5ad770999);
  EXPECT_EQ(xxh64("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1);
  EXPECT_EQ(checksum("abc"), "xxh64:44bc2cf5ad770999");
}

TEST(HostMemory, refuses_what_does_not_fit) {
  EXPECT_GT(available_memory(), 1u << 20);
  require_memory("little", 1000);
  try {
    require_memory("a matrix", std::size_t{1} << 60);
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_EQ(e.asked, std::size_t{1} << 60);
    EXPECT_NE(std::string(e.what()).find("a matrix needs"), std::string::npos);
  }
}

}  // namespace
}  // namespace krill::test
