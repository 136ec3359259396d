/*
 * models/law/moe_law.h - the law of one rank's share of a layer of experts.
 */
#ifndef MSIM_MODELS_LAW_MOE_LAW_H
#define MSIM_MODELS_LAW_MOE_LAW_H
#include "models/law/law.h"

/* The first features tell models apart: hidden size, experts, experts a
 * token. */
#define MSIM_MOE_NAMES 3

/* Ranks that split the matrices of an expert, at least 1. */
double msim_moe_tp(const struct msim_work *w);

/* The number format that fits are told apart by: the work's variant, else its
 * dtype. */
const char *msim_moe_type(const struct msim_work *w);

/* The kernels behind the work's back end ("triton", "cutlass", ...); NULL where
 * its name does not say. */
const char *msim_moe_kernels(const struct msim_work *w);

#endif
