/*
 * core/trace/narrow.h - what products in 8 bits ask of their operands.
 */
#ifndef MSIM_CORE_TRACE_NARROW_H
#define MSIM_CORE_TRACE_NARROW_H

/* Rows of both matrices are so many elements long, or a multiple of it
 * (torch._scaled_mm). */
#define MSIM_NARROW_MULTIPLE 16

#endif
