#include "sparse/spmv/packed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/packed_passes.hpp"

namespace krill::detail {

namespace {

struct FoundWords {
  std::uint64_t words[max_words];
  std::int32_t count;
};

/// The different words, ascending; nothing where there are more than max_words.
template <class WordsOn>
std::vector<std::uint64_t> different_words(Context& ctx, std::int64_t n, WordsOn&& words_on) {
  Array<FoundWords> found(1, "words");
  ctx.dispatch([&](const auto& where) {
    FoundWords* to = found.write(where);
    find_words(where, n, words_on(where), to->words, &to->count);
  });
  const FoundWords& all = found.host()[0];
  if (all.count > max_words) return {};
  const std::span words(all.words, static_cast<std::size_t>(all.count));
  std::vector<std::uint64_t> sorted(words.begin(), words.end());
  std::ranges::sort(sorted);
  return sorted;
}

constexpr std::int64_t longest_row_for_deltas = 4096;  // a thread goes along the rows of a slice

template <class T>
inline constexpr bool has_words = sizeof(T) <= sizeof(std::uint64_t);
template <class T>
inline constexpr bool has_narrow = !std::is_same_v<narrow_t<kernel_t<T>>, kernel_t<T>>;

template <class T, class Offset>
std::vector<std::uint64_t> value_words(Context& ctx, const Csr<T, Offset>& A) {
  if constexpr (has_words<T>)
    return different_words(ctx, A.nnz(),
                           [&](const auto& where) { return ValueWords<kernel_t<T>>{A.values().read(where)}; });
  else
    return {};
}

/// What patterns are of: the entries of A, or without their values where Entry is NoValue.
template <class Entry, class Where, class T, class Offset>
CsrView<const Entry, Offset> rows_of(const Where& where, const Csr<T, Offset>& A) {
  if constexpr (std::is_same_v<Entry, NoValue>)
    return pattern(where, A).as_const();
  else
    return A.view(where).as_const();
}

}  // namespace

template <class T>
Packed<T>::Packed(Context& ctx, const Csr<T, std::int32_t>& A, std::int64_t longest_row)
    : rows_(A.rows()), cols_(A.cols()), longest_(longest_row) {
  look_at(ctx, A);
}
template <class T>
Packed<T>::Packed(Context& ctx, const Csr<T, std::int64_t>& A, std::int64_t longest_row)
    : rows_(A.rows()), cols_(A.cols()), longest_(longest_row) {
  look_at(ctx, A);
}

template <class T>
Packed<T>::Packed(Context& ctx, const Packed<wide_t<T>>& A, double scale)
    : rows_(A.rows_),
      cols_(A.cols_),
      uniform_width_(A.uniform_width_),
      longest_(A.longest_),
      slice_offsets_(copy_of(ctx, A.slice_offsets_)) {
  patterns_ = {A.patterns_.width, A.patterns_.count, copy_of(ctx, A.patterns_.of_rows),
               copy_of(ctx, A.patterns_.lengths), copy_of(ctx, A.patterns_.columns)};
  patterns_.example = copy_of(ctx, A.patterns_.example);
  const auto wide = A.patterns_.values.host();
  std::vector<T> values(wide.size());
  std::ranges::transform(wide, values.begin(), [&](const wide_t<T>& value) { return T(scale * value); });
  patterns_.values = Array<T>(std::move(values), "packed pattern values");
  column_bytes_ = bytes_of(slice_offsets_) + patterns_.bytes();
  sizes_ = {A.sizes_.columns, A.sizes_.values, A.sizes_.places, column_bytes_};
}

template <class T>
template <class Offset>
void Packed<T>::look_at(Context& ctx, const Csr<T, Offset>& A) {
  make_slices(ctx, A);
  if (find_patterns<kernel_t<T>>(ctx, A)) return;
  look_at_columns(ctx, A);
  look_at_values(ctx, A);
}

/// Where little padding makes all slices as wide as the widest one, a product need not read where they begin.
template <class T>
template <class Offset>
void Packed<T>::make_slices(Context& ctx, const Csr<T, Offset>& A) {
  constexpr double max_padding = 1.05;
  const std::int64_t slices = ceil_div(rows_, packed_slice), places = slices * packed_slice * longest_;
  const auto is_little = [&](std::int64_t than) {
    return static_cast<double>(places) <= max_padding * static_cast<double>(than);
  };
  if (!is_little(A.nnz())) {
    const auto count = [&](const auto& where, std::int64_t* counts) {
      run_pass(where, slices, SlicePlaces<Offset>{A.row_offsets().read(where), rows_, packed_slice, nullptr, counts});
    };
    slice_offsets_ = scanned<std::int64_t>(ctx, slices, "packed slice_offsets", count);
    sizes_.places = last_offset(ctx, slice_offsets_);
    if (!is_little(sizes_.places)) return;
  }
  uniform_width_ = static_cast<std::int32_t>(longest_);
  sizes_.places = places;
  slice_offsets_ = Array<std::int64_t>(slices + 1, "packed slice_offsets");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, slices + 1, UniformSlices{packed_slice * longest_, slice_offsets_.write(where)});
  });
}

template <class T>
template <class Entry, class Offset>
bool Packed<T>::find_patterns(Context& ctx, const Csr<T, Offset>& A) {
  constexpr bool with_values = !std::is_same_v<Entry, NoValue>;
  const Array<std::uint64_t> words(different_words(
      ctx, rows_, [&](const auto& where) { return PatternWords<Entry, Offset>{rows_of<Entry>(where, A)}; }));
  const std::int64_t width = longest_, count = words.size();
  if (count == 0 || width * count > (with_values ? max_pattern_values : max_pattern_columns)) return false;
  RowPatterns<T> found;
  found.width = static_cast<std::int32_t>(width), found.count = static_cast<std::int32_t>(count);
  found.of_rows = Array<std::uint8_t>(rows_, "packed row patterns");
  found.lengths = Array<std::int32_t>(count, "packed pattern lengths");
  found.columns = Array<std::int32_t>(width * count, "packed patterns");
  if (with_values) found.values = Array<T>(width * count, "packed pattern values");
  found.example = Array(std::vector<std::int32_t>(static_cast<std::size_t>(count), no_example), "pattern examples");
  ctx.dispatch([&](const auto& where) {
    name_patterns(where, NamePatterns<Entry, Offset>{rows_of<Entry>(where, A), words.read(where), found.count,
                                                     found.of_rows.write(where), found.example.update(where)});
  });
  if (!fill_patterns<Entry>(ctx, A, found)) return false;
  patterns_ = std::move(found);
  sizes_.columns = ColumnCode::pattern;
  column_bytes_ = bytes_of(slice_offsets_) + patterns_.bytes();
  if (with_values) sizes_.values = ValueCode::pattern, sizes_.bytes = column_bytes_;
  return true;
}

template <class T>
template <class Entry, class Offset>
bool Packed<T>::fill_patterns(Context& ctx, const Csr<T, Offset>& A, RowPatterns<T>& patterns) {
  Array<Count> different(1, "rows of no pattern");
  ctx.dispatch([&](const auto& where) {
    const CsrView<const Entry, Offset> a = rows_of<Entry>(where, A);
    const std::int32_t* example = patterns.example.read(where);
    compare_patterns(where,
                     ComparePatterns<Entry, Offset>{a, patterns.of_rows.read(where), example, different.write(where)});
    FillPatterns<Entry, Offset> fill{
        a, example, patterns.width, patterns.lengths.write(where), patterns.columns.write(where), nullptr};
    if constexpr (!std::is_same_v<Entry, NoValue>) fill.values = patterns.values.write(where);
    run_pass(where, patterns.count, fill);
  });
  return different.host()[0].value == 0;
}

template <class T>
template <class Offset>
void Packed<T>::look_at_columns(Context& ctx, const Csr<T, Offset>& A) {
  if (find_patterns<NoValue>(ctx, A)) return;
  const auto places = static_cast<std::size_t>(sizes_.places);
  Array<Greatest> span(1, "column span");
  const auto are_close = [&](std::int64_t first, std::int64_t slices) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, slices * span_lanes,
               GreatestSpan<Offset>{pattern(where, A), slice_offsets_.read(where), span.write(where), first});
    });
    return span.host()[0].value < no_delta;
  };
  constexpr std::int64_t window = 1024;  // that often says enough
  const std::int64_t slices = slice_offsets_.size() - 1;
  const bool close = longest_ <= longest_row_for_deltas &&
                     (slices <= window || are_close((slices - window) / 2, window)) && are_close(0, slices);
  sizes_.columns = close ? ColumnCode::delta16 : ColumnCode::absolute;
  column_bytes_ =
      bytes_of(slice_offsets_) + (sizes_.columns == ColumnCode::delta16
                                      ? places * sizeof(std::uint16_t) + places / packed_slice * sizeof(std::int32_t)
                                      : places * sizeof(std::int32_t));
}

template <class T>
template <class Offset>
void Packed<T>::look_at_values(Context& ctx, const Csr<T, Offset>& A) {
  const auto places = static_cast<std::size_t>(sizes_.places);
  sizes_.values = ValueCode::full;
  value_words_ = value_words(ctx, A);
  if (!value_words_.empty()) {
    sizes_.values = ValueCode::dictionary;
    sizes_.bytes = column_bytes_ + places + max_words * sizeof(T);
    return;
  }
  if constexpr (has_narrow<T>) {
    Array<Count> wide(1, "values that are not narrow");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, A.nnz(), CountWide<kernel_t<T>>{A.values().read(where), wide.write(where)});
    });
    if (wide.host()[0].value == 0) sizes_.values = ValueCode::narrow;
  }
  sizes_.bytes = column_bytes_ + places * (sizes_.values == ValueCode::narrow ? sizeof(T) / 2 : sizeof(T));
}

template <class T>
std::string Packed<T>::description() const {
  if (sizes_.values == ValueCode::pattern)
    return fmt::format("rows by {} patterns of columns and values", patterns_.count);
  const std::string columns = sizes_.columns == ColumnCode::pattern   ? fmt::format("{} row patterns", patterns_.count)
                              : sizes_.columns == ColumnCode::delta16 ? "16-bit differences"
                                                                      : "32-bit indices";
  const std::string values = sizes_.values == ValueCode::dictionary
                                 ? fmt::format("a dictionary of {}", value_words_.size())
                             : sizes_.values == ValueCode::narrow ? "single precision, which is exact"
                                                                  : "full precision";
  return fmt::format("columns by {}, values in {}", columns, values);
}

template <class T>
template <class Offset>
void Packed<T>::fill(Context& ctx, const Csr<T, Offset>& A) {
  const std::int64_t slices = slice_offsets_.size() - 1;
  if (sizes_.columns == ColumnCode::absolute) columns_ = Array<std::int32_t>(sizes_.places, "packed columns");
  if (sizes_.columns == ColumnCode::delta16) {
    deltas_ = Array<std::uint16_t>(sizes_.places, "packed deltas");
    bases_ = Array<std::int32_t>(sizes_.places / packed_slice, "packed bases");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, slices * span_lanes,
               FillBases<Offset>{pattern(where, A), slice_offsets_.read(where), bases_.write(where)});
    });
  }
  ctx.dispatch([&](const auto& where) {
    FillPacked<kernel_t<T>, Offset> columns{.from = A.view(where), .slice_offsets = slice_offsets_.read(where)};
    if (columns_.size()) columns.columns = columns_.write(where);
    if (deltas_.size()) columns.bases = bases_.read(where), columns.deltas = deltas_.write(where);
    if (columns.columns || columns.deltas) run_pass(where, slices * packed_slice, columns);
  });
  fill_values(ctx, A);
}

template <class T>
template <class Offset>
void Packed<T>::fill_values(Context& ctx, const Csr<T, Offset>& A) {
  const std::int64_t slices = slice_offsets_.size() - 1;
  const auto sized = [](auto& array, std::int64_t size, const char* name) {
    if (array.size() != size) array = std::remove_reference_t<decltype(array)>(size, name);
  };
  const auto wanted = [&](ValueCode code) { return sizes_.values == code ? sizes_.places : 0; };
  sized(values_, wanted(ValueCode::full), "packed values");
  sized(narrow_values_, wanted(ValueCode::narrow), "packed narrow values");
  sized(words_, wanted(ValueCode::dictionary), "packed words");
  Array<std::uint64_t> sorted(0, "value words");
  if (sizes_.values == ValueCode::dictionary) {
    std::vector<T> dictionary(max_words);
    for (std::size_t w = 0; w < value_words_.size(); ++w)
      std::memcpy(static_cast<void*>(&dictionary[w]), &value_words_[w], std::min(sizeof(T), sizeof value_words_[w]));
    dictionary_ = Array<T>(std::move(dictionary), "packed dictionary");
    sorted = Array<std::uint64_t>(value_words_, "value words");
  }
  ctx.dispatch([&](const auto& where) {
    FillPacked<kernel_t<T>, Offset> fill{.from = A.view(where), .slice_offsets = slice_offsets_.read(where)};
    if (values_.size()) fill.values = values_.write(where);
    if (narrow_values_.size()) fill.narrow_values = narrow_values_.write(where);
    if (words_.size()) {
      fill.words = words_.write(where);
      fill.sorted = sorted.read(where), fill.word_count = static_cast<std::int32_t>(sorted.size());
    }
    const bool by_places = fill.values || fill.narrow_values || fill.words;  // else patterns hold them
    if (by_places) run_pass(where, slices * packed_slice, fill);
  });
}

template <class T>
template <class Offset>
void Packed<T>::update(Context& ctx, const Csr<T, Offset>& A) {
  if (sizes_.values == ValueCode::pattern && fill_patterns<kernel_t<T>>(ctx, A, patterns_)) return;
  // Rows that were alike are so in their columns whatever their values are now: former patterns still name columns.
  if (sizes_.columns != ColumnCode::pattern || !find_patterns<kernel_t<T>>(ctx, A)) look_at_values(ctx, A);
  fill_values(ctx, A);
}

template <class T>
template <class Where>
PackedView<const kernel_t<T>> Packed<T>::view(const Where& where) const {
  PackedView<const kernel_t<T>> view{rows_, cols_, sizes_.columns, sizes_.values, slice_offsets_.read(where)};
  view.uniform_width = uniform_width_;
  if (columns_.size()) view.columns = columns_.read(where);
  if (deltas_.size()) view.deltas = deltas_.read(where), view.bases = bases_.read(where);
  if (sizes_.columns == ColumnCode::pattern) {
    view.patterns = patterns_.of_rows.read(where), view.lengths = patterns_.lengths.read(where);
    view.table = patterns_.columns.read(where);
    view.pattern_width = patterns_.width, view.pattern_count = patterns_.count;
    if (sizes_.values == ValueCode::pattern) view.pattern_values = patterns_.values.read(where);
  }
  if (values_.size()) view.values = values_.read(where);
  if (narrow_values_.size()) view.narrow_values = narrow_values_.read(where);
  if (words_.size()) view.words = words_.read(where), view.dictionary = dictionary_.read(where);
  return view;
}

template <class T, class Offset>
struct PackedInstances {
  static constexpr std::tuple list{&Packed<T>::template fill<Offset>, &Packed<T>::template update<Offset>,
                                   &Packed<T>::template view<Host>, &Packed<T>::template view<Cuda>};
};
KRILL_INSTANTIATE(Packed);
KRILL_INSTANTIATE_WITH_OFFSETS(PackedInstances);

}  // namespace krill::detail
