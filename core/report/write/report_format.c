/*
 * core/report/write/report_format.c - figures and names as people read them.
 */
#include "core/report/write/report_internal.h"

#include "core/base/print.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DOTS "..."

const struct msim_unit *msim_unit_for(double us)
{
    static const struct msim_unit UNITS[] = {
        {"s", 1e6, 3},
        {"ms", 1e3, 3},
        {"us", 1, 1},
    };

    for (size_t i = 0; i < 2; i++)
        if (fabs(us) >= UNITS[i].us)
            return &UNITS[i];
    return &UNITS[2];
}

void msim_format_in(char cell[MSIM_CELL], const struct msim_unit *u, double us)
{
    if (isnan(us))
        snprintf(cell, MSIM_CELL, "-");
    else if (fabs(us / u->us) < 1e15)
        snprintf(cell, MSIM_CELL, "%.*f", u->decimals, us / u->us);
    else
        snprintf(cell, MSIM_CELL, "%g", us / u->us);
}

void msim_format_time(char cell[MSIM_CELL], double us)
{
    const struct msim_unit *u = msim_unit_for(us);
    char figure[MSIM_CELL];

    msim_format_in(figure, u, us);
    if (isnan(us))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, "%.24s %s", figure, u->name);
}

void msim_format_share(char cell[MSIM_CELL], double share)
{
    if (isnan(share))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, "%.1f %%", 100 * share);
}

void msim_format_error(char cell[MSIM_CELL], const struct msim_figure *f)
{
    double error = f->predicted / f->measured - 1;

    if (isfinite(error))
        snprintf(cell, MSIM_CELL, "%+.1f %%", 100 * error);
    else
        snprintf(cell, MSIM_CELL, "-");
}

void msim_format_figure(char text[MSIM_FIGURE], const struct msim_figure *f,
                        bool elsewhere)
{
    const struct msim_unit *u = msim_unit_for(f->predicted);
    char low[MSIM_CELL], high[MSIM_CELL], error[MSIM_CELL];
    size_t n;

    msim_format_in(low, u, f->predicted);
    n = (size_t)snprintf(text, MSIM_FIGURE, "%9s %s", low, u->name);
    if (f->low < f->high) {
        msim_format_in(low, u, f->low);
        msim_format_in(high, u, f->high);
        n += (size_t)snprintf(text + n, MSIM_FIGURE - n,
                              "   90 %%: %s to %s %s", low, high, u->name);
    }
    if (!isnan(f->measured)) {
        msim_format_time(low, f->measured);
        msim_format_error(error, f);
        snprintf(text + n, MSIM_FIGURE - n, "   %s %s, %s %s",
                 elsewhere ? "traced" : "measured", low,
                 elsewhere ? "change" : "error", error);
    }
}

void msim_format_scenario(char text[MSIM_FIGURE],
                          const struct msim_prediction *p)
{
    const struct msim_scenario_note *n = &p->scenario;
    char from[MSIM_CELL], to[MSIM_CELL];
    size_t used;

    text[0] = '\0';
    if (!n->options || !isfinite(n->ratio))
        return;
    msim_format_time(from, n->baseline_us);
    msim_format_time(to, p->period.us.predicted);
    used = (size_t)snprintf(text, MSIM_FIGURE, "%s %s -> predicted %s, x %.3f",
                            n->traced ? "traced" : "without the change", from,
                            to, n->ratio);
    if (n->ratio_high > n->ratio_low)
        snprintf(text + used, MSIM_FIGURE - used, " (90 %%: %.3f to %.3f)",
                 n->ratio_low, n->ratio_high);
}

void msim_format_options(char *out, size_t size,
                         const struct msim_scenario_note *n)
{
    size_t used = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < n->n_options && used + 1 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "",
                                 n->options[i]);
}

void msim_format_large(char cell[MSIM_CELL], double value)
{
    static const char PREFIX[] = " kMGTPE";
    size_t i = 0;

    if (isnan(value)) {
        snprintf(cell, MSIM_CELL, "-");
        return;
    }
    while (fabs(value) >= 999.995 && PREFIX[i + 1]) {
        value /= 1000;
        i++;
    }
    if (i)
        snprintf(cell, MSIM_CELL, "%.2f %c", value, PREFIX[i]);
    else
        snprintf(cell, MSIM_CELL, "%.0f ", value);
}

void msim_format_memory(char cell[MSIM_CELL], double bytes)
{
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;

    if (isnan(bytes)) {
        snprintf(cell, MSIM_CELL, "-");
        return;
    }
    while (fabs(bytes) >= 999.995 && i + 1 < sizeof(UNITS) / sizeof(*UNITS)) {
        bytes /= 1024;
        i++;
    }
    snprintf(cell, MSIM_CELL, i ? "%.2f %s" : "%.0f %s", bytes, UNITS[i]);
}

static unsigned count_columns(const char *s)
{
    unsigned columns = 0;

    for (; *s; s += msim_character_length(s))
        columns++;
    return columns;
}

unsigned msim_format_name(char *out, size_t size, const char *name,
                          unsigned columns)
{
    unsigned total = count_columns(name), shown = 0, at = 0;
    unsigned head = columns, tail = 0; /* characters kept on either side */
    size_t used = 0;

    assert(size > 4 && columns > 8);
    if (total > columns) {
        tail = (columns - 3) / 3;
        head = columns - 3 - tail;
    }
    for (const char *s = name; *s; s += msim_character_length(s), at++) {
        unsigned n = msim_printable_length(s);
        bool dots = total > columns && at == head;
        bool keep = at < head || at >= total - tail;
        const char *from = dots ? DOTS : n ? s : "?";
        unsigned len = dots ? 3 : n ? n : 1;

        if ((dots || keep) && used + len < size) {
            memcpy(out + used, from, len);
            used += len;
            shown += dots ? 3 : 1;
        }
    }
    out[used] = '\0';
    return shown;
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* The length of a namespace at `s` that says little; 0: there is none. */
static size_t namespace_at(const char *s)
{
    static const char *const NAMES[] = {"(anonymous namespace)::",
                                        "at::native::"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (starts(s, NAMES[i]))
            return strlen(NAMES[i]);
    return 0;
}

/* Copy a C++ function up to its parameters, without such namespaces. */
static void copy_kernel(char *out, size_t size, const char *s)
{
    size_t used = 0, skip;
    int depth = 0; /* of template arguments */

    while (*s && used + 1 < size) {
        skip = namespace_at(s);
        if (!skip && *s == '(' && depth == 0)
            break;
        if (skip) {
            s += skip;
            continue;
        }
        depth += (*s == '<') - (*s == '>');
        out[used++] = *s++;
    }
    out[used] = '\0';
}

/* Of a kernel the beginning says most; what follows are its types. */
static unsigned format_kernel(char *out, size_t size, char *name,
                              unsigned columns)
{
    size_t n = strlen(name);

    if (n > columns) {
        for (size_t i = 0; i < n; i++)
            if (name[i] & 0x80) /* a character may have several bytes */
                return msim_format_name(out, size, name, columns);
        memcpy(name + columns - 3, DOTS, sizeof(DOTS));
    }
    return msim_format_name(out, size, name, columns);
}

unsigned msim_format_op(char *out, size_t size, const char *name,
                        unsigned columns)
{
    static const char BACKWARD[] = "autograd::engine::evaluate_function: ";
    static const char KERNEL[] = "void ";
    char copy[4096];

    if (starts(name, BACKWARD) && name[sizeof(BACKWARD) - 1])
        name += sizeof(BACKWARD) - 1;
    if (starts(name, KERNEL)) {
        copy_kernel(copy, sizeof(copy), name + sizeof(KERNEL) - 1);
        if (copy[0])
            return format_kernel(out, size, copy, columns);
    }
    return msim_format_name(out, size, name, columns);
}

void msim_format_calls(char cell[MSIM_CELL], double calls)
{
    if (isnan(calls))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL,
                 fabs(calls - round(calls)) < 0.005 ? "%.0f" : "%.2f", calls);
}

/* Options that the title does not say in its own words. */
static void add_options(char *out, size_t size, const struct msim_prediction *p)
{
    static const char *const SAID[] = {"--platform", "--costs", "--clock",
                                       "--power-cap", "--source-platform"};
    const struct msim_scenario_note *n = &p->scenario;
    bool first = true;

    for (uint32_t i = 0; i + 1 < n->n_options; i += 2) {
        bool said = false;
        size_t used = strlen(out);
        char value[64];

        for (size_t k = 0; k < sizeof(SAID) / sizeof(SAID[0]); k++)
            said |= strcmp(n->options[i], SAID[k]) == 0;
        if (said)
            continue;
        msim_format_name(value, sizeof(value), n->options[i + 1], 48);
        snprintf(out + used, size - used, "%s %s %s", first ? "," : "",
                 n->options[i], value);
        first = false;
    }
}

void msim_format_title(char *out, size_t size, const struct msim_prediction *p)
{
    const char *input = p->n_inputs ? p->inputs[0] : "trace";
    char more[48] = "", clock[112] = "", name[256];

    if (strcmp(input, "-") == 0)
        input = "standard input";
    msim_format_name(name, sizeof(name), input, 72);
    if (p->n_inputs > 1)
        snprintf(more, sizeof(more), " and %u more", p->n_inputs - 1);
    if (p->clock.text)
        snprintf(clock, sizeof(clock), " at %s", p->clock.text);
    if (p->source_platform)
        snprintf(out, size, "%s%s on %s%s (costs: %s from %s)", name, more,
                 p->platform, clock, p->costs, p->source_platform);
    else if (p->platform)
        snprintf(out, size, "%s%s on %s%s (costs: %s)", name, more, p->platform,
                 clock, p->costs);
    else
        snprintf(out, size, "%s%s as traced (costs: %s)", name, more, p->costs);
    add_options(out, size, p);
}

void msim_report_warnings(const char *const *warnings, uint32_t n, FILE *out)
{
    char text[2048];

    for (uint32_t i = 0; i < n; i++) {
        msim_format_name(text, sizeof(text), warnings[i], sizeof(text));
        msim_print(out, i ? "warning: %s\n" : "\nwarning: %s\n", text);
    }
}

void msim_page_line(const struct msim_page *page, const char *label,
                    const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, sizeof(text), fmt, args);
    va_end(args);
    msim_print(page->out, "  %-15s  %s\n", label, text);
}
