/*
 * plan/describe/framework.c - training programs, and what follows from them.
 */
#include "plan/describe/strategy.h"

#include "core/pipeline/pipeline_schedule.h"

#include <math.h>
#include <string.h>

/* In the order of the words of strategy.h; the first where none is stated. */
static const struct msim_framework FRAMEWORKS[] = {
    {"common", 2, 12, 0, false, false, false, false, MSIM_SPLIT_EVEN},
    {"deepspeed", 2, 12, 0, false, false, false, false, MSIM_SPLIT_EVEN},
    {"megatron", 4, 12, 0, false, false, false, false, MSIM_SPLIT_EVEN},
    {"nanotron", 0, 0, 0, true, true, true, true, MSIM_SPLIT_PARAMETERS},
    {"pytorch", 2, 12, 4, false, false, false, false, MSIM_SPLIT_EVEN},
};
#define COUNT ((int64_t)(sizeof(FRAMEWORKS) / sizeof(*FRAMEWORKS)))

/* From 1; 0: it is none. */
static int64_t place_of(const char *name)
{
    int64_t i = 0;

    while (i < COUNT && strcmp(FRAMEWORKS[i].name, name) != 0)
        i++;
    return i < COUNT ? i + 1 : 0;
}

const struct msim_framework *msim_framework_of(const struct msim_strategy *s)
{
    int64_t place = s->technique.framework;

    return &FRAMEWORKS[place > 0 && place <= COUNT ? place - 1 : 0];
}

bool msim_framework_is(const char *name)
{
    return place_of(name) > 0;
}

void msim_framework_default(struct msim_strategy *s, const char *name)
{
    if (!s->technique.framework)
        s->technique.framework = place_of(name);
}

/* ---- bytes --------------------------------------------------------------- */

double msim_weight_bytes(const struct msim_strategy *s)
{
    return msim_precision_is_full(s->precision) ? 4 : 2;
}

double msim_gradient_bytes(const struct msim_strategy *s)
{
    int64_t bits = s->technique.gradient_bits;

    return bits ? (double)bits / 8 : msim_weight_bytes(s);
}

/* ---- exchanges ----------------------------------------------------------- */

bool msim_exchanges_each_micro_batch(const struct msim_strategy *s)
{
    if (s->pp == 1)
        return s->zero >= 2;
    return s->zero == 3 ||
           (s->zero == 0 && msim_framework_of(s)->exchanges_each_micro_batch);
}

/* ---- stages -------------------------------------------------------------- */

static int64_t alike_layers(const struct msim_described *m, int64_t stages,
                            int64_t stage)
{
    double layers = (double)m->layers, n = (double)stages;
    double table = (double)m->vocab * (double)m->hidden;
    double layer =
        (msim_described_parameters(m) - table * (m->tied ? 1 : 2)) / layers;
    double head = table / layer;
    int64_t each = (int64_t)fmin(ceil((layers + head) / n), layers);
    int64_t left = m->layers - each * stage;

    return left < 0 ? 0 : left < each ? left : each;
}

int64_t msim_stage_layers(const struct msim_described *m,
                          const struct msim_strategy *s, int64_t stage)
{
    if (s->pp == 1)
        return m->layers;
    if (msim_framework_of(s)->split == MSIM_SPLIT_PARAMETERS && s->vp == 1)
        return alike_layers(m, s->pp, stage);
    return msim_pipeline_layers(m->layers, s->pp, stage);
}

int64_t msim_chunk_layers(const struct msim_described *m,
                          const struct msim_strategy *s, int64_t stage,
                          int64_t chunk)
{
    int64_t layers = msim_stage_layers(m, s, stage);

    return msim_pipeline_chunk_layers(layers, s->vp, chunk);
}
