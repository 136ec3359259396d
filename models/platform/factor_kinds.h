/*
 * models/platform/factor_kinds.h - the kinds of work whose times a platform
 * knows from tables of operators, not from whole programs.
 */
#ifndef MSIM_MODELS_PLATFORM_FACTOR_KINDS_H
#define MSIM_MODELS_PLATFORM_FACTOR_KINDS_H
#include "models/platform/platform.h"

/* Kinds (enum msim_factor) that tables of operators have rows of on that very
 * GPU: these tell their times better than whole programs do. A bit each, 1 <<
 * kind. */
uint32_t msim_factor_kinds_with_rows(const struct msim_platform *p);

#endif
