/*
 * core/work/kernel/kernel_type.h - kind of work, types of elements and of
 * arithmetic, out of the name of a kernel. Part of
 * core/work/kernel/kernel_name.h.
 */
#ifndef MSIM_CORE_WORK_KERNEL_KERNEL_TYPE_H
#define MSIM_CORE_WORK_KERNEL_KERNEL_TYPE_H
#include "core/work/kernel/kernel_name.h"

/* The kind of work; `name` without the types of its parameters. */
enum msim_kernel_kind msim_kernel_kind_read(const char *name);

/* The rate that the arithmetic of a product's kernel runs at; half precision,
 * the usual, where the name does not say. */
enum msim_rate msim_kernel_rate(const char *name);

/* The type of a product's inputs at that rate. */
enum msim_dtype msim_kernel_rate_dtype(enum msim_rate rate, const char *name);

/* The type of the elements that a template is made for; fp32 where the name
 * does not say. */
enum msim_dtype msim_kernel_dtype(const char *name);

#endif
