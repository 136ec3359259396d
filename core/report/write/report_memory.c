/*
 * core/report/write/report_memory.c - the memory of a prediction as text, JSON
 * and a panel of the chart.
 */
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/report/write/chart.h"
#include "core/report/write/report_internal.h"

#include <math.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------- */

static bool is_too_large(const struct msim_memory_note *m)
{
    return m->needed > m->capacity;
}

static bool is_edge(const struct msim_memory_note *m)
{
    return m->fits && strcmp(m->fits, "edge") == 0;
}

char msim_report_memory_mark(const struct msim_memory_note *m)
{
    return is_too_large(m) ? '!' : is_edge(m) ? '?' : '\0';
}

void msim_report_memory_key(char mark, FILE *out)
{
    if (mark)
        msim_print(out, "%c: not %s to fit into the memory of the GPU\n", mark,
                   mark == '!' ? "expected" : "sure");
}

void msim_report_memory_cell(char cell[MSIM_CELL],
                             const struct msim_memory_note *m)
{
    if (!(m->peak > 0))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, "%.2f%s%c", m->peak / MSIM_GIB,
                 msim_report_memory_mark(m) ? " " : "",
                 msim_report_memory_mark(m));
}

/* ---- a line -------------------------------------------------------------- */

struct line {
    char text[2048];
};

#define SAY(l, ...) msim_text_append((l)->text, sizeof((l)->text), __VA_ARGS__)

/* "gradients" for "optimizer_state": words for people. */
static void say_parts(struct line *l, const struct msim_memory_note *m)
{
    char bytes[MSIM_CELL], word[48];
    bool any = false;

    for (uint32_t i = 0; i < m->n_by; i++) {
        if (!(m->by[i].bytes > 0))
            continue;
        snprintf(word, sizeof(word), "%s", m->by[i].name);
        for (char *at = word; (at = strchr(at, '_'));)
            *at = ' ';
        msim_format_memory(bytes, m->by[i].bytes);
        SAY(l, "%s%s %s", any ? ", " : "", word, bytes);
        any = true;
    }
}

/* What the framework's allocator does not hold. */
static void say_beside(struct line *l, const struct msim_memory_note *m)
{
    char bytes[MSIM_CELL];

    if (!(m->context > 0))
        return;
    msim_format_memory(bytes, m->context);
    SAY(l, "CUDA's context %s", bytes);
    if (!(m->nccl > 0))
        return;
    msim_format_memory(bytes, m->nccl);
    SAY(l, ", NCCL's buffers %s", bytes);
}

/* Those that fit, or those that do not, in a line. */
static void put_ways(const struct msim_memory_note *m, bool fit,
                     const char *indent, FILE *out)
{
    char bytes[MSIM_CELL];
    struct line l = {""};

    for (uint32_t i = 0; i < m->n_ways; i++) {
        if (m->ways[i].is_enough != fit)
            continue;
        msim_format_memory(bytes, m->ways[i].needed);
        SAY(&l, "%s%s (%s)",
            *l.text ? "; "
            : fit   ? "would fit: "
                    : "would not yet: ",
            m->ways[i].change, bytes);
    }
    if (*l.text)
        msim_print(out, "%s\n%s", l.text, indent);
}

void msim_report_memory_text(const struct msim_memory_note *m,
                             const char *indent, FILE *out)
{
    char needed[MSIM_CELL], capacity[MSIM_CELL];
    struct line l = {""};

    if (!msim_report_memory_mark(m))
        return;
    msim_format_memory(needed, m->needed);
    msim_format_memory(capacity, m->capacity);
    SAY(&l, "%s: needs %s of %s",
        !is_edge(m)       ? "does not fit"
        : is_too_large(m) ? "is not expected to fit"
                          : "is not sure to fit",
        needed, capacity);
    if (m->n_by && is_too_large(m)) {
        SAY(&l, "; at the peak: ");
        say_parts(&l, m);
        SAY(&l, "%s", m->context > 0 ? ", " : "");
        say_beside(&l, m);
    }
    msim_print(out, "%s\n%s", l.text, m->n_ways ? indent : "");
    put_ways(m, true, indent, out);
    put_ways(m, false, "", out);
}

void msim_report_recorded_text(const struct msim_recorded_list *l,
                               char text[MSIM_RECORDED_TEXT])
{
    char allocated[MSIM_CELL], reserved[MSIM_CELL];

    text[0] = '\0';
    for (uint32_t i = 0; i < l->n; i++) {
        msim_format_memory(allocated, (double)l->of[i].allocated);
        msim_format_memory(reserved, (double)l->of[i].reserved);
        if (l->n > 1)
            msim_text_append(text, MSIM_RECORDED_TEXT,
                             "%sGPU %lld: ", i ? "; " : "",
                             (long long)l->of[i].device);
        msim_text_append(text, MSIM_RECORDED_TEXT, "%s", allocated);
        if (l->of[i].reserved != MSIM_BYTES_UNKNOWN)
            msim_text_append(text, MSIM_RECORDED_TEXT, ", %s reserved",
                             reserved);
    }
}

static void page_peak(const struct msim_page *page)
{
    const struct msim_memory_note *m = &page->p->memory;
    char peak[MSIM_CELL], reserved[MSIM_CELL], low[MSIM_CELL], high[MSIM_CELL];
    struct line l = {""}, beside = {""};

    msim_format_memory(peak, m->peak);
    msim_format_memory(reserved, m->reserved);
    msim_format_memory(low, m->low);
    msim_format_memory(high, m->high);
    SAY(&l, "%11s      90 %%: %s to %s at the peak", peak, low, high);
    if (m->reserved > m->peak)
        SAY(&l, ", %s reserved", reserved);
    msim_page_line(page, "memory", "%s", l.text);
    say_beside(&beside, m);
    if (*beside.text)
        msim_print(page->out, "    beside it: %s\n", beside.text);
}

void msim_page_memory(const struct msim_page *page)
{
    const struct msim_memory_note *m = &page->p->memory;
    char recorded[MSIM_RECORDED_TEXT];

    /* In the column of the predicted one. */
    msim_report_recorded_text(&m->recorded, recorded);
    if (m->recorded.n)
        msim_page_line(page, "memory recorded", "%s%s",
                       m->recorded.n > 1 ? "" : "  ", recorded);
    if (!(m->peak > 0))
        return;
    page_peak(page);
    if (msim_report_memory_mark(m)) {
        fputs("    ", page->out);
        msim_report_memory_text(m, "    ", page->out);
    }
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_rank(struct msim_json *j, int64_t rank)
{
    if (rank < 0)
        msim_json_text(j, "rank", NULL);
    else
        msim_json_integer(j, "rank", rank);
}

static void json_parts(struct msim_json *j, const char *key,
                       const struct msim_named_bytes *by, uint32_t n)
{
    msim_json_open(j, key, '{', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_number(j, by[i].name, by[i].bytes);
    msim_json_close(j);
}

static void json_ways(struct msim_json *j, const struct msim_memory_note *m)
{
    msim_json_open(j, "would_fit", '[', false);
    for (uint32_t i = 0; i < m->n_ways; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "change", m->ways[i].change);
        msim_json_number(j, "peak", m->ways[i].peak);
        msim_json_number(j, "reserved", m->ways[i].reserved);
        msim_json_number(j, "needed", m->ways[i].needed);
        msim_json_bool(j, "fits", m->ways[i].is_enough);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void json_points(struct msim_json *j, const struct msim_memory_note *m)
{
    msim_json_open(j, "timeline", '[', true);
    for (uint32_t i = 0; i < m->n_points; i++) {
        const struct msim_memory_note_point *p = &m->points[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_time(j, "at_us", p->at);
        msim_json_text(j, "operator", p->op);
        msim_json_number(j, "reserved", p->reserved);
        json_parts(j, "by", p->by, m->n_by);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void json_bytes(struct msim_json *j, const char *key, uint64_t bytes)
{
    if (bytes == MSIM_BYTES_UNKNOWN)
        msim_json_text(j, key, NULL);
    else
        msim_json_unsigned(j, key, bytes);
}

void msim_report_json_recorded(struct msim_json *j, const char *key,
                               const struct msim_recorded_list *l)
{
    struct msim_recorded_memory sum = msim_recorded_memory_sum(l);

    if (!l->n) {
        msim_json_text(j, key, NULL);
        return;
    }
    msim_json_open(j, key, '{', false);
    msim_json_unsigned(j, "allocated", sum.allocated);
    json_bytes(j, "reserved", sum.reserved);
    msim_json_open(j, "gpus", '[', false);
    for (uint32_t i = 0; i < l->n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_integer(j, "gpu", l->of[i].device);
        msim_json_unsigned(j, "allocated", l->of[i].allocated);
        json_bytes(j, "reserved", l->of[i].reserved);
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_close(j);
}

static void json_figures(struct msim_json *j, const struct msim_memory_note *m)
{
    msim_json_number(j, "peak", m->peak);
    msim_json_number(j, "low", m->low);
    msim_json_number(j, "high", m->high);
    msim_json_number(j, "reserved", m->reserved);
    msim_json_number(j, "cuda_context", m->context);
    msim_json_number(j, "nccl_buffers", m->nccl);
    msim_json_number(j, "needed", m->needed);
    msim_report_json_recorded(j, "measured", &m->recorded);
}

void msim_report_json_memory(struct msim_json *j,
                             const struct msim_memory_note *m)
{
    msim_json_open(j, "memory_bytes", '{', false);
    json_figures(j, m);
    json_rank(j, m->rank);
    json_parts(j, "by", m->by, m->n_by);
    msim_json_number(j, "capacity", m->capacity);
    msim_json_text(j, "fits", m->fits);
    if (m->n_ways)
        json_ways(j, m);
    if (m->n_points)
        json_points(j, m);
    msim_json_close(j);
}

void msim_report_json_rank_memory(struct msim_json *j,
                                  const struct msim_memory_note *m)
{
    if (!m->n_by && !m->recorded.n)
        return;
    msim_json_open(j, "memory_bytes", '{', false);
    json_figures(j, m);
    json_parts(j, "by", m->by, m->n_by);
    msim_json_close(j);
}

/* ---- a panel of the chart ------------------------------------------------ */

#define PLOT 200 /* pixels */

/* One a part, in the order of MSIM_HELD_MAP. */
static const char *const COLORS[] = {"#4477aa", "#66ccee", "#228833", "#bbbbbb",
                                     "#ee8866", "#ccbb44", "#aa3377"};
#define N_COLORS (sizeof(COLORS) / sizeof(COLORS[0]))

int msim_chart_memory_height(const struct msim_memory_note *m)
{
    return m->n_points ? MSIM_CHART_TOP + PLOT + MSIM_CHART_AXIS : 0;
}

static double us_of(msim_ps ps)
{
    return (double)ps / MSIM_PS_PER_US;
}

static double end_us(const struct msim_memory_note *m)
{
    return us_of(m->points[m->n_points - 1].at);
}

/* GiB, where there are some, else MiB. */
static double unit_of(const struct msim_memory_note *m)
{
    return m->peak >= MSIM_GIB ? MSIM_GIB : MSIM_MIB;
}

/* Columns: the time, the ends of the parts on top of each other, reserved. */
static void put_data(const struct msim_chart *c,
                     const struct msim_memory_note *m)
{
    double us = msim_unit_for(end_us(m))->us, unit = unit_of(m);
    uint32_t n = m->n_by < N_COLORS ? m->n_by : N_COLORS;

    msim_gnuplot_block(c->out, "memory");
    for (uint32_t i = 0; i < m->n_points; i++) {
        const struct msim_memory_note_point *p = &m->points[i];
        double v[2 + N_COLORS] = {us_of(p->at) / us}, end = 0;

        for (uint32_t k = 0; k < n; k++)
            v[1 + k] = (end += p->by[k].bytes) / unit;
        v[1 + n] = p->reserved / unit;
        msim_gnuplot_row(c->out, 9, v, 2 + n);
    }
    msim_gnuplot_block_end(c->out, 0);
}

/* The GPU's memory, where that does not squeeze the curve. */
static bool shows_capacity(const struct msim_memory_note *m)
{
    return m->capacity > 0 && m->capacity < 3 * m->needed;
}

static void put_axes(const struct msim_chart *c,
                     const struct msim_memory_note *m, int top)
{
    char heading[200], peak[MSIM_CELL], capacity[MSIM_CELL], rank[40] = "";
    double most = fmax(m->reserved, m->peak), limit = m->capacity;

    msim_format_memory(peak, m->peak);
    msim_format_memory(capacity, limit);
    if (m->rank >= 0)
        snprintf(rank, sizeof(rank), " of rank %lld", (long long)m->rank);
    snprintf(heading, sizeof(heading), "Memory%s: %s at the peak%s%s", rank,
             peak, limit > 0 ? ", the GPU has " : "",
             limit > 0 ? capacity : "");
    msim_chart_area(
        c, top, PLOT, heading, end_us(m), "as the host comes to the operators",
        1.08 * fmax(most, shows_capacity(m) ? limit : 0) / unit_of(m),
        unit_of(m) >= MSIM_GIB ? "GiB" : "MiB");
}

static bool is_used(const struct msim_memory_note *m, uint32_t part)
{
    for (uint32_t i = 0; i < m->n_points; i++)
        if (m->points[i].by[part].bytes > 0)
            return true;
    return false;
}

static void put_key(const struct msim_chart *c,
                    const struct msim_memory_note *m, int top)
{
    struct msim_chart_key key = msim_chart_key_begin(top);
    char word[48];

    for (uint32_t k = 0; k < m->n_by; k++) {
        if (!is_used(m, k))
            continue;
        snprintf(word, sizeof(word), "%s", m->by[k].name);
        for (char *at = word; (at = strchr(at, '_'));)
            *at = ' ';
        msim_chart_key_color(c, &key, COLORS[k % N_COLORS], word);
    }
    msim_chart_key_color(c, &key, "#222222", "reserved");
    if (shows_capacity(m))
        msim_chart_key_color(c, &key, "#cc3311", "the GPU has");
}

void msim_chart_memory(const struct msim_chart *c,
                       const struct msim_memory_note *m, int top)
{
    put_data(c, m);
    put_axes(c, m, top);
    put_key(c, m, top);
    fputs("plot ", c->out);
    for (uint32_t k = m->n_by; k-- > 0;) /* the highest is behind */
        if (is_used(m, k))
            msim_gnuplot_print(
                c->out,
                "$memory using 1:%u with fillsteps fs solid 1 noborder lc "
                "rgb %s, ",
                k + 2, COLORS[k % N_COLORS]);
    if (shows_capacity(m))
        fprintf(c->out, "%.9g with lines lc rgb '#cc3311' lw 1.6, ",
                m->capacity / unit_of(m));
    fprintf(c->out,
            "$memory using 1:%u with steps lc rgb '#222222' lw 1.2\n"
            "unset label\nunset object\nunset arrow\nunset ytics\nunset "
            "ylabel\n",
            m->n_by + 2);
}
