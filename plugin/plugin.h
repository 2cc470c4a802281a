#ifndef MPROF_PLUGIN_H
#define MPROF_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* The C boundary between mprof and a variant that is loaded from a shared library. C++ variants include
   <mprof/variant.hpp> or their family's header instead, which do all of this for them.

   A library has two functions with C linkage: mprof_abi_version(), which gives MPROF_ABI_VERSION as it was
   when the library was compiled, and mprof_plugin(), which gives the one variant that it holds. Both are
   called in a process of their own, never in the one that keeps the record. */

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
   until finish() has returned. */
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
  const char* family;   /* "conv", "elementwise" (`mprof list`) */
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

/* A library that is compiled for a GPU has this one too (<mprof/launches.hpp>): from now on it calls
   `launching` before each launch of a kernel, with the kernel and a function that gives its mangled name, or
   NULL. */
typedef const char* (*mprof_kernel_name)(const void* kernel);
typedef void (*mprof_launching)(const void* kernel, mprof_kernel_name name);
void mprof_count_launches(mprof_launching launching);

#ifdef __cplusplus
}
#endif

#endif
