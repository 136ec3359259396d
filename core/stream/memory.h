/*
 * core/stream/memory.h - how much memory there is, and how much of it this
 * process has.
 */
#ifndef MSIM_CORE_STREAM_MEMORY_H
#define MSIM_CORE_STREAM_MEMORY_H
#include <stdint.h>

/* Bytes of this process that are in memory now; 0: the system does not say. */
uint64_t msim_memory_used(void);

/* Bytes that the machine has; UINT64_MAX: the system does not say. */
uint64_t msim_memory_there(void);

#endif
