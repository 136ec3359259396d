/*
 * core/work/kernel_type.h - the types of elements and of arithmetic,
 * from the name of a kernel.
 */
#ifndef MSIM_CORE_WORK_KERNEL_TYPE_H
#define MSIM_CORE_WORK_KERNEL_TYPE_H
#include "core/work/data_sheet.h"

/* The type that a kernel's name states, of a template or a product; UNKNOWN
 * where it states none. */
enum msim_dtype msim_kernel_stated_dtype(const char *name);

/* The rate of the arithmetic of a product's kernel; half precision, the usual,
 * where the name does not show it. */
enum msim_rate msim_kernel_rate(const char *name);

/* The type of a product's inputs at that rate. */
enum msim_dtype msim_kernel_rate_dtype(enum msim_rate rate, const char *name);

/* The type of the elements of a template; fp32 where the name does not show
 * it. */
enum msim_dtype msim_kernel_dtype(const char *name);

#endif
