/*
 * models/platform/shared_laws.c - reading the laws that all GPUs share.
 */
#include "models/platform/platform_data.h"

#include "core/json/fields.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For laws that the file does not name: the best public study saw errors of 8 %
 * between GPUs of a generation and of 20 to 45 % between generations. */
static const struct msim_shared_sd TYPICAL = {NULL, 0.10, 0.45, NAN, NAN};

static enum msim_status wrong(const char *file, const char *what,
                              struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE, "%s", what);
}

static enum msim_status read_fits(struct msim_shared_laws *c, const cJSON *json,
                                  const char *file, struct msim_error *err)
{
    const cJSON *fits = cJSON_GetObjectItemCaseSensitive(json, "cells");
    uint32_t n = (uint32_t)cJSON_GetArraySize(fits);
    const cJSON *fit;

    c->fits = calloc((size_t)n + 1, sizeof(*c->fits));
    c->left = c->text ? msim_fits_left_new(n, MSIM_TREES_LEFT, true) : NULL;
    if (!c->fits || (c->text && !c->left))
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(fit, fits)
    {
        struct msim_fit *to = &c->fits[c->n_fits];

        MSIM_TRY(cJSON_IsRaw(fit)
                     ? msim_fit_leave(to, c->left, fit, file, err)
                     : msim_fit_read(to, fit, MSIM_TREES_LEFT, file, err));
        c->n_fits++;
    }
    return MSIM_OK;
}

static enum msim_status read_sd(struct msim_shared_laws *c, const cJSON *json,
                                const char *file, struct msim_error *err)
{
    const cJSON *o;

    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(json, "spreads"))
    {
        struct msim_shared_sd *s = &c->sd[c->n_sd];

        if (c->n_sd == MSIM_SHARED_LAWS)
            return wrong(file, "more 'spreads' than laws", err);
        s->law = o->string ? msim_law_find(o->string) : NULL;
        s->generation =
            msim_json_get_number(o, "generation", TYPICAL.generation);
        s->other = msim_json_get_number(o, "other", TYPICAL.other);
        s->generation_error = msim_json_get_number(o, "generation_error", NAN);
        s->other_error = msim_json_get_number(o, "other_error", NAN);
        if (!s->law || !(s->generation >= 0) || !(s->other >= 0))
            return wrong(file, "'spreads' wants laws with figures from 0", err);
        c->n_sd++;
    }
    return MSIM_OK;
}

/* The row of names.csv that is of the file. */
#define ROW "../laws/common"

/* Its fits are left where nothing in them can be wrong. */
static enum msim_status parse(struct msim_shared_laws *c,
                              struct msim_json_block *b, const char *file,
                              const char *data_dir, struct msim_error *err)
{
    bool shipped;

    MSIM_TRY(msim_json_block_open(b, file, err));
    shipped = data_dir && msim_platform_is_shipped(data_dir, ROW, b->hash);
    MSIM_TRY(msim_json_block_parse(b, file, shipped ? "cells" : NULL, err));
    if (shipped && b->plain) {
        c->text = b->text;
        b->text = NULL;
    }
    return MSIM_OK;
}

enum msim_status msim_shared_laws_read(struct msim_shared_laws *c,
                                       const char *file, const char *data_dir,
                                       struct msim_error *err)
{
    struct msim_json_block b = {0};
    enum msim_status status;

    memset(c, 0, sizeof(*c));
    if (access(file, F_OK) != 0)
        return MSIM_OK;
    status = parse(c, &b, file, data_dir, err);
    if (status == MSIM_OK)
        status = msim_json_check_our(b.json, file, "laws", err);
    if (status == MSIM_OK)
        status = read_fits(c, b.json, file, err);
    if (status == MSIM_OK)
        status = read_sd(c, b.json, file, err);
    msim_json_block_release(&b);
    return status;
}

/* " a b ": a word is in it where " word " is. */
static void read_words(char *text, size_t size, struct msim_fields *f,
                       const char *key)
{
    const cJSON *word, *words = msim_field_array(f, key);
    size_t n = (size_t)snprintf(text, size, " ");

    cJSON_ArrayForEach(word, words)
    {
        if (!cJSON_IsString(word))
            msim_field_refuse(f, key, "texts");
        else if (n < size)
            n += (size_t)snprintf(text + n, size - n, "%s ", word->valuestring);
    }
}

static void read_facts(struct msim_library_facts *k, struct msim_fields *f)
{
    struct msim_fields in = msim_fields_open(f, "graph_start");

    k->graph_start_us = msim_field_between(&in, "value", 0, INFINITY, 0);
    read_words(k->generations, sizeof(k->generations), &in, "generations");
    read_words(k->frameworks, sizeof(k->frameworks), &in, "frameworks");
    msim_fields_close(f, &in);
    in = msim_fields_open(f, "channels_last_gradient");
    k->last_gradient = msim_field_between(&in, "value", 0, INFINITY, 0);
    msim_fields_close(f, &in);
}

enum msim_status msim_library_facts_read(struct msim_library_facts *k,
                                         const char *file,
                                         struct msim_error *err)
{
    struct msim_fields f;
    cJSON *json = NULL;

    memset(k, 0, sizeof(*k));
    if (access(file, F_OK) != 0)
        return MSIM_OK;
    MSIM_TRY(msim_json_read_our(&json, file, "kernels", err));
    f = msim_fields_of(json, file, err);
    read_facts(k, &f);
    cJSON_Delete(json);
    return f.status;
}

void msim_shared_laws_release(struct msim_shared_laws *c)
{
    for (uint32_t i = 0; i < c->n_fits; i++)
        msim_fit_release(&c->fits[i]);
    free(c->fits);
    msim_fits_left_free(c->left);
    free(c->text);
    memset(c, 0, sizeof(*c));
}

struct msim_shared_sd msim_shared_laws_sd(const struct msim_shared_laws *c,
                                          const struct msim_law *law)
{
    for (uint32_t i = 0; i < c->n_sd; i++)
        if (c->sd[i].law == law)
            return c->sd[i];
    return TYPICAL;
}
