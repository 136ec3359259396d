/*
 * replay/fleet/report_selection_text.c - a selection as people read it.
 */
#include "core/base/containers.h"
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"
#include "replay/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 38
#define NAME_BYTES   (4 * NAME_COLUMNS + 1)
#define MAIN_KINDS   3
#define MAIN_COLUMNS 31
#define MAIN_LEAST   0.05 /* share from which on a kind is worth a word */

/* ---- what other reports say, too ---------------------------------------- */

static int largest_first(const void *a, const void *b)
{
    const struct msim_kind_row *x = a, *y = b;

    if (x->fleet != y->fleet)
        return MSIM_ORDER(y->fleet, x->fleet);
    return MSIM_ORDER(x->kind, y->kind);
}

uint32_t msim_selection_kinds(const struct msim_selection *s,
                              struct msim_kind_row rows[MSIM_FAMILY_COUNT + 1])
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        if (s->fleet->share[k] > 0 || s->share[k] > 0)
            rows[n++] =
                (struct msim_kind_row){k, s->fleet->share[k], s->share[k]};
    qsort(rows, n, sizeof(*rows), largest_first);
    return n;
}

void msim_selection_verdict(const struct msim_selection *s, char *text,
                            size_t size)
{
    snprintf(text, size,
             "%s %u of %u job%s stand%s for the fleet: shares of its time "
             "within %.1f points",
             s->n == 1 ? "this" : "these", s->n, s->fleet->n_jobs,
             s->fleet->n_jobs == 1 ? "" : "s", s->n == 1 ? "s" : "",
             100 * s->largest);
}

/* How long the folders are that all names begin with. */
static size_t common_folders(const struct msim_fleet *fleet)
{
    const char *first = fleet->jobs[0].name;
    size_t len = strlen(first);

    for (uint32_t i = 1; i < fleet->n_jobs; i++) {
        size_t same = 0;

        while (same < len && fleet->jobs[i].name[same] == first[same])
            same++;
        len = same;
    }
    while (len > 0 && first[len - 1] != '/')
        len--;
    return len;
}

/* `name` without the folders that all jobs have in common. */
static const char *short_name(const struct msim_selection *s, const char *name)
{
    return name + common_folders(s->fleet);
}

/* ---- tables ------------------------------------------------------------- */

static uint32_t largest_but(const double *share, const bool *said)
{
    uint32_t best = MSIM_TIME_KINDS;

    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        if (!said[k] && (best == MSIM_TIME_KINDS || share[k] > share[best]))
            best = k;
    return best;
}

/* "idle 67 %, conv 19 %": those that matter most, as far as they fit. */
static void main_kinds(const double *share, char text[MAIN_COLUMNS + 1])
{
    bool said[MSIM_FAMILY_COUNT + 1] = {false};
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < MAIN_KINDS; i++) {
        uint32_t best = largest_but(share, said);
        char one[64];
        int len = snprintf(one, sizeof(one), "%s%s %.0f %%", i ? ", " : "",
                           msim_time_kind_text(best), 100 * share[best]);

        if (i && (share[best] < MAIN_LEAST || used + len > MAIN_COLUMNS))
            return;
        said[best] = true;
        used +=
            (size_t)snprintf(text + used, MAIN_COLUMNS + 1 - used, "%s", one);
    }
}

struct chosen {
    char job[NAME_BYTES], kinds[MAIN_COLUMNS + 1];
    double weight, stands_for;
    int64_t jobs;
};

#define PERCENT(record, member, title, columns)                                \
    MSIM_COLUMN(record, member, NULL, .heading = title, .gap = 1,              \
                .width = (columns), .unit = 100, .decimals = 1, .after = " %")
static const struct msim_column CHOSEN[] = {
    MSIM_COLUMN(struct chosen, job, NULL, .heading = "job",
                .type = MSIM_COLUMN_CELL, .gap = 2, .width = -NAME_COLUMNS),
    PERCENT(struct chosen, weight, "weight", 8),
    PERCENT(struct chosen, stands_for, "stands for", 11),
    MSIM_COLUMN(struct chosen, jobs, NULL, .heading = "jobs",
                .type = MSIM_COLUMN_COUNT, .gap = 1, .width = 5),
    MSIM_COLUMN(struct chosen, kinds, NULL, .heading = "its time",
                .type = MSIM_COLUMN_CELL, .gap = 2)};

static void write_chosen(const struct msim_selection *s, FILE *out)
{
    putc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(CHOSEN));
    for (uint32_t c = 0; c < s->n; c++) {
        const struct msim_chosen *of = &s->chosen[c];
        const struct msim_fleet_job *job = &s->fleet->jobs[of->job];
        struct chosen row = {.weight = of->weight,
                             .stands_for = of->stands_for,
                             .jobs = of->jobs};

        (void)msim_format_name(row.job, sizeof(row.job),
                               short_name(s, job->name), NAME_COLUMNS);
        main_kinds(job->share, row.kinds);
        msim_record_text(out, MSIM_COLUMNS(CHOSEN), &row);
    }
}

struct kind {
    const char *name;
    double fleet, selection, difference;
};

static const struct msim_column KINDS[] = {
    MSIM_COLUMN(struct kind, name, NULL, .heading = "time of",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -12),
    PERCENT(struct kind, fleet, "fleet", 9),
    PERCENT(struct kind, selection, "selection", 11),
    MSIM_COLUMN(struct kind, difference, NULL, .heading = "difference",
                .gap = 1, .width = 11, .unit = 100, .decimals = 1,
                .style = '+')};

static void write_kinds(const struct msim_selection *s, FILE *out)
{
    struct msim_kind_row rows[MSIM_FAMILY_COUNT + 1];
    uint32_t n = msim_selection_kinds(s, rows);

    putc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(KINDS));
    for (uint32_t i = 0; i < n; i++)
        msim_record_text(out, MSIM_COLUMNS(KINDS),
                         &(struct kind){msim_time_kind_text(rows[i].kind),
                                        rows[i].fleet, rows[i].selection,
                                        rows[i].selection - rows[i].fleet});
}

static void write_fleet(const struct msim_selection *s, FILE *out)
{
    const struct msim_fleet *fleet = s->fleet;
    const char *by = fleet->weighed_by; /* what a job counts for */
    char folder[NAME_BYTES], name[512], cpu[48] = "", left[32] = "";
    size_t len = common_folders(fleet);
    uint32_t on_cpu = 0;

    for (uint32_t i = 0; i < fleet->n_jobs; i++)
        on_cpu += !fleet->jobs[i].time.gpus;
    if (on_cpu)
        snprintf(cpu, sizeof(cpu), "; of %u the device is the CPU", on_cpu);
    if (fleet->n_left_out)
        snprintf(left, sizeof(left), "; %u left out", fleet->n_left_out);
    msim_print(out,
               !strcmp(by, "job") ? "\nEvery job weighs the same%.0s%s%s"
               : !strcmp(by, "traced time")
                   ? "\nJobs weigh their traced time%.0s%s%s"
                   : "\nJobs weigh what '%s' says%s%s",
               by, cpu, left);
    snprintf(name, sizeof(name), "%.*s", (int)len, fleet->jobs[0].name);
    msim_format_name(folder, sizeof(folder), name, NAME_COLUMNS);
    msim_print(out, len ? ".\nTheir names go on from %s.\n" : ".%.0s\n",
               folder);
}

enum msim_status msim_selection_text(const struct msim_selection *s, FILE *out)
{
    char verdict[256];

    msim_selection_verdict(s, verdict, sizeof(verdict));
    msim_print(out, "%s (%s)\n", verdict, msim_time_kind_text(s->worst));
    write_chosen(s, out);
    write_kinds(s, out);
    write_fleet(s, out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
