/*
 * models/law/dispatch_law.h - the law of tokens sent to the ranks of their
 * experts.
 */
#ifndef MSIM_MODELS_LAW_DISPATCH_LAW_H
#define MSIM_MODELS_LAW_DISPATCH_LAW_H
#include "models/law/law.h"

/* Ranks that share the experts, at least 2. */
double msim_dispatch_ranks(const struct msim_work *w);

/* Messages that a token is sent as, in the mean. */
double msim_dispatch_messages(const struct msim_work *w);

/* SMs that send. */
double msim_dispatch_sms(const struct msim_data_sheet *s,
                         const struct msim_work *w);

#endif
