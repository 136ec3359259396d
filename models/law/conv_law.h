/*
 * models/law/conv_law.h - the law of convolutions on GPUs.
 */
#ifndef MSIM_MODELS_LAW_CONV_LAW_H
#define MSIM_MODELS_LAW_CONV_LAW_H
#include "models/law/law.h"

/* "forward", "backward_data" or "backward_weight": the first part of the keys
 * of fits. */
const char *msim_conv_key_pass(enum msim_conv_pass pass);

#endif
