/*
 * models/platform/platform_load.c - loading a platform, with the platforms that
 * stand in for it and the laws that all GPUs share.
 *
 * A file names the platforms that stand in, in order of preference; without
 * names, all of its generation do. What stands in for those is not followed.
 * The file of a machine where no collective could be timed names the platform
 * whose links it has.
 */
#include "core/base/containers.h"
#include "core/json/fields.h"
#include "core/work/data_sheet.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAND_INS_MAX 16

/* In the order of the file. */
static void link_over_nodes(struct msim_platform *p)
{
    for (uint32_t i = p->n_fits; i-- > 0;) {
        struct msim_fit *c = &p->fits[i];

        if (c->law != &MSIM_LAW_COLLECTIVE ||
            !msim_collective_key_is_over_nodes(c->key))
            continue;
        c->over_nodes = p->over_nodes;
        p->over_nodes = i + 1;
    }
}

/* Now, or where they were left later. */
static enum msim_status read_fit(struct msim_platform *p, const cJSON *json,
                                 enum msim_fit_trees trees,
                                 struct msim_error *err)
{
    struct msim_fit *fit = &p->fits[p->n_fits];

    return cJSON_IsRaw(json) ? msim_fit_leave(fit, p->left, json, p->path, err)
                             : msim_fit_read(fit, json, trees, p->path, err);
}

static enum msim_status read_fits(struct msim_platform *p, const cJSON *json,
                                  enum msim_fit_trees trees,
                                  struct msim_error *err)
{
    const cJSON *fits = cJSON_GetObjectItemCaseSensitive(json, "cells");
    uint32_t n = (uint32_t)cJSON_GetArraySize(fits);
    const cJSON *fit;

    p->fits = calloc((size_t)n + 1, sizeof(*p->fits));
    p->left = p->text ? msim_fits_left_new(n, trees, false) : NULL;
    if (!p->fits || (p->text && !p->left))
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(fit, fits)
    {
        MSIM_TRY(read_fit(p, fit, trees, err));
        p->n_fits++;
    }
    link_over_nodes(p);
    return MSIM_OK;
}

/* "" where the file does not say it. */
static void copy_text(char *to, size_t size, struct msim_fields *f,
                      const char *key)
{
    const char *text = msim_field_text(f, key);

    snprintf(to, size, "%s", text ? text : "");
}

static double read_factor(struct msim_fields *parameters, const char *key)
{
    struct msim_fields in = msim_fields_open(parameters, key);
    double v = msim_field_real(&in, "value", 1);

    msim_fields_close(parameters, &in);
    return v;
}

/* What slows kernels down that run beside others; 0: not measured. */
static double read_slowdown(struct msim_fields *f)
{
    struct msim_fields in = msim_fields_open(f, "beside");
    double v = in.object ? fmax(msim_field_real(&in, "median", 1), 1) : 0;

    msim_fields_close(f, &in);
    return v;
}

/* Where a file comes from, and whom it stands in for. */
struct source {
    const char *data_dir;
    const char *of;            /* the generation; NULL: for none */
    struct msim_json_block *b; /* for one file after the other */
};

/* Of files that are as they were shipped, fits and trees are read when they are
 * needed. */
static bool is_shipped(const struct msim_platform *p, const struct source *from)
{
    const char *slash = strrchr(p->path, '/');
    const char *name = slash ? slash + 1 : p->path;
    const char *point = strrchr(name, '.');
    char platform[sizeof(p->name)];

    snprintf(platform, sizeof(platform), "%.*s",
             point ? (int)(point - name) : (int)strlen(name), name);
    return msim_platform_is_shipped(from->data_dir, platform, from->b->hash);
}

/* Trees hold within a generation: those of a platform that stands in for one of
 * another are not read. */
static enum msim_fit_trees trees_of(const struct msim_platform *p,
                                    const struct source *from)
{
    if (from->of && strcmp(from->of, p->sheet.generation) != 0)
        return MSIM_TREES_LEFT;
    return p->text ? MSIM_TREES_LATER : MSIM_TREES_READ;
}

/* Its fits are left, and the text stays, where nothing in them can be wrong. */
static enum msim_status parse(struct msim_platform *p,
                              const struct source *from, struct msim_error *err)
{
    struct msim_json_block *b = from->b;
    bool shipped;

    MSIM_TRY(msim_json_block_open(b, p->path, err));
    shipped = is_shipped(p, from);
    MSIM_TRY(msim_json_block_parse(b, p->path, shipped ? "cells" : NULL, err));
    if (shipped && b->plain) {
        p->text = b->text;
        b->text = NULL;
    }
    return MSIM_OK;
}

/* All but the data sheet, which can take figures from a platform that stands
 * in. */
static enum msim_status read_head(struct msim_platform *p,
                                  const struct source *from,
                                  struct msim_error *err)
{
    const cJSON *json = from->b->json;
    static const char *const KINDS[] = {"gpu", "cpu", NULL};
    struct msim_fields f = msim_fields_of(json, p->path, err), more;

    p->is_host = msim_field_word(&f, "kind", KINDS, 0) == 1;
    copy_text(p->name, sizeof(p->name), &f, "name");
    copy_text(p->title, sizeof(p->title), &f, "title");
    copy_text(p->sheet.generation, sizeof(p->sheet.generation), &f,
              "generation");
    copy_text(p->base, sizeof(p->base), &f, "base");
    copy_text(p->links_of, sizeof(p->links_of), &f, "links_of");
    if (!*p->name || !*p->sheet.generation)
        msim_field_refuse(&f, *p->name ? "generation" : "name", "a text");
    if (!*p->title)
        snprintf(p->title, sizeof(p->title), "%s", p->name);
    more = msim_fields_open(&f, "parameters");
    p->conv_strided_data = read_factor(&more, "conv_strided_data_gradient");
    p->conv_weight = read_factor(&more, "conv_weight_gradient");
    msim_fields_close(&f, &more);
    p->slowdown = read_slowdown(&f);
    (void)msim_field_array(&f, "stand_ins");
    (void)msim_field_array(&f, "cells");
    MSIM_TRY(f.status);
    MSIM_TRY(msim_timed_rows_read(&p->timed, json, p->path, err));
    return read_fits(p, json, trees_of(p, from), err);
}

static enum msim_status read_sheet(struct msim_platform *p, const cJSON *json,
                                   const struct msim_data_sheet *like,
                                   struct msim_error *err)
{
    return msim_data_sheet_read(
        &p->sheet, cJSON_GetObjectItemCaseSensitive(json, "data_sheet"), like,
        p->path, err);
}

/* Its links are those of a platform, for which it stands. */
static bool is_measured_network(const cJSON *json)
{
    const char *schema = msim_json_get_text(json, "schema");

    return schema && strcmp(schema, "mystique-sim/network/1") == 0 &&
           cJSON_HasObjectItem(json, "generation");
}

static enum msim_status open_file(struct msim_platform **out, const char *path,
                                  const struct source *from,
                                  struct msim_error *err)
{
    struct msim_json_block *b = from->b;

    *out = calloc(1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    if ((size_t)snprintf((*out)->path, sizeof((*out)->path), "%s", path) >=
        sizeof((*out)->path))
        return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                         "the path is too long");
    MSIM_TRY(parse(*out, from, err));
    if (!is_measured_network(b->json))
        MSIM_TRY(msim_json_check_our(b->json, path, "platform", err));
    return read_head(*out, from, err);
}

/* A file by itself, without the platforms that stand in for it. */
static enum msim_status load_alone(struct msim_platform **out, const char *path,
                                   const struct source *from,
                                   struct msim_error *err)
{
    enum msim_status status = open_file(out, path, from, err);

    if (status == MSIM_OK)
        status = read_sheet(*out, from->b->json, NULL, err);
    if (status != MSIM_OK) {
        msim_platform_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- a platform with what it inherits ----------------------------------- */

/* Load the platform `name`, which stands in: from the folder of the file, else
 * from data_dir. */
static enum msim_status add_stand_in(struct msim_platform *p,
                                     struct msim_platform **end,
                                     const struct source *from,
                                     const char *name, struct msim_error *err)
{
    char path[sizeof(p->path) + 64];
    const char *slash = strrchr(p->path, '/');
    int dir = slash ? (int)(slash - p->path) + 1 : 0;

    snprintf(path, sizeof(path), "%.*s%s.json", dir, p->path, name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof(path), "%s/platforms/%s.json", from->data_dir,
                 name);
    return load_alone(end, path, from, err);
}

/* Add the platforms that the file names. */
static enum msim_status add_named(struct msim_platform *p,
                                  const struct source *from, const cJSON *names,
                                  struct msim_error *err)
{
    struct msim_platform **end = &p->next;
    const cJSON *name;

    if (cJSON_GetArraySize(names) > STAND_INS_MAX)
        return msim_fail(err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                         "more than %d 'stand_ins'", STAND_INS_MAX);
    cJSON_ArrayForEach(name, names)
    {
        if (!cJSON_IsString(name))
            return msim_fail(err, MSIM_EFORMAT, p->path, MSIM_OFFSET_NONE,
                             "'stand_ins' wants names of platforms");
        MSIM_TRY(add_stand_in(p, end, from, name->valuestring, err));
        end = &(*end)->next;
    }
    return MSIM_OK;
}

/* Add all platforms of the same generation. */
static enum msim_status add_generation(struct msim_platform *p,
                                       const struct source *from,
                                       struct msim_error *err)
{
    struct msim_platform **end = &p->next;
    struct msim_platform_called *rows = NULL;
    struct msim_arena arena;
    uint32_t n, added = 0;
    enum msim_status status;

    msim_arena_init(&arena);
    status = msim_platform_calls(&arena, from->data_dir, &rows, &n, err);
    for (uint32_t i = 0; status == MSIM_OK && i < n && added < STAND_INS_MAX;
         i++) {
        if (rows[i].kind != MSIM_CALLED_GENERATION ||
            strcmp(rows[i].name, p->sheet.generation) != 0 ||
            strcmp(rows[i].platform, p->name) == 0)
            continue;
        status = add_stand_in(p, end, from, rows[i].platform, err);
        if (status == MSIM_OK)
            end = &(*end)->next;
        added++;
    }
    free(rows);
    msim_arena_release(&arena);
    return status;
}

/* What whole programs say is said of the GPU: a file that was made from that of
 * another names it as its base. */
static enum msim_status read_programs(struct msim_platform *p,
                                      const char *data_dir,
                                      struct msim_error *err)
{
    const struct msim_factor_gpu gpu = {
        *p->base ? p->base : p->name, p->sheet.generation,
        msim_factor_tensor(&p->sheet), msim_factor_kinds_with_rows(p)};
    enum msim_status status = MSIM_OK;
    struct msim_json_block b = {0};
    char path[1024];

    snprintf(path, sizeof(path), "%s/laws/programs.json", data_dir);
    if (access(path, F_OK) == 0) {
        status = msim_json_block_read(&b, path, err);
        if (status == MSIM_OK)
            status = msim_json_check_our(b.json, path, "programs", err);
    }
    if (status == MSIM_OK)
        status =
            msim_program_factors_read(&p->programs, b.json, path, &gpu, err);
    if (status == MSIM_OK)
        status =
            msim_program_spread_read(&p->spread, b.json, path, gpu.name, err);
    msim_json_block_release(&b);
    return status;
}

static enum msim_status read_shared_laws(struct msim_platform *p,
                                         const cJSON *json,
                                         const char *data_dir,
                                         struct msim_error *err)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/laws/common.json", data_dir);
    MSIM_TRY(msim_shared_laws_read(&p->shared, path, data_dir, err));
    snprintf(path, sizeof(path), "%s/laws/kernels.json", data_dir);
    MSIM_TRY(msim_library_facts_read(&p->shared.kernels, path, err));
    snprintf(path, sizeof(path), "%s/laws/jobs.json", data_dir);
    MSIM_TRY(msim_job_spread_read(&p->jobs, path, err));
    MSIM_TRY(read_programs(p, data_dir, err));
    return msim_evidence_read(
        &p->evidence, cJSON_GetObjectItemCaseSensitive(json, "evidence"),
        p->path, err);
}

/* The machine that the evidence is of may run below the usual clock. */
static enum msim_status set_seen_clock(struct msim_platform *p,
                                       struct msim_error *err)
{
    const struct msim_clock_wish wish = {.ratio = p->evidence.clock};

    return wish.ratio > 0 && wish.ratio != 1
               ? msim_platform_set_clock(p, &wish, err)
               : MSIM_OK;
}

/* What the file does not say of types, GPUs of its generation do. */
static void inherit_types(struct msim_platform *p)
{
    for (const struct msim_platform *at = p->next; at; at = at->next) {
        if (strcmp(at->sheet.generation, p->sheet.generation) != 0)
            continue;
        for (int i = 0; i < MSIM_RATE_COUNT; i++)
            p->sheet.missing[i] &= at->sheet.missing[i];
        p->sheet.no_bf16 |= at->sheet.no_bf16;
    }
}

static enum msim_status inherit(struct msim_platform *p, const cJSON *json,
                                const char *data_dir, struct msim_error *err)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "stand_ins");
    struct msim_json_block b = {0};
    const struct source from = {data_dir, p->sheet.generation, &b};
    enum msim_status status =
        names ? add_named(p, &from, names, err) : add_generation(p, &from, err);

    msim_json_block_release(&b);
    MSIM_TRY(status);
    MSIM_TRY(read_sheet(p, json, p->next ? &p->next->sheet : NULL, err));
    inherit_types(p);
    MSIM_TRY(read_shared_laws(p, json, data_dir, err));
    MSIM_TRY(msim_fit_index_make(p, NULL));
    return set_seen_clock(p, err);
}

/* The platform is another one with a stack: times that were measured with any
 * are scaled to it. */
static void set_stack(struct msim_platform *p, const struct msim_stack *stack)
{
    size_t used = strlen(p->name);

    snprintf(p->name + used, sizeof(p->name) - used, "@%s", stack->name);
    p->sheet.pytorch = p->usual.pytorch = stack->pytorch;
}

static enum msim_status load_file(struct msim_platform **out, const char *path,
                                  const char *data_dir, struct msim_error *err)
{
    struct msim_json_block b = {0};
    const struct source from = {data_dir, NULL, &b};
    enum msim_status status = open_file(out, path, &from, err);

    if (status == MSIM_OK)
        status = inherit(*out, b.json, data_dir, err);
    msim_json_block_release(&b);
    if (status != MSIM_OK) {
        msim_platform_free(*out);
        *out = NULL;
    }
    return status;
}

/* Its collectives are those of a shipped platform, whose own file says no more
 * about links. */
static enum msim_status load_links(struct msim_platform *p,
                                   const char *data_dir, struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;
    char path[1024];

    if (!*p->links_of)
        return MSIM_OK;
    status =
        msim_platform_find(path, sizeof(path), data_dir, p->links_of, &why);
    if (status != MSIM_OK)
        return msim_fail(err, status, p->path, MSIM_OFFSET_NONE,
                         "'links_of': %s", why.text);
    MSIM_TRY(load_file(&p->named_links, path, data_dir, err));
    msim_platform_link(p, p->named_links);
    return MSIM_OK;
}

enum msim_status msim_platform_connect(struct msim_platform *p,
                                       const struct msim_network *n,
                                       const char *data_dir,
                                       struct msim_error *err)
{
    if (n->card_rate > 0)
        msim_platform_join(p, n);
    if (!n->measured)
        return MSIM_OK;
    msim_platform_free(p->named_links);
    p->named_links = NULL;
    MSIM_TRY(load_file(&p->named_links, n->path, data_dir, err));
    msim_platform_link(p, p->named_links);
    return MSIM_OK;
}

enum msim_status msim_platform_load(struct msim_platform **out,
                                    const char *data_dir, const char *name,
                                    struct msim_error *err)
{
    enum msim_status status;
    const char *in = access(name, F_OK) == 0 ? NULL : msim_stack_in(name);
    const struct msim_stack *stack = NULL;
    char path[1024], plain[1024];

    *out = NULL;
    if (in)
        MSIM_TRY(msim_stack_find(&stack, in, err));
    snprintf(plain, sizeof(plain), "%.*s",
             (int)(in ? in - 1 - name : (ptrdiff_t)strlen(name)), name);
    MSIM_TRY(msim_platform_find(path, sizeof(path), data_dir, plain, err));
    MSIM_TRY(load_file(out, path, data_dir, err));
    (*out)->is_named = !msim_data_is_path(plain);
    status = load_links(*out, data_dir, err);
    if (status != MSIM_OK) {
        msim_platform_free(*out);
        *out = NULL;
    } else if (stack) {
        set_stack(*out, stack);
    }
    return status;
}

enum msim_status msim_platform_pair(struct msim_platform *a,
                                    struct msim_platform *b)
{
    a->paired = b->paired = true;
    MSIM_TRY(msim_fit_index_make(a, b));
    return msim_fit_index_make(b, a);
}

enum msim_status msim_platform_copy(struct msim_platform **out,
                                    const struct msim_platform *p)
{
    struct msim_platform *copy = malloc(sizeof(*copy));
    enum msim_status status;

    *out = NULL;
    if (!copy)
        return MSIM_ENOMEM;
    *copy = *p;
    copy->is_copy = true;
    copy->paired = false;
    copy->index = (struct msim_fit_index){0};
    status = msim_fit_index_make(copy, NULL);
    if (status == MSIM_OK)
        *out = copy;
    else
        msim_platform_free(copy);
    return status;
}

static void free_copy(struct msim_platform *p)
{
    msim_fit_index_release(&p->index);
    free(p);
}

void msim_platform_free(struct msim_platform *p)
{
    if (p && p->is_copy) {
        free_copy(p);
        return;
    }
    while (p) {
        struct msim_platform *next = p->next;

        for (uint32_t i = 0; i < p->n_fits; i++)
            msim_fit_release(&p->fits[i]);
        free(p->fits);
        msim_fits_left_free(p->left);
        msim_timed_rows_release(&p->timed);
        free(p->text);
        msim_shared_laws_release(&p->shared);
        msim_evidence_release(&p->evidence);
        msim_fit_index_release(&p->index);
        msim_platform_free(p->named_links);
        free(p);
        p = next;
    }
}
