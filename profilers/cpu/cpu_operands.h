/*
 * profilers/cpu/cpu_operands.h - memory that operands are taken from.
 *
 * There is an area for each sort of numbers to read, full of random ones, and
 * one to write; each is at least twice the last-level cache. Every run takes
 * its operands behind the last run's, and from the beginning when the area
 * ends, so that they are in no cache.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_OPERANDS_H
#define MSIM_PROFILERS_CPU_CPU_OPERANDS_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msim_area {
    char *bytes;
    size_t size, at;
};

enum msim_operand_kind {
    MSIM_OPERAND_F32, /* uniform in -1 to 1 */
    MSIM_OPERAND_F64,
    MSIM_OPERAND_BF16,
    MSIM_OPERAND_INDEX, /* msim_operand_row() */
    MSIM_OPERAND_OUT,   /* to write */
    MSIM_OPERANDS
};

struct msim_operands {
    struct msim_area areas[MSIM_OPERANDS]; /* made when first asked for */
    size_t least;                          /* size of an area */
};

/* `cache_bytes`: of the last level. */
void msim_operands_init(struct msim_operands *o, size_t cache_bytes);
void msim_operands_release(struct msim_operands *o);

/* Make room for runs that take `bytes` of a sort, eight operands at most.
 * ENOMEM, and nothing else, may fail. */
MSIM_MUST_CHECK
enum msim_status msim_operands_reserve(struct msim_operands *o,
                                       enum msim_operand_kind of, size_t bytes);

/* Begin a run, before its operands are taken. `warm`: they are those of the
 * last run, which the caches may hold; else they lie behind those. */
void msim_operands_begin(struct msim_operands *o, bool warm);

/* The next `bytes` of an area that was reserved, on a cache line of their own;
 * at most as many as were reserved. */
void *msim_operands_take(struct msim_operands *o, enum msim_operand_kind of,
                         size_t bytes);

/* One of `rows` rows, by a random number of 32 bits (Lemire, 2019): so that a
 * look-up finds its rows' numbers drawn before, whatever the table. */
static inline uint64_t msim_operand_row(uint32_t random, uint64_t rows)
{
    return random * rows >> 32;
}

#endif
