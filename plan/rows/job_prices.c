/*
 * plan/rows/job_prices.c - pricing rows of jobs.
 */
#include "plan/rows/job_rows.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "models/platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct msim_job_platform {
    char name[256], network[256];   /* "": none is named */
    struct msim_platform *platform; /* NULL: it cannot be loaded */
    char reason[256];
    struct msim_pricer pricer;
};

void msim_job_prices_release(struct msim_job_prices *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        msim_pricer_release(&p->platforms[i].pricer);
        msim_platform_free(p->platforms[i].platform);
    }
    free(p->platforms);
    p->platforms = NULL;
    p->n = p->cap = 0;
}

static enum msim_status load(struct msim_job_platform *to, const char *data_dir,
                             struct msim_error *why)
{
    struct msim_network network;

    MSIM_TRY(msim_platform_load(&to->platform, data_dir, to->name, why));
    if (!*to->network)
        return MSIM_OK;
    MSIM_TRY(msim_network_load(&network, data_dir, to->network, why));
    return msim_platform_connect(to->platform, &network, data_dir, why);
}

static enum msim_status find_platform(struct msim_job_platform **out,
                                      struct msim_job_prices *p,
                                      const char *name, const char *network)
{
    struct msim_error why = {0};
    struct msim_job_platform *new;

    for (uint32_t i = 0; i < p->n; i++) {
        *out = &p->platforms[i];
        if (strcmp((*out)->name, name) == 0 &&
            strcmp((*out)->network, network) == 0)
            return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&p->platforms, &p->cap, p->n,
                       sizeof(*p->platforms)));
    *out = new = &p->platforms[p->n++];
    *new = (struct msim_job_platform){0};
    snprintf(new->name, sizeof(new->name), "%s", name);
    snprintf(new->network, sizeof(new->network), "%s", network);
    if (load(new, p->data_dir, &why) != MSIM_OK) {
        msim_platform_free(new->platform);
        new->platform = NULL;
        msim_cut_text(new->reason, sizeof(new->reason), why.text);
        return MSIM_OK;
    }
    new->pricer.platform = new->platform;
    return MSIM_OK;
}

/*
 * Megatron-LM pads a vocabulary to whole multiples of 128 on every tensor
 * parallel rank. Rows of one node, which are put together of single timings,
 * were not: their logits take 2.8 times as long on one rank (50,257 is odd) as
 * on two ranks that have half of them each.
 */
static void pad_vocabulary(struct msim_job_row *row)
{
    int64_t unit = 128 * row->strategy.tp;

    if (row->model == &row->by_numbers && row->strategy.nodes > 1)
        row->by_numbers.vocab =
            (row->by_numbers.vocab + unit - 1) / unit * unit;
}

enum msim_status msim_job_price(struct msim_job_prices *p,
                                struct msim_job_row *row, const char *platform,
                                struct msim_job_priced *out)
{
    const char *name = row->platform ? row->platform : platform;
    struct msim_job_platform *on;
    struct msim_error why = {0};

    out->defaults[0] = '\0';
    if (*row->reason)
        return MSIM_OK;
    if (!name) {
        snprintf(row->reason, sizeof(row->reason),
                 "no platform: want a column 'platform' or --platform");
        return MSIM_OK;
    }
    MSIM_TRY(find_platform(&on, p, name, row->network ? row->network : ""));
    if (!on->platform) {
        snprintf(row->reason, sizeof(row->reason), "%s", on->reason);
        return MSIM_OK;
    }
    out->on = on->platform;
    out->gpu = (struct msim_memory_gpu){
        .usable = msim_platform_usable_bytes(on->platform),
        .link = msim_platform_link_rate(on->platform)};
    if (row->model->type == MSIM_MODEL_DLRM) {
        snprintf(row->reason, sizeof(row->reason),
                 "model '%.64s' is a dlrm: want a transformer (synth writes "
                 "traces of a dlrm, and predict takes them)",
                 row->model->name);
        return MSIM_OK;
    }
    if (msim_strategy_complete(&row->strategy, row->given, row->model,
                               msim_platform_gpus_a_node(on->platform),
                               out->defaults, sizeof(out->defaults),
                               row->reason, sizeof(row->reason)))
        return MSIM_OK;
    pad_vocabulary(row);
    if (msim_terms_make(&out->terms, &on->pricer, row->model, &row->strategy,
                        &why) != MSIM_OK)
        msim_cut_text(row->reason, sizeof(row->reason), why.text);
    return MSIM_OK;
}
