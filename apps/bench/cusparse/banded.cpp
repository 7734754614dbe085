// Solves with three and five diagonals. All of them leave x where b was; those of interleaved batches overwrite the
// bands, too, so they get copies of their own.
#include <array>

#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

template <class T>
struct BandArguments {
  T *ds, *dl, *d, *du, *dw, *x;
  int rows, batch;
};

// Each function is called twice: for the bytes of the workspace (`last` is where they go), and with the workspace.
struct Gtsv2 {
  static constexpr const char* name = "cusparseXgtsv2";
  static constexpr bool overwrites_bands = false;
  static constexpr auto sizes = std::make_tuple(cusparseSgtsv2_bufferSizeExt, cusparseDgtsv2_bufferSizeExt,
                                                cusparseCgtsv2_bufferSizeExt, cusparseZgtsv2_bufferSizeExt);
  static constexpr auto solves = std::make_tuple(cusparseSgtsv2, cusparseDgtsv2, cusparseCgtsv2, cusparseZgtsv2);
  template <class Function, class T, class Last>
  static cusparseStatus_t call(Function f, cusparseHandle_t handle, const BandArguments<T>& o, Last last) {
    return f(handle, o.rows, 1, o.dl, o.d, o.du, o.x, o.rows, last);
  }
};
struct Gtsv2Nopivot : Gtsv2 {
  static constexpr const char* name = "cusparseXgtsv2_nopivot";
  static constexpr auto sizes =
      std::make_tuple(cusparseSgtsv2_nopivot_bufferSizeExt, cusparseDgtsv2_nopivot_bufferSizeExt,
                      cusparseCgtsv2_nopivot_bufferSizeExt, cusparseZgtsv2_nopivot_bufferSizeExt);
  static constexpr auto solves =
      std::make_tuple(cusparseSgtsv2_nopivot, cusparseDgtsv2_nopivot, cusparseCgtsv2_nopivot, cusparseZgtsv2_nopivot);
};
struct Gtsv2Strided {
  static constexpr const char* name = "cusparseXgtsv2StridedBatch";
  static constexpr bool overwrites_bands = false;
  static constexpr auto sizes =
      std::make_tuple(cusparseSgtsv2StridedBatch_bufferSizeExt, cusparseDgtsv2StridedBatch_bufferSizeExt,
                      cusparseCgtsv2StridedBatch_bufferSizeExt, cusparseZgtsv2StridedBatch_bufferSizeExt);
  static constexpr auto solves = std::make_tuple(cusparseSgtsv2StridedBatch, cusparseDgtsv2StridedBatch,
                                                 cusparseCgtsv2StridedBatch, cusparseZgtsv2StridedBatch);
  template <class Function, class T, class Last>
  static cusparseStatus_t call(Function f, cusparseHandle_t handle, const BandArguments<T>& o, Last last) {
    return f(handle, o.rows, o.dl, o.d, o.du, o.x, o.batch, o.rows, last);
  }
};
/// 0: Thomas, 1: LU, 2: QR.
template <int algorithm>
struct GtsvInterleaved {
  static constexpr const char* name = "cusparseXgtsvInterleavedBatch";
  static constexpr bool overwrites_bands = true;
  static constexpr auto sizes =
      std::make_tuple(cusparseSgtsvInterleavedBatch_bufferSizeExt, cusparseDgtsvInterleavedBatch_bufferSizeExt,
                      cusparseCgtsvInterleavedBatch_bufferSizeExt, cusparseZgtsvInterleavedBatch_bufferSizeExt);
  static constexpr auto solves = std::make_tuple(cusparseSgtsvInterleavedBatch, cusparseDgtsvInterleavedBatch,
                                                 cusparseCgtsvInterleavedBatch, cusparseZgtsvInterleavedBatch);
  template <class Function, class T, class Last>
  static cusparseStatus_t call(Function f, cusparseHandle_t handle, const BandArguments<T>& o, Last last) {
    return f(handle, algorithm, o.rows, o.dl, o.d, o.du, o.x, o.batch, last);
  }
};
struct GpsvInterleaved {
  static constexpr const char* name = "cusparseXgpsvInterleavedBatch";
  static constexpr bool overwrites_bands = true;
  static constexpr auto sizes =
      std::make_tuple(cusparseSgpsvInterleavedBatch_bufferSizeExt, cusparseDgpsvInterleavedBatch_bufferSizeExt,
                      cusparseCgpsvInterleavedBatch_bufferSizeExt, cusparseZgpsvInterleavedBatch_bufferSizeExt);
  static constexpr auto solves = std::make_tuple(cusparseSgpsvInterleavedBatch, cusparseDgpsvInterleavedBatch,
                                                 cusparseCgpsvInterleavedBatch, cusparseZgpsvInterleavedBatch);
  template <class Function, class T, class Last>
  static cusparseStatus_t call(Function f, cusparseHandle_t handle, const BandArguments<T>& o, Last last) {
    return f(handle, 0, o.rows, o.ds, o.dl, o.d, o.du, o.dw, o.x, o.batch, last);
  }
};

/// A solve in y, with bands of its own where it overwrites them. Those lie in one block of memory, their original in
/// another, so that one copy restores them.
template <class Functions>
class BandedWork final : public CusparseWork {
 public:
  BandedWork(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        rows_(as_int(task.a.rows, Functions::name)),
        batch_(as_int(task.a.batch, Functions::name)) {
    with_type([&]<std::size_t type>() {
      vector_bytes_ = sizeof(std::tuple_element_t<type, ScalarTypes>) * static_cast<std::size_t>(rows_) *
                      static_cast<std::size_t>(batch_);
    });
    std::transform(std::begin(task.a.bands), std::end(task.a.bands), bands_.begin(), output<void>);
    if constexpr (Functions::overwrites_bands) own_bands();
    restore();
    std::size_t bytes = 0;
    call(Functions::sizes, &bytes);
    workspace_.reserve(bytes);
  }
  void run() override { call(Functions::solves, workspace_.get()); }
  bool restore() override {
    copy(task_.y, task_.x, vector_bytes_);
    if (own_bytes_ > 0) copy(own_.get(), original_.get(), own_bytes_);
    return true;
  }

 private:
  void own_bands() {
    constexpr std::size_t alignment = 256;
    const std::size_t band_bytes = (vector_bytes_ + alignment - 1) / alignment * alignment;
    const auto diagonals = bands_.size() - static_cast<std::size_t>(std::ranges::count(bands_, nullptr));
    own_bytes_ = diagonals * band_bytes;
    auto* own = static_cast<std::byte*>(own_.reserve(own_bytes_));
    auto* original = static_cast<std::byte*>(original_.reserve(own_bytes_));
    for (void*& band : bands_) {
      if (!band) continue;
      copy(original, band, vector_bytes_);
      band = own, own += band_bytes, original += band_bytes;
    }
  }

  template <class Table, class Last>
  void call(const Table& functions, Last last) {
    with_type([&]<std::size_t type>() {
      using T = std::tuple_element_t<type, ScalarTypes>;
      const auto band = [&](std::size_t k) { return static_cast<T*>(bands_[k]); };
      const BandArguments<T> operands{band(0), band(1), band(2), band(3), band(4), static_cast<T*>(task_.y),
                                      rows_,   batch_};
      check(Functions::call(std::get<type>(functions), handle(), operands, last), Functions::name);
    });
  }

  int rows_, batch_;
  std::size_t vector_bytes_ = 0, own_bytes_ = 0;
  std::array<void*, 5> bands_{};
  Workspace own_, original_, workspace_;
};

constexpr CusparseEntry entries[] = {
    {"gtsv2", krill_rival_bands, "gtsv2", make_work<BandedWork<Gtsv2>>},
    {"gtsv2_nopivot", krill_rival_bands, "gtsv2_nopivot", make_work<BandedWork<Gtsv2Nopivot>>},
    {"gtsv2_strided", krill_rival_bands, "gtsv2StridedBatch", make_work<BandedWork<Gtsv2Strided>>},
    {"gtsv_interleaved thomas", krill_rival_bands, "gtsvInterleavedBatch/0", make_work<BandedWork<GtsvInterleaved<0>>>},
    {"gtsv_interleaved lu", krill_rival_bands, "gtsvInterleavedBatch/1", make_work<BandedWork<GtsvInterleaved<1>>>},
    {"gtsv_interleaved qr", krill_rival_bands, "gtsvInterleavedBatch/2", make_work<BandedWork<GtsvInterleaved<2>>>},
    {"gpsv_interleaved", krill_rival_bands, "gpsvInterleavedBatch/0", make_work<BandedWork<GpsvInterleaved>>},
};

}  // namespace

std::span<const CusparseEntry> banded_solves() { return entries; }

}  // namespace krill::apps::bench::cusparse
