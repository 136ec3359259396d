/*
 * cli/platforms/platform_page.c - gather what the page of one GPU shows.
 */
#include "cli/platforms/platform_page.h"

#include "core/base/containers.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const LAWS[MSIM_PLATFORM_PAGE_FAMILIES] = {
    "gemm", "attention", "conv", "vector", "moe", "dispatch", "collective"};

bool msim_platform_page_belongs(const char *law, const char *family)
{
    static const char CPU[] = "cpu_";

    if (strncmp(law, CPU, strlen(CPU)) == 0)
        law += strlen(CPU);
    return strcmp(law, family) == 0;
}

static int by_name(const void *pa, const void *pb)
{
    const struct msim_pick *a = pa;
    const struct msim_pick *b = pb;
    int c = strcmp(a->fit->law->name, b->fit->law->name);

    if (c == 0)
        c = strcmp(a->fit->framework, b->fit->framework);
    return c ? c : strcmp(a->fit->key, b->fit->key);
}

static enum msim_status gather_picks(struct msim_platform_page *page)
{
    struct msim_pick pick;
    uint32_t capacity = 0, at = 0;

    while (msim_fit_index_inherited(page->p, &at, &pick)) {
        MSIM_TRY(msim_grow((void **)&page->picks, &capacity, page->n_picks,
                           sizeof(*page->picks)));
        page->picks[page->n_picks++] = pick;
    }
    if (page->n_picks)
        qsort(page->picks, page->n_picks, sizeof(*page->picks), by_name);
    return MSIM_OK;
}

/* A mean that grows; values that are not known do not count. */
struct mean {
    double sum;
    uint32_t n;
};

static void add(struct mean *m, double v)
{
    if (isnan(v))
        return;
    m->sum += v;
    m->n++;
}

static double value_of(const struct mean *m)
{
    return m->n ? m->sum / m->n : (double)NAN;
}

static void sum_fits(struct msim_platform_page_family *f, const cJSON *file)
{
    static const char *const KEYS[] = {
        "error_held_back", "error_held_back_median", "error_held_back_p90",
        "interval_coverage", "interval_high_over_low"};
    struct mean of[5] = {{0, 0}};
    const cJSON *fit;

    f->worst = (double)NAN;
    cJSON_ArrayForEach(fit, cJSON_GetObjectItemCaseSensitive(file, "cells"))
    {
        const char *law = msim_json_get_text(fit, "law");

        if (!law || !msim_platform_page_belongs(law, f->law))
            continue;
        f->fits++;
        f->rows += msim_json_get_number(fit, "rows", 0);
        f->worst = fmax(
            f->worst, msim_json_get_number(fit, "error_held_back_worst", NAN));
        for (size_t k = 0; k < 5; k++)
            add(&of[k], msim_json_get_number(fit, KEYS[k], NAN));
    }
    f->mean = value_of(&of[0]);
    f->median = value_of(&of[1]);
    f->p90 = value_of(&of[2]);
    f->inside = value_of(&of[3]);
    f->width = value_of(&of[4]);
}

static void sum_picks(struct msim_platform_page_family *f,
                      const struct msim_platform_page *page)
{
    struct mean error = {0, 0}, width = {0, 0};

    for (uint32_t i = 0; i < page->n_picks; i++) {
        const struct msim_pick *pick = &page->picks[i];

        if (!msim_platform_page_belongs(pick->fit->law->name, f->law))
            continue;
        f->inherited++;
        add(&error, msim_pick_held_out_error(page->p, pick));
        add(&width, msim_pick_half_width(pick));
    }
    f->held_out = value_of(&error);
    f->interval_factor = exp(value_of(&width));
}

static void gather_taken(struct msim_platform_page *page)
{
    const struct msim_data_sheet *s = &page->p->sheet;
    const struct msim_platform_page_taken all[MSIM_PLATFORM_PAGE_TAKEN] = {
        {"kernel_floor_us", "us", s->floor_us},
        {"pcie_bandwidth", "B/s", s->pcie},
        {"pageable_bandwidth", "B/s", s->pageable},
        {"link_bandwidth", "B/s", s->link},
        {"network_bandwidth", "B/s", s->network},
        {"trace_factor", "1", s->trace_factor},
    };
    const cJSON *sheet =
        cJSON_GetObjectItemCaseSensitive(page->file, "data_sheet");

    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_TAKEN; i++)
        if (!cJSON_GetObjectItemCaseSensitive(sheet, all[i].key))
            page->taken[page->n_taken++] = all[i];
    page->taken_from = page->p->next ? page->p->next->name : NULL;
}

enum msim_status msim_platform_page_make(struct msim_platform_page *page,
                                         const struct msim_platform *p,
                                         const cJSON *file)
{
    memset(page, 0, sizeof(*page));
    page->p = p;
    page->file = file;
    gather_taken(page);
    MSIM_TRY(gather_picks(page));
    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++) {
        page->families[i].law = LAWS[i];
        sum_fits(&page->families[i], file);
        sum_picks(&page->families[i], page);
    }
    return MSIM_OK;
}

void msim_platform_page_release(struct msim_platform_page *page)
{
    free(page->picks);
    page->picks = NULL;
}

const char *msim_platform_page_whose(const struct msim_pick *pick)
{
    return pick->platform ? msim_platform_name(pick->platform)
                          : "common to all GPUs";
}
