/*
 * core/work/kernel/kernel_family.h - the family that a kernel's name tells, for
 * kernels of graphs, of generated code and of operators that are not known.
 */
#ifndef MSIM_CORE_WORK_KERNEL_KERNEL_FAMILY_H
#define MSIM_CORE_WORK_KERNEL_KERNEL_FAMILY_H
#include "core/work/work.h"

/* BOUND where the name tells nothing. */
enum msim_family msim_kernel_family(const char *name);

#endif
