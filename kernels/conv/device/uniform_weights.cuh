// SPDX-License-Identifier: MIT
#pragma once

/// Sums of products with weights that are the same for a whole warp. Where the compiler knows that, it loads
/// the weights from constant memory to uniform registers (compute capability 7.5). A multiply-add can have a
/// uniform register for its second factor. So no lane loads or holds a weight, and an instruction reads the
/// register file once less.
namespace mprof::conv {

/// Loads `Count` floats from shared memory at once, where they are aligned so.
template <unsigned Count>
__device__ void load(float (&values)[Count], const float* from) {
  static_assert(Count == 2 || Count == 4);
  if constexpr (Count == 2) {
    const float2 two = *reinterpret_cast<const float2*>(from);
    values[0] = two.x;
    values[1] = two.y;
  } else {
    const float4 four = *reinterpret_cast<const float4*>(from);
    values[0] = four.x;
    values[1] = four.y;
    values[2] = four.z;
    values[3] = four.w;
  }
}

/// Stores `Count` sums to shared memory, 16 bytes at a time or 8, as `Count` allows. `to` is aligned so.
template <unsigned Count>
__device__ void store(float* to, const float (&sums)[Count]) {
  if constexpr (Count % 4 == 0) {
#pragma unroll
    for (unsigned i = 0; i < Count; i += 4) {
      *reinterpret_cast<float4*>(to + i) = make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < Count; i += 2) {
      *reinterpret_cast<float2*>(to + i) = make_float2(sums[i], sums[i + 1]);
    }
  }
}

/// All products of an input at column x: sums[m][x - q] += input * weights[q][m], for all q.
template <unsigned Mask, unsigned Maps, unsigned Width>
__device__ void add_input(float (&sums)[Maps][Width], const float (&weights)[Mask][Maps], float input,
                          unsigned x) {
#pragma unroll
  for (unsigned q = 0; q < Mask; ++q) {
#pragma unroll
    for (unsigned m = 0; m < Maps; ++m) {
      if (x - q < Width) sums[m][x - q] += input * weights[q][m];  // x < q wraps around to a large number
    }
  }
}

/// Adds a mask row to the sums of a strip of pixels, in the order of the input's columns: few of them are in
/// registers at a time. `weight(i)` is the weight of tap i / Maps and map i % Maps, from constant memory.
/// `row` is aligned for loads of `AtOnce` floats, and read to the end of the last of them.
template <unsigned Mask, unsigned AtOnce, unsigned Maps, unsigned Width, class Weight>
__device__ void add_mask_row(float (&sums)[Maps][Width], const float* row, const Weight& weight) {
  float weights[Mask][Maps];
#pragma unroll
  for (unsigned i = 0; i < Mask * Maps; ++i) weights[i / Maps][i % Maps] = weight(i);
#pragma unroll
  for (unsigned x = 0; x < Width + Mask - 1; x += AtOnce) {
    float inputs[AtOnce];
    load(inputs, row + x);
#pragma unroll
    for (unsigned i = 0; i < AtOnce; ++i) add_input(sums, weights, inputs[i], x + i);
  }
}

}  // namespace mprof::conv
