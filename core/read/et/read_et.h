/*
 * core/read/et/read_et.h - execution traces of PyTorch (JSON), schemas 1.0.1
 * to 1.1.1.
 */
#ifndef MSIM_CORE_READ_ET_READ_ET_H
#define MSIM_CORE_READ_ET_READ_ET_H
#include "core/read/reader.h"

extern const struct msim_read_format msim_et_format;

#endif
