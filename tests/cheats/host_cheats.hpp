// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <thread>
#include <vector>

#include "kernels/elementwise/map/host_map.hpp"
#include "kernels/elementwise/map/inputs.hpp"

/// Variants of the CPU that pretend. Each is a way in which programs that time kernels have been fooled, or
/// could be.
namespace mprof::elementwise::cheats {

/// Computes what is right, on one thread. The invalid variants spoil it.
class Honest : public HostMap {
 public:
  void forward() override { compute(); }

 protected:
  void compute() { compute_to(output(0)); }
  void compute_to(float* to) const {
    for (std::size_t row = 0; row < matrix().size; ++row) compute_row(row, to + row * matrix().size);
  }
  void compute_row(std::size_t row, float* to) const {
    for (std::size_t column = 0; column < matrix().size; ++column)
      to[column] = transform(column, input(row)[column], matrix().iterations);
  }
  [[nodiscard]] std::vector<float> result() const {
    std::vector<float> values(matrix().elements());
    compute_to(values.data());
    return values;
  }
  void write(const std::vector<float>& values) { std::ranges::copy(values, output(0)); }
};

/// Computes once, and writes that again whenever it is asked.
class ReplaysItsOutput final : public Honest {
 public:
  void forward() override {
    if (cached_.empty()) cached_ = result();
    write(cached_);
  }

 private:
  std::vector<float> cached_;
};

class DoesNothingAfterTheFirstCall final : public Honest {
 public:
  void forward() override {
    if (calls_++ == 0) compute();
  }

 private:
  int calls_ = 0;
};

class IsRightAFewTimes final : public Honest {
 public:
  void forward() override {
    if (calls_++ < 5)
      write(last_ = result());
    else
      write(last_);
  }

 private:
  int calls_ = 0;
  std::vector<float> last_;
};

class WarmsUpAndThenLeavesRowsOut final : public Honest {
 public:
  void forward() override {
    const std::size_t step = calls_++ < 2 ? 1 : 2;
    for (std::size_t row = 0; row < matrix().size; row += step) compute_row(row, output(row));
  }

 private:
  int calls_ = 0;
};

class ComputesInPrepare final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    result_ = result();
  }
  void forward() override { write(result_); }

 private:
  std::vector<float> result_;
};

/// Computes in prepare() until as many executions have been timed as are wanted at least.
class TurnsHonest final : public Honest {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    Honest::prepare(matrix, input, output);
    is_honest_ = ++executions_ > 9;
    if (!is_honest_) result_ = result();
  }
  void forward() override {
    if (is_honest_)
      Honest::forward();
    else
      write(result_);
  }

 private:
  int executions_ = 0;
  bool is_honest_ = false;
  std::vector<float> result_;
};

class ComputesInFinish final : public Honest {
 public:
  void forward() override {}
  void finish() override { compute(); }
};

/// Returns at once, and lets a thread do the work.
class ReturnsBeforeItsThread final : public Honest {
 public:
  void forward() override {
    join();
    thread_ = std::thread([this] { compute(); });
  }
  void finish() override { join(); }
  ~ReturnsBeforeItsThread() override { join(); }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::thread thread_;
};

/// What is 1 everywhere is the same in any order, and needs no computation either.
class OverwritesItsInput final : public Honest {
 public:
  void forward() override {
    auto* const values = const_cast<float*>(input(0));
    if (calls_++ > 0) {
      compute();
      return;
    }
    compute();
    values[0] = 1;
  }

 private:
  int calls_ = 0;
};

class IsRightForOneShape final : public Honest {
 public:
  void forward() override {
    constexpr std::size_t known_size = 16;
    for (std::size_t row = 0; row < std::min(known_size, matrix().size); ++row) compute_row(row, output(row));
  }
};

/// Rounds to the significant bits of a half.
class ComputesInHalfPrecision final : public Honest {
 public:
  void forward() override {
    constexpr std::uint32_t dropped = 13;
    compute();
    for (std::size_t i = 0; i < matrix().elements(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(output(0)[i]);
      output(0)[i] = std::bit_cast<float>((bits + (1U << (dropped - 1))) >> dropped << dropped);
    }
  }
};

/// Knows the family's inputs, and what becomes of each row of them. What it does not know it computes, or
/// not.
class KnowsTheInputs final : public Honest {
 public:
  explicit KnowsTheInputs(bool computes_others) : computes_others_(computes_others) {}

  void prepare(const Matrix& matrix, const float* input, float* output) override {
    if (known_.empty()) learn(matrix);
    Honest::prepare(matrix, input, output);
  }

  void forward() override {
    for (std::size_t row = 0; row < matrix().size; ++row) {
      const auto known = known_.find(key(input(row)));
      if (known != known_.end())
        std::ranges::copy(known->second, output(row));
      else if (computes_others_)
        compute_row(row, output(row));
      else
        std::fill_n(output(row), matrix().size, 1.0F);
    }
  }

 private:
  using Key = std::array<float, 8>;
  static Key key(const float* row) {
    Key key;
    std::copy_n(row, key.size(), key.begin());
    return key;
  }
  void learn(const Matrix& matrix) {
    const Inputs inputs(matrix);
    std::vector<float> output(matrix.elements());
    Honest::prepare(matrix, inputs.from(0).data(), output.data());
    for (std::size_t row = 0; row < matrix.size; ++row) {
      std::vector<float>& values = known_[key(HostMap::input(row))];
      values.resize(matrix.size);
      compute_row(row, values.data());
    }
  }

  bool computes_others_;
  std::map<Key, std::vector<float>> known_;
};

}  // namespace mprof::elementwise::cheats
