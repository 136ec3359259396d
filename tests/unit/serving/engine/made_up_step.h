/*
 * tests/unit/serving/engine/made_up_step.h - a step that takes 100 us, 1 us a
 * token of a prompt and 10 us a sequence that decodes, on the rank that it is
 * asked for.
 */
#ifndef MSIM_TESTS_UNIT_SERVING_ENGINE_MADE_UP_STEP_H
#define MSIM_TESTS_UNIT_SERVING_ENGINE_MADE_UP_STEP_H
#include "serving/llm/llm.h"

static double made_up_us(void *ctx, const struct msim_llm_step *step)
{
    double us = 100;

    (void)ctx;
    if (step->rank)
        step = step->rank;
    us += 10.0 * step->decode_seqs;
    for (uint32_t i = 0; i < step->n_chunks; i++)
        us += step->chunks[i].tokens;
    return us;
}

#endif
