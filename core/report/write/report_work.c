/*
 * core/report/write/report_work.c - the parts of the text report that say what
 * the work is: phases, regions that the job marks, kernels by name.
 */
#include "core/base/print.h"
#include "core/report/write/report_internal.h"

#include <string.h>

#define TOP_KERNELS 10
#define TOP_REGIONS 10

void msim_page_add_work(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    for (uint32_t i = 0; i < p->n_kernels && i < TOP_KERNELS; i++)
        msim_short_names_add(page->names, p->kernels[i].name);
    for (uint32_t i = 0; i < p->n_regions && i < TOP_REGIONS; i++)
        msim_short_names_add(page->names, p->regions[i].name);
}

/* ---- phases -------------------------------------------------------------- */

/* A row of a table; `last` is its last column, and `note` stands behind it. */
static void print_row(const struct msim_page *page, const char *name,
                      const char *calls, double us, double total,
                      const struct msim_unit *unit, const char *last,
                      const char *note)
{
    char time[MSIM_CELL], share[MSIM_CELL];

    msim_format_in(time, unit, us);
    msim_format_share(share, total > 0 ? us / total : 0);
    msim_page_name(page, name);
    msim_print(page->out, "%7s%11s%9s%12s%s%s\n", calls, time, share, last,
               *note ? "  " : "", note);
}

static void print_head(const struct msim_page *page, const char *title,
                       const char *calls, const char *time, const char *last)
{
    msim_print(page->out, "\n%-*s%7s%11s%9s%12s\n", (int)page->name_columns + 2,
               title, calls, time, "share", last);
}

static void print_region(const struct msim_page *page,
                         const struct msim_region_row *r, double total,
                         const struct msim_unit *unit, bool calls)
{
    char count[MSIM_CELL], host[MSIM_CELL];

    msim_format_calls(count, r->calls);
    msim_format_in(host, unit, r->host_us);
    print_row(page, r->name, calls ? count : "", r->gpu_us, total, unit, host,
              "");
}

static void print_regions(const struct msim_page *page, const char *title,
                          const struct msim_region_row *rows, uint32_t n,
                          double total, bool calls)
{
    const struct msim_unit *unit;
    double most = 0;
    char gpu[MSIM_CELL], host[MSIM_CELL];

    for (uint32_t i = 0; i < n; i++) {
        most = rows[i].gpu_us > most ? rows[i].gpu_us : most;
        most = rows[i].host_us > most ? rows[i].host_us : most;
    }
    unit = msim_unit_for(most);
    snprintf(gpu, sizeof(gpu), "GPU/%s", unit->name);
    snprintf(host, sizeof(host), "host/%s", unit->name);
    print_head(page, title, calls ? "calls" : "", gpu, host);
    for (uint32_t i = 0; i < n && i < TOP_REGIONS; i++)
        print_region(page, &rows[i], total, unit, calls);
    if (n > TOP_REGIONS)
        fprintf(page->out, "  %u more (--json lists all)\n", n - TOP_REGIONS);
}

void msim_page_phases(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    double total = 0;

    for (uint32_t i = 0; i < p->n_phases; i++)
        total += p->phases[i].gpu_us;
    if (p->n_phases)
        print_regions(page, "phases", p->phases, p->n_phases, total, false);
    if (!p->n_phases)
        for (uint32_t i = 0; i < p->n_kernels; i++)
            total += p->kernels[i].us;
    if (p->n_regions)
        print_regions(page, "marked regions (may nest)", p->regions,
                      p->n_regions, total, true);
}

/* ---- kernels ------------------------------------------------------------- */

static void print_kernel(const struct msim_page *page,
                         const struct msim_kernel_row *k, double total,
                         const struct msim_unit *unit)
{
    char calls[MSIM_CELL], each[MSIM_CELL];

    msim_format_calls(calls, k->calls);
    msim_format_time(each, k->calls > 0 ? k->us / k->calls : 0);
    print_row(page, k->name, calls, k->us, total, unit, each,
              strcmp(k->kind, "kernel") ? k->kind : "");
}

static void print_sum(const struct msim_page *page, const char *label,
                      double us, double total, const struct msim_unit *unit)
{
    char time[MSIM_CELL], share[MSIM_CELL];

    msim_format_in(time, unit, us);
    msim_format_share(share, total > 0 ? us / total : 0);
    msim_print(page->out, "  %-*s%7s%11s%9s\n", (int)page->name_columns, label,
               "", time, share);
}

void msim_page_kernels(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    const struct msim_unit *unit;
    double total = 0, rest = 0;
    char label[64];

    if (!p->n_kernels)
        return;
    for (uint32_t i = 0; i < p->n_kernels; i++) {
        total += p->kernels[i].us;
        rest += i < TOP_KERNELS ? 0 : p->kernels[i].us;
    }
    unit = msim_unit_for(p->kernels[0].us);
    snprintf(label, sizeof(label), "time/%s", unit->name);
    print_head(page, "kernels and copies", "calls", label, "each");
    for (uint32_t i = 0; i < p->n_kernels && i < TOP_KERNELS; i++)
        print_kernel(page, &p->kernels[i], total, unit);
    snprintf(label, sizeof(label), "%u more (--json lists all)",
             p->n_kernels - TOP_KERNELS);
    if (p->n_kernels > TOP_KERNELS)
        print_sum(page, label, rest, total, unit);
    if (p->n_kernels > 1)
        print_sum(page, "in all", total, total, unit);
}
