// SPDX-License-Identifier: MIT
#ifndef MPROF_PLUGIN_H
#define MPROF_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* The C boundary between mprof and a variant or a family that is loaded from a shared library. C++ variants
   include <mprof/variant.hpp> or their family's header instead, and C++ families <mprof/family.hpp>, which do
   all of this for them.

   A library has two functions with C linkage. The first, mprof_abi_version(), gives MPROF_ABI_VERSION as it
   was when the library was compiled. The second gives what the library holds: mprof_plugin() the one variant,
   or mprof_family_plugin() the one family. They are called in processes of their own, never in the one that
   keeps the record. */

/* Raised by each change after which an older library would be misread. mprof loads no other version. */
#define MPROF_ABI_VERSION 1u

#ifdef __cplusplus
extern "C" {
#endif

/* What a function that can fail gives: NULL when it was done, otherwise why not, as a text that stays valid
   until the next call. No exception may leave the library. */
typedef const char* mprof_failure;

/* A size of the problem by its name, such as "channels". Which there are is the family's. */
typedef struct mprof_size {
  const char* name;
  size_t value;
} mprof_size;

/* A parameter of the variant: every value is a text, and must be one of `values`. */
typedef struct mprof_parameter {
  const char* name;
  const char* meaning;
  const char* default_value;
  const char* const* values;
  size_t value_count;
} mprof_parameter;

/* The value of one parameter. */
typedef struct mprof_setting {
  const char* name;
  const char* value;
} mprof_setting;

/* What prepare() is given: an op's sizes, and its arrays on the host, in the family's order. All stay valid
   until finish() has returned. An input whose type is not float is passed as if it were. */
typedef struct mprof_task {
  const mprof_size* sizes;
  size_t size_count;
  const float* const* inputs;
  const size_t* input_elements;
  size_t input_count;
  float* output;
  size_t output_elements;
} mprof_task;

/* The variant is verified at sizes that no tile divides as well, where its family has some. */
#define MPROF_AT_ODD_SIZES 1u

/* One way to compute a family's ops. Texts that are NULL count as empty. */
typedef struct mprof_variant {
  const char* family;   /* "conv", "elementwise" (`mprof list`), or one of the user's own */
  const char* title;    /* a few words */
  const char* idea;     /* a sentence or two */
  const char* device;   /* "cpu" or "cuda" */
  const char* baseline; /* id of the variant that it improves on; empty: it is the baseline */
  const mprof_parameter* parameters;
  size_t parameter_count;
  double tolerance;  /* relative L2 error that counts as right; 0: the family's; at most 0.01 */
  double arithmetic; /* share of an op's FLOPs that its algorithm needs; 0: all */
  uint32_t flags;    /* MPROF_AT_... */

  /* Makes what computes one op, as long as a process lives. */
  mprof_failure (*create)(const mprof_setting* settings, size_t setting_count, void** op);
  /* Allocates, and brings the inputs to where forward() reads them. */
  mprof_failure (*prepare)(void* op, const mprof_task* task);
  /* Computes; what is timed. May be called several times, and leaves the same output each time. On a GPU it
     may return before its kernels have ended. */
  mprof_failure (*forward)(void* op);
  /* Brings the result to the task's output, and frees what prepare() allocated. */
  mprof_failure (*finish)(void* op);
  /* Fills the place that forward() writes to with `pattern`, where that is not the task's output itself. May
     be NULL. */
  mprof_failure (*poison_output)(void* op, uint32_t pattern);
  void (*destroy)(void* op);
} mprof_variant;

uint32_t mprof_abi_version(void);
const mprof_variant* mprof_plugin(void);

/* A library may have this one too: why these values of the variant's parameters cannot go together, valid
   until the next call, or NULL. Such a case is skipped with the reason, and nothing of it is made. */
const char* mprof_impossible(const mprof_setting* settings, size_t setting_count);

/* A library that is compiled for a GPU has this one too (<mprof/launches.hpp>). From now on it calls
   `launching` before each launch of a kernel. It gives the kernel, and a function that gives the kernel's
   mangled name, or NULL. */
typedef const char* (*mprof_kernel_name)(const void* kernel);
typedef void (*mprof_launching)(const void* kernel, mprof_kernel_name name);
void mprof_count_launches(mprof_launching launching);

/* One of the whole numbers that make a problem of a family. */
typedef struct mprof_axis {
  const char* name;       /* "size": also the option's, --size */
  const char* plural;     /* "sizes"; empty: the name with an s, where it has none */
  const char* title;      /* over a column of a table; empty: the name with a capital */
  const char* meaning;    /* "rows of the table" */
  uint64_t default_value; /* where other axes are given and this one is not */
  uint64_t min;
  uint64_t max; /* 0: no limit */
} mprof_axis;

/* Types of an input's elements, of 4 bytes each. */
#define MPROF_FLOAT32 0u
#define MPROF_INT32 1u

/* An array that an op reads. */
typedef struct mprof_input {
  const char* name;
  size_t elements;    /* of each block's own part, which lie one behind the other; of all, if it is shared */
  uint32_t is_shared; /* 0: each block reads a part of its own; 1: all blocks read the whole */
  uint32_t type;      /* MPROF_FLOAT32 or MPROF_INT32 */
} mprof_input;

/* What one op of a family computes at one problem. Its output is `blocks` of `items_in_block` of
   `item_elements` floats. An item is what must be right by itself. A block is what the reference computes at
   once from the block's own part of the inputs and from what is shared. The blocks of timed executions come
   in different orders, so that no output that was kept is right again. */
typedef struct mprof_op {
  const char* name;
  const char* title;       /* one line; empty: its name */
  const mprof_size* sizes; /* what its variants are told beside the values of the axes */
  size_t size_count;
  const mprof_input* inputs;
  size_t input_count;
  size_t blocks;
  size_t items_in_block;
  size_t item_elements;
  double tolerance;          /* relative L2 error of an item that counts as right; above 0, at most 0.01 */
  double flops;              /* that its definition needs; a multiply-add counts as two */
  double bytes;              /* that must move at the least; 0: each input and the output once */
  double special_operations; /* evaluations of exponentials, logarithms, sines, roots and the like */
} mprof_op;

/* A workload: what is computed, on what, and what is right. Problems are given as the value of each axis, in
   the order of the axes. Texts that are NULL count as empty. */
typedef struct mprof_family {
  const char* name;  /* first part of its variants' ids: a letter, then letters, digits, _ and - */
  const char* title; /* one line */
  const char* item;  /* what its readers call an item, "row"; empty: items are not counted */
  const char* items; /* "rows"; empty: the item with an s */
  const char* whole; /* what they call one execution of all ops, "product"; empty: "execution" */
  const mprof_axis* axes;
  size_t axis_count;
  const uint64_t* problems; /* [problem_count][axis_count]: what is run where the user names none */
  size_t problem_count;
  const uint64_t* quick_problems; /* what takes seconds; none: the first of the others */
  size_t quick_problem_count;

  /* The ops of a problem, which run one after another and read inputs of their own. They stay valid until the
     next call. */
  mprof_failure (*ops)(const mprof_size* problem, const mprof_op** ops, size_t* op_count);
  /* Fills an input with values that depend on `seed` and on nothing else. `elements` of all blocks. May be
     NULL where all inputs are floats: they are drawn evenly from [-1, 1). */
  mprof_failure (*fill)(const mprof_size* problem, size_t op, size_t input, uint64_t seed, void* values,
                        size_t elements);
  /* Writes what one block of an op's output should hold, computed in double precision by the definition.
     `task` is what variants are given, but has no output, and output_elements of one block. Called from
     several threads at once. */
  mprof_failure (*reference)(const mprof_task* task, size_t op, size_t block, double* values);
} mprof_family;

const mprof_family* mprof_family_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
