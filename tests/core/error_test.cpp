#include "sparse/core/error.hpp"

#include <gtest/gtest.h>

#include "sparse/core/config.hpp"

namespace krill {
namespace {

std::string text(auto&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Errors, name_what_was_found_and_what_is_needed) {
  EXPECT_EQ(text([] { require_size("spmv: x", 3, 4); }), "spmv: x has 3 entries, 4 are needed");
  EXPECT_EQ(text([] { require_size("spmv: x", 4, 4); }), "no error");
}

TEST(Errors, name_the_place_in_a_file) {
  const ParseError error("a.mtx", 3, 7, "row index 0 is out of range");
  EXPECT_STREQ(error.what(), "a.mtx:3:7: row index 0 is out of range");
  EXPECT_EQ(error.line, 3);
  EXPECT_STREQ(ParseError("a.mtx", 0, 0, "is empty").what(), "a.mtx: is empty");
}

TEST(Errors, carry_the_bytes_asked_and_free) {
  const OutOfMemory error("pcg p", std::size_t{3} << 30, 1024, 0);
  EXPECT_STREQ(error.what(), "pcg p needs 3.00 GiB (3221225472 bytes), 1.00 KiB are free on CUDA device 0");
  EXPECT_EQ(error.asked, std::size_t{3} << 30);
  EXPECT_STREQ(OutOfMemory("pcg p", 2048, 0).what(), "pcg p needs 2.00 KiB (2048 bytes), more than is free on the host")
      << "what is free is not known where the system refused";
}

TEST(Errors, of_the_cuda_runtime_carry_its_text_and_the_line_that_met_it) {
  if constexpr (!with_cuda) GTEST_SKIP() << "this build has no CUDA";
  if constexpr (with_cuda) {
    EXPECT_EQ(text([] { check(0); }), "no error");
    constexpr int no_kernel_image = 209;
    EXPECT_THROW(check(no_kernel_image), CudaError);
    const std::string told = text([] { check(no_kernel_image); });
    EXPECT_TRUE(told.starts_with("no kernel image is available for execution on the device (")) << told;
    EXPECT_NE(told.find("tests/core/error_test.cpp:"), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace krill
