// Numbers in columns of fixed width, as Fortran's formatted output leaves them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sparse/io/input_file.hpp"

namespace krill {

/// "(10I8)" or "(1P,5E16.8)": how many numbers a line holds and how many columns each of them takes. Scale factors and
/// digits behind the point tell a writer what to do, not a reader: every number that Fortran writes shows its point.
struct FortranFormat {
  std::int64_t repeat = 1, width = 0;
};
/// The first format in the text, which is cut off; nothing where there is none, or one that holds other things.
std::optional<FortranFormat> take_fortran_format(std::string_view& text);

/// Walks over the lines and the fields of a text.
class FortranReader {
 public:
  explicit FortranReader(const InputFile& file) : file_(file), rest_(file.view()) {}

  /// The next line, without its end. Raises ParseError at the end of the file, naming `what` it should have held.
  std::string_view next_line(std::string_view what);
  std::size_t bytes_left() const { return rest_.size(); }

  /// Begins an array of `count` numbers on a new line. Raises ParseError at once where the rest of the file is too
  /// short for them.
  void begin(std::string_view what, std::int64_t count, FortranFormat);
  std::int64_t next_integer(std::int64_t least, std::int64_t most);
  template <class R>
  R next_real();

  /// Raises ParseError at the place of `at` in the file.
  [[noreturn]] void fail(std::string_view at, const std::string& what, std::string_view expected,
                         std::string_view remedy) const;
  /// The same for the number that was read last.
  [[noreturn]] void fail_number(std::string_view problem, std::string_view expected, std::string_view remedy) const;

 private:
  std::string_view next_field();

  const InputFile& file_;
  std::string_view rest_, line_, field_;
  std::string_view what_;
  FortranFormat format_;
  std::int64_t count_ = 0, index_ = 0;
};

}  // namespace krill
