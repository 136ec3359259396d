/*
 * predict/whatif/price_list.c - prices of instances from a user's table.
 */
#include "predict/whatif/whatif.h"

#include "core/base/csv.h"
#include "models/platform/platform.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct prices {
    const char *path, *platforms, *data;
    struct msim_csv *csv;
    uint32_t platform, gpus, usd; /* columns */
    double *of;                   /* NAN: no row yet */
    double most;
    struct msim_error *err;
};

/* The `index`-th name of a list with commas, without its stack; its length, 0
 * behind the last. */
static size_t name_of(const char **name, const char *list, uint32_t index)
{
    for (; index > 0 && list; index--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    *name = list;
    return list ? strcspn(list, ",@") : 0;
}

/* Is a name of the table the one of the list? "NVIDIA A100-SXM4-80GB" is a100.
 */
static bool is_same(const struct prices *p, const char *cell, const char *name,
                    size_t n)
{
    char asked[PATH_MAX], path[PATH_MAX], other[PATH_MAX];

    if (strlen(cell) == n && strncasecmp(cell, name, n) == 0)
        return true;
    snprintf(asked, sizeof(asked), "%.*s", (int)n, name);
    return msim_platform_find(path, sizeof(path), p->data, asked, NULL) ==
               MSIM_OK &&
           msim_platform_find(other, sizeof(other), p->data, cell, NULL) ==
               MSIM_OK &&
           strcmp(path, other) == 0;
}

static enum msim_status find_columns(struct prices *p)
{
    p->platform = msim_csv_find(p->csv, "platform");
    p->gpus = msim_csv_find(p->csv, "gpus");
    p->usd = msim_csv_find(p->csv, "usd_per_hour");
    if (p->platform != UINT32_MAX && p->usd != UINT32_MAX)
        return MSIM_OK;
    return msim_fail(p->err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                     "no column '%s', want platform, usd_per_hour and, where "
                     "that is of several GPUs, gpus",
                     p->platform == UINT32_MAX ? "platform" : "usd_per_hour");
}

static enum msim_status number(double *v, const struct prices *p,
                               const char *column, const char *text,
                               double most)
{
    char *end;

    *v = strtod(text, &end);
    if (end != text && !*end && *v > 0 && *v <= most)
        return MSIM_OK;
    return msim_fail(p->err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                     "line %" PRIu64 ": %s is '%.40s', want a number above 0",
                     msim_csv_line(p->csv), column, text);
}

static enum msim_status take_row(struct prices *p, char *const *fields)
{
    double usd, gpus = 1;
    const char *name;
    size_t n;

    MSIM_TRY(number(&usd, p, "usd_per_hour", fields[p->usd], HUGE_VAL));
    if (p->gpus != UINT32_MAX && *fields[p->gpus])
        MSIM_TRY(number(&gpus, p, "gpus", fields[p->gpus], HUGE_VAL));
    if (!(usd / gpus > 0 && usd / gpus <= p->most))
        return msim_fail(p->err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                         "line %" PRIu64 ": a GPU costs %g US dollars an hour, "
                         "want at most %g",
                         msim_csv_line(p->csv), usd / gpus, p->most);
    for (uint32_t i = 0; (n = name_of(&name, p->platforms, i)) > 0; i++) {
        if (!is_same(p, fields[p->platform], name, n))
            continue;
        if (!isnan(p->of[i]))
            return msim_fail(p->err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                             "line %" PRIu64 " is a second price of '%s', want "
                             "one",
                             msim_csv_line(p->csv), fields[p->platform]);
        p->of[i] = usd / gpus;
    }
    return MSIM_OK;
}

static enum msim_status read_rows(struct prices *p)
{
    char *const *fields;
    const char *name;
    size_t n;

    MSIM_TRY(find_columns(p));
    for (uint32_t i = 0; name_of(&name, p->platforms, i) > 0; i++)
        p->of[i] = (double)NAN;
    for (;;) {
        MSIM_TRY(msim_csv_next(p->csv, &fields, p->err));
        if (!fields)
            break;
        MSIM_TRY(take_row(p, fields));
    }
    for (uint32_t i = 0; (n = name_of(&name, p->platforms, i)) > 0; i++)
        if (isnan(p->of[i]))
            return msim_fail(p->err, MSIM_EUSAGE, p->path, MSIM_OFFSET_NONE,
                             "no price of '%.*s', want a row of it", (int)n,
                             name);
    return MSIM_OK;
}

enum msim_status msim_price_list_read(double *of, double most, const char *path,
                                      const char *platforms, const char *data,
                                      struct msim_error *err)
{
    struct prices p = {.path = path,
                       .platforms = platforms,
                       .data = data,
                       .of = of,
                       .most = most,
                       .err = err};
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&p.csv, path, err));
    status = read_rows(&p);
    msim_csv_close(p.csv);
    return status;
}
