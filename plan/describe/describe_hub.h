/*
 * plan/describe/describe_hub.h - the config.json of a Hugging Face model.
 * Private to plan/describe.
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_HUB_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_HUB_H
#include "core/json/fields.h"
#include "plan/describe/described.h"

/* Is it one? Ours has other members. */
bool msim_described_is_hub(const cJSON *json);

/*
 * What serving asks beyond the sizes: windows, layers of linear attention, the
 * choice of keys, how weights are stored. `outer`: the whole file, of which `f`
 * may be "text_config". plan/describe/describe_served.c
 */
void msim_described_read_served(struct msim_described *m, struct msim_fields *f,
                                struct msim_fields *outer);

/* Errors stay in `f`. */
void msim_described_read_hub(struct msim_described *m, struct msim_fields *f);

#endif
