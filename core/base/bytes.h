/*
 * core/base/bytes.h - multiples of a byte.
 */
#ifndef MSIM_CORE_BASE_BYTES_H
#define MSIM_CORE_BASE_BYTES_H

/* 2^30 bytes: what drivers and data sheets mean by the GB of a GPU's memory. */
#define MSIM_MIB 1048576.0
#define MSIM_GIB 1073741824.0

#endif
