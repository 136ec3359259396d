/*
 * models/law/collective_law.h - the law of collectives and transfers.
 */
#ifndef MSIM_MODELS_LAW_COLLECTIVE_LAW_H
#define MSIM_MODELS_LAW_COLLECTIVE_LAW_H
#include "models/law/law.h"

/*
 * The key of the fits for work `w` over `interconnect` by `algorithm` ("": not
 * known), which stand in for those that `w` names.
 */
void msim_collective_key(char *text, size_t size, const char *interconnect,
                         const char *algorithm, const struct msim_work *w);

/* Whether a key is of groups on several nodes. */
bool msim_collective_key_is_over_nodes(const char *key);

#endif
