/*
 * core/read/kineto/read_kineto.h - the trace events of torch.profiler (JSON).
 */
#ifndef MSIM_CORE_READ_KINETO_READ_KINETO_H
#define MSIM_CORE_READ_KINETO_READ_KINETO_H
#include "core/read/reader.h"

extern const struct msim_read_format msim_kineto_format;

#endif
