/*
 * serving/engine/settings_rules.h - the rules that an engine's settings make.
 */
#ifndef MSIM_SERVING_ENGINE_SETTINGS_RULES_H
#define MSIM_SERVING_ENGINE_SETTINGS_RULES_H
#include "serving/app/engine_settings.h"
#include "serving/engine/batch_rules.h"

/*
 * The rules of a replica with settled settings, whose data parallel attention
 * has `ranks` ranks in step (1: none). Settings are those of one rank, but for
 * SGLang's chunk, which its ranks share (--enable-dp-attention divides
 * chunked_prefill_size by dp_size). Numbers beyond what a rule holds are cut.
 */
struct msim_replica_rules
msim_replica_rules_of(const struct msim_engine_settings *settings,
                      uint32_t ranks);

#endif
