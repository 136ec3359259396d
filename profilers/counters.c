/*
 * profilers/counters.c - figures of hardware counters, and their metrics.
 *
 * Names as the Host Profiling API of CUPTI 13.0 lists them, from Turing (TU102)
 * to Blackwell (GB202). Weights as in NVIDIA's own table of flop_count_hp, _sp
 * and _dp ("Nsight Compute CLI", "Nvprof metric comparison"): an FMA is two
 * operations.
 */
#include "profilers/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const FIGURES[] = {
#define X(name, text) text,
    MSIM_FIGURE_MAP(X)
#undef X
};

const char *msim_figure_text(enum msim_counter_figure f)
{
    return FIGURES[f];
}

void msim_counts_write(const struct msim_counts *c, struct msim_json *out)
{
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        if (!isnan(c->of[f]))
            msim_json_number(out, FIGURES[f], c->of[f]);
    msim_json_unsigned(out, "passes", c->passes);
    msim_json_open(out, "missing", '[', false);
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        if (isnan(c->of[f]))
            msim_json_text(out, NULL, FIGURES[f]);
    msim_json_close(out);
}

/* ---- metrics ------------------------------------------------------------- */

#define INSTRUCTIONS(op) "sm__sass_thread_inst_executed_op_" op "_pred_on"

/* What a figure is made of; the second name is that of newer chips. */
static const struct part {
    enum msim_counter_figure figure;
    double weight;
    const char *names[2];
} PARTS[] = {
    {MSIM_FIGURE_DRAM_READ, 1, {"dram__bytes_read", "dram__bytes_op_read"}},
    {MSIM_FIGURE_DRAM_WRITE, 1, {"dram__bytes_write", "dram__bytes_op_write"}},
    {MSIM_FIGURE_L2, 1, {"lts__t_bytes", NULL}},
    {MSIM_FIGURE_FP64, 1, {INSTRUCTIONS("dadd"), NULL}},
    {MSIM_FIGURE_FP64, 1, {INSTRUCTIONS("dmul"), NULL}},
    {MSIM_FIGURE_FP64, 2, {INSTRUCTIONS("dfma"), NULL}},
    {MSIM_FIGURE_FP32, 1, {INSTRUCTIONS("fadd"), NULL}},
    {MSIM_FIGURE_FP32, 1, {INSTRUCTIONS("fmul"), NULL}},
    {MSIM_FIGURE_FP32, 2, {INSTRUCTIONS("ffma"), NULL}},
    {MSIM_FIGURE_FP16, 1, {INSTRUCTIONS("hadd"), NULL}},
    {MSIM_FIGURE_FP16, 1, {INSTRUCTIONS("hmul"), NULL}},
    {MSIM_FIGURE_FP16, 2, {INSTRUCTIONS("hfma"), NULL}},
    {MSIM_FIGURE_TENSOR_INSTRUCTIONS,
     1,
     {"sm__inst_executed_pipe_tensor", NULL}},
};
#define N_PARTS (sizeof(PARTS) / sizeof(*PARTS))

/* Operations of tensor cores by their operands, as many as a chip tells apart;
 * what follows is "fp16_dst_fp32", "int8", ... Their shares with sparse
 * operands are counters of their own, and so are those for sampling. */
#define TENSOR "sm__ops_path_tensor_src_"

static void take(struct msim_metrics *m, const char *counter,
                 enum msim_counter_figure figure, double weight, uint64_t part)
{
    struct msim_metric *to = &m->list[m->n];

    if (m->n == MSIM_METRICS)
        return;
    snprintf(to->name, sizeof(to->name), "%.90s.sum", counter);
    to->figure = figure;
    to->weight = weight;
    m->n++;
    m->parts |= part;
}

static void offer_tensor(struct msim_metrics *m, const char *counter)
{
    const char *operands = counter + sizeof(TENSOR) - 1;

    if (strstr(operands, "_sparsity_") || strstr(operands, "_realtime"))
        return;
    if (strcmp(operands, "int8") == 0)
        take(m, counter, MSIM_FIGURE_TENSOR_INT8, 1, 0);
    else if (strncmp(operands, "int", 3) != 0)
        take(m, counter, MSIM_FIGURE_TENSOR, 1, 0);
}

void msim_metrics_offer(struct msim_metrics *m, const char *counter)
{
    if (strncmp(counter, TENSOR, sizeof(TENSOR) - 1) == 0) {
        offer_tensor(m, counter);
        return;
    }
    for (size_t i = 0; i < N_PARTS; i++) {
        const struct part *p = &PARTS[i];
        uint64_t bit = UINT64_C(1) << i;
        bool is_it = strcmp(counter, p->names[0]) == 0 ||
                     (p->names[1] && strcmp(counter, p->names[1]) == 0);

        if (is_it && !(m->parts & bit))
            take(m, counter, p->figure, p->weight, bit);
    }
}

/* With a part missing a sum would be too small. */
static bool is_whole(const struct msim_metrics *m, enum msim_counter_figure f)
{
    bool any = false;

    for (size_t i = 0; i < N_PARTS; i++)
        if (PARTS[i].figure == f && !(m->parts & UINT64_C(1) << i))
            return false;
    for (uint32_t i = 0; i < m->n; i++)
        any |= m->list[i].figure == f;
    return any;
}

void msim_metrics_sum(const struct msim_metrics *m, const double *values,
                      struct msim_counts *out)
{
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        out->of[f] = is_whole(m, (enum msim_counter_figure)f) ? 0 : (double)NAN;
    for (uint32_t i = 0; i < m->n; i++)
        out->of[m->list[i].figure] += m->list[i].weight * values[i];
}

/* ---- permission ---------------------------------------------------------- */

/* What comes after `key` at the start of a line, or NULL. */
static const char *line_of(const char *text, const char *key)
{
    size_t n = strlen(key);

    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, key, n) == 0)
            return text + n;
    }
    return NULL;
}

/* CAP_SYS_ADMIN and CAP_PERFMON, "capabilities(7)". */
#define CAPABILITIES (UINT64_C(1) << 21 | UINT64_C(1) << 38)

bool msim_counters_allowed(const char *params, const char *status)
{
    const char *restricted = line_of(params, "RmProfilingAdminOnly: ");
    const char *mine = line_of(status, "CapEff:");

    return !restricted || restricted[0] == '0' || !mine ||
           strtoull(mine, NULL, 16) & CAPABILITIES;
}
