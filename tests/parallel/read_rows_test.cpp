#include "sparse/parallel/read_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sparse/core/counter_random.hpp"
#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

template <class V>
std::string bits(std::span<const V> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// What ranks read is what one process reads and assembles, to the bit, in the partition that it would make.
template <class T>
void expect_read_as_alone(const std::filesystem::path& path, std::int64_t unit) {
  SCOPED_TRACE(path.string());
  MatrixInput<T> input = read_matrix<T>(path);
  CanonicalReport canonical;
  const AnyMatrix<T> any = assemble(std::move(input.matrix), canonical);
  const auto& whole = std::get<Csr<T>>(any);
  const auto offsets = whole.row_offsets().host();
  for (const int ranks : {1, 2, 3, 4, 9}) {
    SCOPED_TRACE(ranks);
    const auto expected = RowPartition::by_cost(offsets, ranks, unit);
    run_team(ranks, [&](Team& team) {
      const auto found = read_rows<T>(team, path, unit);
      ASSERT_TRUE(found.has_value());
      const auto& mine = std::get<Csr<T>>(found->rows);
      const int me = team.rank();
      ASSERT_EQ(found->partition.rows(), whole.rows());
      for (int r = 0; r < ranks; ++r) ASSERT_EQ(found->partition.begin(r), expected.begin(r)) << r;
      ASSERT_EQ(mine.rows(), expected.rows(me));
      EXPECT_EQ(mine.cols(), whole.cols());
      const auto first = static_cast<std::size_t>(offsets[static_cast<std::size_t>(expected.begin(me))]);
      for (std::size_t i = 0; i < mine.row_offsets().host().size(); ++i)
        ASSERT_EQ(static_cast<std::size_t>(mine.row_offsets().host()[i]) + first,
                  static_cast<std::size_t>(offsets[static_cast<std::size_t>(expected.begin(me)) + i]));
      const auto count = static_cast<std::size_t>(mine.nnz());
      EXPECT_EQ(bits(mine.col_indices().host()), bits(whole.col_indices().host().subspan(first, count)));
      EXPECT_EQ(bits(mine.values().host()), bits(whole.values().host().subspan(first, count)));
      EXPECT_EQ(found->checksum, input.checksum);
      EXPECT_EQ(found->kind.symmetry, input.kind.symmetry);
      EXPECT_EQ(found->kind.stored_entries, input.kind.stored_entries);
      const CanonicalReport& c = found->canonical;
      EXPECT_EQ(c.stored_entries, canonical.stored_entries);
      EXPECT_EQ(c.expanded_entries, canonical.expanded_entries);
      EXPECT_EQ(c.nnz, canonical.nnz);
      EXPECT_EQ(c.duplicates, canonical.duplicates);
      EXPECT_EQ(c.explicit_zeros, canonical.explicit_zeros);
      EXPECT_EQ(c.mirrored, canonical.mirrored);
      EXPECT_EQ(c.missing_diagonal, canonical.missing_diagonal);
      EXPECT_EQ(c.first_missing_diagonal, canonical.first_missing_diagonal);
      EXPECT_EQ(c.non_finite, canonical.non_finite);
      EXPECT_EQ(c.first_non_finite_row, canonical.first_non_finite_row);
      EXPECT_EQ(c.first_non_finite_col, canonical.first_non_finite_col);
    });
  }
}

/// Entries at random places, some of them several times, rows of very unlike lengths; lines of all kinds between them.
std::string scattered(const std::string& banner, std::int64_t n, std::int64_t entries, bool lower, bool odd_lines,
                      const std::function<std::string(std::int64_t k)>& value) {
  const CounterRandom random(7, 1);
  std::string lines;
  for (std::int64_t k = 0; k < entries; ++k) {
    std::int64_t i = 1 + random.below(k % 3 == 0 ? n : n / 5 + 1, k, 0), j = 1 + random.below(n, k, 1);
    if (lower && i <= j) {
      std::swap(i, j);
      if (i == j) i = i % n + 1, j = std::min(i, j) == i ? i : j;
      if (i < j) std::swap(i, j);
    }
    if (odd_lines && k % 7 == 0) lines += k % 2 ? "\n" : "  % a comment\n";
    lines += fmt::format("{}{} {}{}{}", odd_lines && k % 5 == 0 ? "  " : "", i, j, value(k),
                         odd_lines && k % 11 == 0 ? " \r\n" : "\n");
  }
  return fmt::format("%%MatrixMarket matrix coordinate {}\n% of a test\n{} {} {}\n{}", banner, n, n, entries, lines);
}

TEST(ReadRows, are_those_of_one_process) {
  const Folder folder;
  const auto real = [](std::int64_t k) { return fmt::format(" {}", 0.1 * double(k % 17) - 0.3); };
  const auto complex = [](std::int64_t k) { return fmt::format(" {} {}", 0.1 * double(k), -0.7 * double(k % 5)); };
  for (const std::int64_t n : {1, 5, 40, 230}) {
    const auto name = [&](const char* kind) { return fmt::format("{}_{}.mtx", kind, n); };
    for (const std::int64_t unit : {1, 4, 32}) {
      expect_read_as_alone<double>(
          folder.write(name("general"), scattered("real general", n, 9 * n, false, true, real)), unit);
      expect_read_as_alone<float>(folder.write(name("float"), scattered("real general", n, 4 * n, false, false, real)),
                                  unit);
      expect_read_as_alone<double>(
          folder.write(name("symmetric"), scattered("real symmetric", n, 3 * n, true, true, real)), unit);
      expect_read_as_alone<std::complex<double>>(
          folder.write(name("complex"), scattered("complex symmetric", n, 3 * n, true, false, complex)), unit);
      expect_read_as_alone<double>(
          folder.write(name("pattern"), scattered("pattern general", n, 2 * n, false, true, [](auto) { return ""; })),
          unit);
    }
  }
}

TEST(ReadRows, know_what_mirrors_are) {
  const Folder folder;
  expect_read_as_alone<double>(
      folder.write("skew.mtx",
                   "%%MatrixMarket matrix coordinate real skew-symmetric\n6 6 5\n2 1 3\n6 1 1e-3\n"
                   "5 4 7\n6 5 -2\n3 1 0\n"),
      1);
  expect_read_as_alone<std::complex<double>>(
      folder.write("hermitian.mtx",
                   "%%MatrixMarket matrix coordinate complex hermitian\n6 6 7\n1 1 2 0\n2 1 3 1\n1 2 3 -1\n"
                   "6 1 1e-3 4\n5 4 7 7\n6 5 -2 nan\n4 5 7 -7\n"),
      1);
  expect_read_as_alone<double>(folder.write("canonical.mtx",
                                            "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 2\n1 3 -1\n"
                                            "2 2 2\n4 1 0\n4 4 inf"),
                               1);
  expect_read_as_alone<double>(
      folder.write("integer.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 1 2\n2 2 -1\n3 1 4\n"),
      1);
  expect_read_as_alone<double>(folder.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n"), 1);
}

/// Of a matrix of any rows in so many parts, of which the second one has none.
void write_parts(const Folder& folder, const std::string& name, int n, int parts) {
  const CounterRandom random(11, 3);
  for (int k = 0; k < parts; ++k) {
    const auto cut = [&](int part) { return part == 2 && parts > 2 ? n / parts : n * part / parts; };
    std::string text = fmt::format("{0} {1} {0} {1}\n", cut(k), cut(k + 1) - 1);
    for (int i = cut(k); i < cut(k + 1); ++i)
      for (int e = 0; e < 1 + i % 7; ++e)
        text += fmt::format("{} {} {:.14e}\n", i, random.below(n, i, e), random.symmetric<double>(i * 8 + e));
    folder.write(fmt::format("{}.{:05}", name, k), text);
  }
}

TEST(ReadRows, may_come_from_parts_that_hypre_wrote) {
  const Folder folder;
  for (const int n : {5, 230})
    for (const int parts : {1, 2, 3, 4, 7}) {
      const std::string name = fmt::format("A_{}_{}", n, parts);
      write_parts(folder, name, n, parts);
      expect_read_as_alone<double>(folder.path(name), 4);
      expect_read_as_alone<std::complex<float>>(folder.path(name + ".00000"), 32);
    }
  folder.write("C.00000", "1 2 1 2\n1 1 1 , 2\n1 2 nan , 0\n");
  folder.write("C.00001", "3 3 3 3\n3 3 1 , -1\n");
  expect_read_as_alone<std::complex<double>>(folder.path("C"), 1);
}

TEST(ReadRows, leave_alone_what_cannot_be_cut) {
  const Folder folder;
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";
  pack(folder.path("packed.mtx.gz"), Packing::gzip, text);
  std::string cr = text;
  std::ranges::replace(cr, '\n', '\r');
  folder.write("cr.mtx", cr);
  folder.write("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n");
  folder.write("long.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n");
  folder.write("odd.mtx", "%%MatrixMarket matrix coordinate real generic\n2 2 1\n1 1 1\n");
  folder.write("text.mtx", "2 2 1\n1 1 1\n");
  for (const char* name : {"packed.mtx.gz", "cr.mtx", "array.mtx", "long.mtx", "odd.mtx", "text.mtx", "none.mtx"})
    run_team(2, [&](Team& team) { EXPECT_FALSE(read_rows<double>(team, folder.path(name), 32).has_value()) << name; });
}

/// The words of one process, wherever the line is.
TEST(ReadRows, complain_as_one_process_does) {
  const Folder folder;
  constexpr int n = 60;
  const auto text_with = [&](int at, const std::string& line, int declared = 60, const char* banner = "real general") {
    std::string text = fmt::format("%%MatrixMarket matrix coordinate {}\n%\n\n{} {} {}\n", banner, n, n, declared);
    for (int i = 1; i <= n; ++i) text += (i == at ? line : fmt::format("{} {} 1.5", i, i)) + "\n";
    return text;
  };
  const auto expect_same = [&](const std::string& text) {
    const auto path = folder.write("wrong.mtx", text);
    const std::string alone = complaint<Error>([&] {
      CanonicalReport report;
      assemble(read_matrix<double>(path).matrix, report);
    });
    EXPECT_NE(alone, "");
    for (const int ranks : {1, 2, 3, 5})
      EXPECT_EQ(complaint<Error>([&] { run_team(ranks, [&](Team& team) { read_rows<double>(team, path, 4); }); }),
                alone)
          << ranks;
  };
  for (const int at : {1, 2, 29, 31, 59, 60}) {
    expect_same(text_with(at, "7 7 x"));
    expect_same(text_with(at, "61 7 1"));
    expect_same(text_with(at, "7 0 1"));
    expect_same(text_with(at, "7 7"));
    expect_same(text_with(at, "7 7 1 1"));
    expect_same(text_with(at, ""));
    expect_same(text_with(at, "9 9 1\n\n%\n8 8 2"));
  }
  expect_same(text_with(0, "", n + 3));
  expect_same(text_with(0, "", 3));
  expect_same(text_with(0, "", 0));
  const std::string whole = text_with(0, "");
  expect_same(whole.substr(0, whole.size() / 2));
  expect_same(whole.substr(0, whole.size() - 5));
  expect_same(text_with(55, "3 58 1\n58 3 1", n + 1, "real symmetric"));
  expect_same(text_with(20, "4 4 1 1", n, "complex general"));
}

TEST(ReadRows, of_parts_complain_as_one_process_does) {
  const Folder folder;
  const auto expect_same = [&](const std::string& part, const std::string& text) {
    write_parts(folder, "A", 40, 4);
    folder.write(part, text);
    const std::string alone = complaint<Error>([&] { read_matrix<double>(folder.path("A")); });
    EXPECT_NE(alone, "");
    for (const int ranks : {1, 2, 3, 5})
      EXPECT_EQ(
          complaint<Error>([&] { run_team(ranks, [&](Team& team) { read_rows<double>(team, folder.path("A"), 4); }); }),
          alone)
          << ranks;
  };
  expect_same("A.00000", "0 9 0 9\n0 0 x\n");
  expect_same("A.00003", "30 39 30 39\n0 0 1\n");
  expect_same("A.00003", "31 39 31 39\n");
  expect_same("A.00003", "30 39\n");
  expect_same("A.00003", "30 39 30\n");
  expect_same("A.00005", "30 39 30 39\n");
}

/// Each rank looks at a folder of its own.
TEST(ReadRows, refuse_other_files) {
  const Folder folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n20 20 20\n";
  for (int i = 1; i <= 20; ++i) text += fmt::format("{} {} 2.5\n", i, i);
  std::string other = text, longer = text;
  other[other.size() - 2] = '6';
  longer.insert(longer.size() - 1, "0");
  const auto refuse = [&](const std::string& of_one) {
    const std::vector<std::filesystem::path> paths{folder.write("a.mtx", text), folder.write("b.mtx", text),
                                                   folder.write("c.mtx", of_one)};
    const std::string found = complaint<InvalidArgument>([&] {
      run_team(3, [&](Team& team) { read_rows<double>(team, paths[static_cast<std::size_t>(team.rank())], 4); });
    });
    EXPECT_EQ(found, paths[0].string() +
                         ": rank 2 has another file of this name than rank 0; all ranks have to read the same one");
  };
  refuse(other);
  refuse(longer);
  refuse("no matrix");
}

}  // namespace
}  // namespace krill::test
