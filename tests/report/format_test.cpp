// SPDX-License-Identifier: MIT
#include "report/text/format.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

const std::string nbsp = "\u00a0";

TEST(Format, SignificantDigits) {
  EXPECT_EQ(format::significant(0.41234), "0.4123");
  EXPECT_EQ(format::significant(41.3), "41.30");
  EXPECT_EQ(format::significant(9.99996), "10.00");
  EXPECT_EQ(format::significant(12345.6), "12,346");
  EXPECT_EQ(format::significant(1234567.0), "1,234,567");
  EXPECT_EQ(format::significant(0), "0");
  EXPECT_EQ(format::significant(-0.5, 2), "\u22120.50");
  EXPECT_EQ(format::significant(1.2e-9), "1.2e-9");
  EXPECT_EQ(format::significant(3e17), "3.0e17");
}

TEST(Format, QuantitiesTakeThePrefixThatReadsBest) {
  EXPECT_EQ(format::quantity(0.0413, Unit::second), "41.30" + nbsp + "ms");
  EXPECT_EQ(format::quantity(2e-6, Unit::second), "2.000" + nbsp + "µs");
  EXPECT_EQ(format::quantity(0, Unit::second), "0" + nbsp + "ms");
  EXPECT_EQ(format::quantity(3.0 * (1 << 30), Unit::byte), "3.000" + nbsp + "GiB");
  EXPECT_EQ(format::quantity(1.1e11, Unit::flop_per_second), "110.0" + nbsp + "GFLOP/s");
  EXPECT_EQ(format::quantity(4.2e12, Unit::byte_per_second), "4.200" + nbsp + "TB/s");
  EXPECT_EQ(format::quantity(3200, Unit::count), "3,200");
  EXPECT_EQ(format::about(8.0 * (1ULL << 30), Unit::byte), "8" + nbsp + "GiB");
  EXPECT_EQ(format::about(1.25e9, Unit::byte_per_second), "1.25" + nbsp + "GB/s");
}

TEST(Format, PercentAndFactors) {
  EXPECT_EQ(format::signed_percent(0.0123), "+1.2" + nbsp + "%");
  EXPECT_EQ(format::signed_percent(-0.0123), "\u22121.2" + nbsp + "%");
  EXPECT_EQ(format::signed_percent(-0.0001), "0.0" + nbsp + "%") << "no signed zero";
  EXPECT_EQ(format::plus_minus(0.003), "±0.3" + nbsp + "%");
  EXPECT_EQ(format::plus_minus(0.25), "±25" + nbsp + "%");
  EXPECT_EQ(format::plus_minus(1), "±100" + nbsp + "%");
  EXPECT_EQ(format::plus_minus(70.65), "±>100" + nbsp + "%") << "no time is below zero";
  EXPECT_EQ(format::times(14.31), "14.3×");
  EXPECT_EQ(format::times(0.954), "0.954×");
  EXPECT_EQ(format::times(14.1, 14.5), "14.1–14.5×");
  EXPECT_EQ(format::times(10.76, 10.84), "10.76–10.84×")
      << "a fourth digit where three do not tell the ends apart";
  EXPECT_EQ(format::times(2, 2), "2.00×");
  EXPECT_EQ(format::plain_times(1.5), "1.5×");
  EXPECT_EQ(format::scientific(2.13e-7), "2.1e-7");
  EXPECT_EQ(format::scientific(0.31), "3.1e-1");
  EXPECT_EQ(format::signed_quality(-0.0056, Unit::ratio), "\u22120.0056");
  EXPECT_EQ(format::signed_quality(0.00001, Unit::ratio), "+1.0e-5");
  EXPECT_EQ(format::signed_quality(0, Unit::ratio), "0.0000");
  EXPECT_EQ(format::signed_quality(-1.25, Unit::percent), "\u22121.2\u00a0points");
}

TEST(Format, Words) {
  EXPECT_EQ(format::plural(1, "case"), "1 case");
  EXPECT_EQ(format::plural(2, "case"), "2 cases");
  EXPECT_EQ(format::list(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(format::list(std::vector<std::string>{}), "");
  EXPECT_EQ(format::words("fp32_flop_rate"), "FP32 FLOP rate");
  EXPECT_EQ(format::slug("conv/cpu_onednn <b>"), "conv-cpu-onednn-b");
  EXPECT_EQ(format::slug("äöü"), "");
}

TEST(Format, ThePrefixIsThatOfTheRoundedValue) {
  EXPECT_EQ(format::quantity(0.99997, Unit::second), "1.000\u00a0s");
  EXPECT_EQ(format::quantity(0.9999, Unit::second), "999.9\u00a0ms");
}

TEST(Format, OneLineLeavesNothingThatDisturbsALine) {
  EXPECT_EQ(format::one_line("a\nb\tc\x1b[31m\x7f"), "a b c [31m ");
  EXPECT_EQ(format::one_line("\u202eabc\u2028\u2066"), "\ufffdabc\ufffd\ufffd");
  EXPECT_EQ(format::one_line("gr\u00fc\u00df \U0001F600"), "gr\u00fc\u00df \U0001F600");
  EXPECT_EQ(format::one_line("\xc3(\xff\xed\xa0\x80\xf0\x80\x80\x80"),
            "\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd")
      << "each byte of what is no UTF-8";
  EXPECT_EQ(format::one_line("cut \xe2\x82"), "cut \ufffd\ufffd");
}

TEST(Format, ElideKeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(format::elide("conv/cpu_naive@100", 18), "conv/cpu_naive@100");
  EXPECT_EQ(format::elide("conv/cpu_naive@100", 9), "conv…@100");
  EXPECT_EQ(format::elide("äöüäöü", 3), "ä…ü");
  EXPECT_EQ(format::elide("abc", 1), "…");
  EXPECT_EQ(format::elide("abc", 0), "");
  EXPECT_EQ(format::width(format::elide(std::string(2000, 'x'), 48)), 48U);
}

TEST(Format, NanosecondsAreTimes) {
  EXPECT_EQ(format::nanoseconds(std::int64_t{1'234'000}), "1.234\u00a0ms");
  EXPECT_EQ(format::nanoseconds(0.5), format::quantity(0.5e-9, Unit::second));
}

TEST(Format, XmlTextIsEscapedOnce) {
  EXPECT_EQ(format::xml_text("a<b> & \"c\" 'd' ä"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; ä");
}

TEST(Format, ElideApartKeepsWhatTellsTextsApart) {
  const std::vector<std::string> kernels{
      "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_kernel__5x_cublas",
      "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x256x32_kernel__5x_cublas", "relax"};
  EXPECT_EQ(format::elide_apart(kernels, 36),
            (std::vector<std::string>{"sm90_xmma…nn_n_tilesize128x128x32_k…",
                                      "sm90_xmma…tn_n_tilesize128x256x32_k…", "relax"}));
  EXPECT_EQ(format::elide_apart(std::vector<std::string>{"äöü_äöü_1_äöü", "äöü_äöü_2_äöü"}, 6),
            (std::vector<std::string>{"ä…1_ä…", "ä…2_ä…"}));
  for (const std::string& equal : format::elide_apart(std::vector<std::string>{"long_name", "long_name"}, 5))
    EXPECT_LE(format::width(equal), 5U);
}

TEST(Format, DecimalPaddingLinesUpPoints) {
  const std::vector<std::string> texts{"0.4123", "41.30", "12,346", "–", "14.3×"};
  const auto padding = format::decimal_padding(texts);
  EXPECT_EQ(padding[0], "");
  EXPECT_EQ(padding[1], "\u2007\u2007");
  EXPECT_EQ(padding[2], "\u2008\u2007\u2007\u2007\u2007");
  EXPECT_EQ(padding[3], "") << "a dash is no figure";
  EXPECT_EQ(padding[4], "\u2007\u2007\u2007");
}

TEST(Format, CommandLineReadsBackInAShell) {
  EXPECT_EQ(format::command_line(std::vector<std::string>{"mprof", "run", "--batch", "100,1000"}),
            "mprof run --batch 100,1000");
  EXPECT_EQ(format::command_line(std::vector<std::string>{"a b", "it's", "", "$x"}),
            "'a b' 'it'\\''s' '' '$x'");
}

TEST(FromTo, NamesOneUnitThatFitsTheLarger) {
  EXPECT_EQ(format::from_to(0.0857, 0.0305, Unit::second), "85.7 → 30.5\u00a0ms");
  EXPECT_EQ(format::from_to(0, 0.00475, Unit::second), "0 → 4.75\u00a0ms");
  EXPECT_EQ(format::from_to(1.23 * 0x1p30, 0.5 * 0x1p30, Unit::byte), "1.23 → 0.500\u00a0GiB");
  EXPECT_EQ(format::from_to(0.0000001, 9.94, Unit::percent), "0.0 → 9.9\u00a0%");
  EXPECT_EQ(format::from_to(3.14159, 2, Unit::ratio), "3.14 → 2.00");
  EXPECT_EQ(format::from_to(1, 4, Unit::ratio), "1 → 4") << "what is counted has no decimals";
  EXPECT_EQ(format::from_to(2.1e9, 47e9, Unit::flop_per_second), "2.10 → 47.0\u00a0GFLOP/s");
}

TEST(Format, SortableNumbersAreExactWhereTheyAreWhole) {
  EXPECT_EQ(format::sortable(0), "0");
  EXPECT_EQ(format::sortable(-0.0), "0");
  EXPECT_EQ(format::sortable(9007199254740), "9007199254740");
  EXPECT_EQ(format::sortable(-12), "-12");
  EXPECT_EQ(format::sortable(0.1), "0.1");
  EXPECT_EQ(format::sortable(1.0 / 3), "0.3333333");
  EXPECT_EQ(format::sortable(6.5e-12), "6.5e-12");
}

}  // namespace
}  // namespace mprof
