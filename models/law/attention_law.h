/*
 * models/law/attention_law.h - the law of attention as one kernel.
 */
#ifndef MSIM_MODELS_LAW_ATTENTION_LAW_H
#define MSIM_MODELS_LAW_ATTENTION_LAW_H
#include "models/law/law.h"

/* Which of the sizes is the logarithm of the heads of keys. */
enum { MSIM_ATTENTION_SIZE_KV_HEADS = 2 };

/* "prefill", "decode" or "encoder": the key of the fits. */
const char *msim_attention_phase_text(const struct msim_work *w);

#endif
