/*
 * models/platform/shared_laws.c - reading the laws that are common to all GPUs.
 */
#include "models/platform/shared_laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where nothing was fitted: what the best public trial saw, 8 % from one GPU
 * to the next inside a generation and 20 to 45 % across. */
static const struct msim_kin_spread TYPICAL = {NULL, 0.10, 0.45, NAN, NAN};

static enum msim_status wrong(const char *file, const char *what,
                              struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE, "%s", what);
}

static enum msim_status read_cells(struct msim_common *c, const cJSON *json,
                                   const char *file, struct msim_error *err)
{
    const cJSON *cells = cJSON_GetObjectItemCaseSensitive(json, "cells");
    const cJSON *cell;

    c->cells = calloc((size_t)cJSON_GetArraySize(cells) + 1, sizeof(*c->cells));
    if (!c->cells)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(cell, cells)
    {
        MSIM_TRY(msim_cell_read(&c->cells[c->n_cells], cell, file, err));
        c->n_cells++;
    }
    return MSIM_OK;
}

static enum msim_status read_spreads(struct msim_common *c, const cJSON *json,
                                     const char *file, struct msim_error *err)
{
    const cJSON *o;

    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(json, "spreads"))
    {
        struct msim_kin_spread *s = &c->spreads[c->n_spreads];

        if (c->n_spreads == MSIM_KIN_LAWS)
            return wrong(file, "more 'spreads' than laws", err);
        s->law = o->string ? msim_law_find(o->string) : NULL;
        s->generation =
            msim_json_get_number(o, "generation", TYPICAL.generation);
        s->other = msim_json_get_number(o, "other", TYPICAL.other);
        s->generation_error = msim_json_get_number(o, "generation_error", NAN);
        s->other_error = msim_json_get_number(o, "other_error", NAN);
        if (!s->law || !(s->generation >= 0) || !(s->other >= 0))
            return wrong(file, "'spreads' wants laws with figures from 0", err);
        c->n_spreads++;
    }
    return MSIM_OK;
}

enum msim_status msim_common_read(struct msim_common *c, const char *file,
                                  struct msim_error *err)
{
    cJSON *json = NULL;
    enum msim_status status;

    memset(c, 0, sizeof(*c));
    if (access(file, F_OK) != 0)
        return MSIM_OK;
    status = msim_json_read(&json, file, err);
    if (status == MSIM_OK)
        status = read_cells(c, json, file, err);
    if (status == MSIM_OK)
        status = read_spreads(c, json, file, err);
    cJSON_Delete(json);
    return status;
}

void msim_common_release(struct msim_common *c)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        msim_cell_release(&c->cells[i]);
    free(c->cells);
    memset(c, 0, sizeof(*c));
}

struct msim_kin_spread msim_common_spread(const struct msim_common *c,
                                          const struct msim_law *law)
{
    for (uint32_t i = 0; i < c->n_spreads; i++)
        if (c->spreads[i].law == law)
            return c->spreads[i];
    return TYPICAL;
}
