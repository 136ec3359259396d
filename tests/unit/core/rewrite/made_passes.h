/*
 * tests/unit/core/rewrite/made_passes.h - steps of several micro batches of one
 * layer, as an execution trace made here.
 */
#ifndef MSIM_TESTS_UNIT_CORE_REWRITE_MADE_PASSES_H
#define MSIM_TESTS_UNIT_CORE_REWRITE_MADE_PASSES_H
#include "tests/unit/core/rewrite/trained_step.h"

#define MADE_MOST 8 /* passes and steps */

/* Forward and backward of one layer, and a step. */
static const struct made_node MADE_PASS[] = {
    {0, 0, "aten::linear", 0, 1, "3:4000 1:4000", "20:4000"},
    {1, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {2, 1, "LinearBackward", 1, 1, "", ""},
    {3, 2, "aten::linear_backward", 0, -1, "20:4000 3:4000 1:4000", "30:4000"},
    {4, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {5, 4, "torch::autograd::AccumulateGrad", 1, -1, "30:4000", ""},
};
static const struct made_node MADE_ONE_STEP[] = {
    {0, 0, "Optimizer.step#Lion.step", 7, -1, "", ""},
    {1, 0, "aten::addcdiv_", 0, -1, "1:4000 30:4000 4:4000", ""},
};

/* "pps": two passes and a step, again and again. */
static inline struct msim_job *made_passes(const char *text)
{
    static struct made_node nodes[6 * MADE_MOST];
    size_t n = 0;

    for (const char *at = text; *at; at++) {
        const struct made_node *from = *at == 'p' ? MADE_PASS : MADE_ONE_STEP;
        size_t rows = *at == 'p' ? sizeof(MADE_PASS) / sizeof(*MADE_PASS) : 2;
        unsigned base = 10 + (unsigned)n;

        for (size_t i = 0; i < rows; i++) {
            nodes[n] = from[i];
            nodes[n].id += base;
            if (from[i].parent || (i && *at == 's'))
                nodes[n].parent += base;
            if (from[i].seq >= 0)
                nodes[n].seq = (int)base + 1;
            n++;
        }
    }
    return made_nodes(nodes, n);
}

#endif
