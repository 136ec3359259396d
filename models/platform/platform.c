/*
 * models/platform/platform.c - what a platform is asked, and what is set after
 * it was loaded.
 */
#include "models/platform/platform.h"

#include "models/platform/platform_data.h"

#include <string.h>

/* Take what the network says into a data sheet. */
static void join(struct msim_data_sheet *s, const struct msim_network *n)
{
    s->network = n->card_rate;
    s->cards_per_gpu = n->cards_per_node / n->gpus_per_node;
    s->latency_us = n->latency_us;
}

/* Whether `n` is the network that the platform has unasked. */
static bool is_usual(const struct msim_data_sheet *s,
                     const struct msim_network *n)
{
    return n->card_rate == s->network && n->latency_us == s->latency_us &&
           n->cards_per_node == s->cards_per_gpu * n->gpus_per_node;
}

void msim_platform_join(struct msim_platform *p, const struct msim_network *n)
{
    p->joined = !is_usual(&p->sheet, n);
    join(&p->sheet, n);
    join(&p->usual, n);
}

void msim_platform_link(struct msim_platform *p,
                        const struct msim_platform *links)
{
    p->links = links;
}

enum msim_status msim_platform_set_clock(struct msim_platform *p,
                                         const struct msim_clock_wish *w,
                                         struct msim_error *err)
{
    const struct msim_data_sheet usual = *msim_platform_usual(p);
    struct msim_sm_clock clock;

    MSIM_TRY(msim_clock_solve(&clock, w, &usual, p->name, err));
    p->clock = clock;
    p->usual = usual;
    p->sheet = msim_clock_sheet(&usual, clock.ratio);
    return MSIM_OK;
}

void msim_platform_set_index_skew(struct msim_platform *p, double skew)
{
    p->sheet.index_skew = skew;
    p->usual.index_skew = skew;
}

const struct msim_sm_clock *msim_platform_clock(const struct msim_platform *p)
{
    return &p->clock;
}

const char *msim_platform_name(const struct msim_platform *p)
{
    return p->name;
}

const char *msim_platform_title(const struct msim_platform *p)
{
    return p->title;
}

const char *msim_platform_generation(const struct msim_platform *p)
{
    return p->sheet.generation;
}

uint32_t msim_platform_gpus_a_node(const struct msim_platform *p)
{
    /* "NVLink5-NVL72" */
    return strstr(p->sheet.interconnect, "NVL72") ? 72 : MSIM_GPUS_A_NODE;
}

const char *msim_platform_file(const struct msim_platform *p)
{
    return p->path;
}

bool msim_platform_is_host(const struct msim_platform *p)
{
    return p->is_host;
}

double msim_platform_peak_flops(const struct msim_platform *p,
                                enum msim_dtype dtype, const char *variant)
{
    return p->sheet.rate[msim_data_sheet_rate_on(&p->sheet, dtype, variant)];
}

double msim_platform_bandwidth(const struct msim_platform *p)
{
    return p->sheet.bandwidth;
}

double msim_platform_usable_bytes(const struct msim_platform *p)
{
    return p->sheet.usable_bytes;
}

double msim_platform_link_rate(const struct msim_platform *p)
{
    return p->sheet.link;
}

double msim_platform_memory_bytes(const struct msim_platform *p)
{
    return p->sheet.memory_bytes;
}

uint32_t msim_platform_sms(const struct msim_platform *p)
{
    return (uint32_t)p->sheet.sms;
}

double msim_platform_trace_factor(const struct msim_platform *p)
{
    return p->sheet.trace_factor;
}

double msim_platform_slowdown(const struct msim_platform *p)
{
    return p->slowdown;
}

uint64_t msim_platform_rows(const struct msim_platform *p)
{
    uint64_t rows = 0;

    for (uint32_t i = 0; i < p->n_fits; i++)
        rows += p->fits[i].rows;
    return rows;
}

const char *msim_platform_base(const struct msim_platform *p)
{
    return p->base;
}

static bool is_one_of(const char *key, const char *const *all)
{
    while (*all && strcmp(*all, key) != 0)
        all++;
    return *all != NULL;
}

uint32_t msim_factor_kinds_with_rows(const struct msim_platform *p)
{
    static const char *const VECTOR[] = {"add", "addu", NULL};
    static const char *const NORM[] = {"ln", "input_layernorm", NULL};
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < p->n_fits; i++) {
        const struct msim_fit *f = &p->fits[i];

        if (f->law == &MSIM_LAW_VECTOR && is_one_of(f->key, VECTOR))
            kinds |= 1u << MSIM_FACTOR_VECTOR;
        else if (f->law == &MSIM_LAW_VECTOR && is_one_of(f->key, NORM))
            kinds |= 1u << MSIM_FACTOR_NORM;
        else if (f->law == &MSIM_LAW_GEMM && strcmp(f->key, "half") == 0)
            kinds |= 1u << MSIM_FACTOR_GEMM_HALF;
        else if (f->law == &MSIM_LAW_GEMM && strcmp(f->key, "fp32") == 0)
            kinds |= 1u << MSIM_FACTOR_GEMM_FULL;
        else if (f->law == &MSIM_LAW_ATTENTION)
            kinds |= 1u << MSIM_FACTOR_ATTENTION;
    }
    return kinds;
}
