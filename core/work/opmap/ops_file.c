/*
 * core/work/opmap/ops_file.c - reading a user's table, and the rule behind its
 * laws.
 */
#include "core/work/opmap/ops_file.h"

#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/work/opmap/opmap_internal.h"
#include "core/work/rules/opmap_rule.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default factors of a user's row, either way and wide on purpose: for
 * another operator's rule of the same sizes, for sizes counted by hand, for a
 * time that was measured once. */
#define FACTOR_LIKE 1.25
#define FACTOR_LAW  1.5
#define FACTOR_TIME 1.2
#define FACTOR_MAX  100

#define ENTRIES_MAX 60000

struct msim_ops {
    struct msim_ops_entry **entries;
    uint32_t n, capacity;
    uint16_t *of_name; /* entry + 1 by the number of a string; 0: none */
    uint32_t n_names;
};

static const char *const SIZE_WORD[MSIM_OPS_SIZES] = {
#define X(name, word) word,
    MSIM_OPS_SIZE_MAP(X)
#undef X
};

#define BIT(size) (1u << MSIM_OPS_##size)
#define TRAFFIC   (BIT(READ) | BIT(WRITTEN) | BIT(FLOPS) | BIT(KERNELS))
#define ROWS      (TRAFFIC | BIT(ROWS) | BIT(COLS))

/* ---- works --------------------------------------------------------------- */

static bool value(const struct msim_ops_entry *e, enum msim_ops_size size,
                  const struct msim_opmap_ctx *c, double missing, double *v)
{
    *v = missing;
    return e->sizes[size].n == 0 || msim_ops_expr_value(&e->sizes[size], c, v);
}

/* Bytes of all inputs or results, where the row does not say. */
static bool traffic(const struct msim_ops_entry *e, enum msim_ops_size size,
                    const struct msim_opmap_ctx *c, double *v)
{
    const struct msim_ops_expr all = {
        .n = 1,
        .steps = {{.kind = MSIM_STEP_BYTES,
                   .what = size == MSIM_OPS_READ ? MSIM_WHAT_IN : MSIM_WHAT_OUT,
                   .which = -1}}};

    return e->sizes[size].n ? msim_ops_expr_value(&e->sizes[size], c, v)
                            : msim_ops_expr_value(&all, c, v);
}

static enum msim_dtype type_of(const struct msim_opmap_ctx *c,
                               struct msim_operand *first)
{
    memset(first, 0, sizeof(*first));
    return msim_opmap_nth_tensor(c, 0, first) ? first->dtype : MSIM_DT_F32;
}

static bool product(struct msim_opmap_ctx *c, const struct msim_ops_entry *e)
{
    struct msim_operand first;
    struct msim_work *w;
    double m, n, k, batch;

    if (!value(e, MSIM_OPS_M, c, 0, &m) || !value(e, MSIM_OPS_N, c, 0, &n) ||
        !value(e, MSIM_OPS_K, c, 0, &k) ||
        !value(e, MSIM_OPS_BATCH, c, 1, &batch) ||
        !(m >= 1 && n >= 1 && k >= 1 && batch >= 1))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_GEMM, type_of(c, &first), "");
    if (!w)
        return false;
    w->u.gemm.m = msim_opmap_count(m);
    w->u.gemm.n = msim_opmap_count(n);
    w->u.gemm.k = msim_opmap_count(k);
    w->u.gemm.batch = msim_opmap_count(batch);
    msim_work_count(w);
    return true;
}

/* What is reduced together: a row of the first tensor. */
static void set_rows(const struct msim_ops_entry *e,
                     const struct msim_opmap_ctx *c,
                     const struct msim_operand *first, double bytes,
                     struct msim_work *w)
{
    double elems =
        first->elems >= 1 ? first->elems : bytes / msim_dtype_bytes(w->dtype);
    bool in_rows = w->family == MSIM_FAMILY_REDUCTION ||
                   w->family == MSIM_FAMILY_SOFTMAX ||
                   w->family == MSIM_FAMILY_NORM ||
                   w->family == MSIM_FAMILY_EMBEDDING;
    double cols = in_rows ? (double)msim_operand_dim(first, -1) : elems;
    double rows;

    if (!value(e, MSIM_OPS_COLS, c, cols, &cols) || !(cols >= 1))
        cols = 1;
    if (!value(e, MSIM_OPS_ROWS, c, elems / cols, &rows) || !(rows >= 1))
        rows = 1;
    msim_opmap_set_rows(w, rows, cols);
}

static bool by_bytes(struct msim_opmap_ctx *c, const struct msim_ops_entry *e)
{
    struct msim_operand first;
    struct msim_work *w;
    double read, written, flops;

    if (!traffic(e, MSIM_OPS_READ, c, &read) ||
        !traffic(e, MSIM_OPS_WRITTEN, c, &written) ||
        !value(e, MSIM_OPS_FLOPS, c, 0, &flops))
        return false;
    w = msim_opmap_work(c, e->family, type_of(c, &first), "");
    if (!w)
        return false;
    w->bytes_read = read;
    w->bytes_written = written;
    w->flops = flops;
    set_rows(e, c, &first, read + written, w);
    return true;
}

static bool timed(struct msim_opmap_ctx *c, const struct msim_ops_entry *e)
{
    struct msim_operand first;
    struct msim_work *w;
    double us;

    if (!value(e, MSIM_OPS_US, c, 0, &us) || !(us > 0))
        return false;
    w = msim_opmap_work(c, e->family, type_of(c, &first), "");
    if (w)
        w->user.us = us;
    return w != NULL;
}

static bool rule(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    const struct msim_ops_entry *e = (const struct msim_ops_entry *)row;
    double kernels;
    bool known;

    if (e->sizes[MSIM_OPS_US].n)
        known = timed(c, e);
    else if (e->family == MSIM_FAMILY_GEMM)
        known = product(c, e);
    else
        known = by_bytes(c, e);
    if (known && value(e, MSIM_OPS_KERNELS, c, 1, &kernels) && kernels >= 1)
        c->works[c->n - 1].kernels = (uint32_t)fmin(kernels, 1e6);
    return known;
}

/* ---- reading ------------------------------------------------------------- */

static const struct law {
    const char *name;
    enum msim_family family;
    bool launches;
    uint32_t may, must; /* say which sizes */
    double interval_factor;
} LAWS[] = {
    {"pointwise", MSIM_FAMILY_POINTWISE, true, TRAFFIC, 0, FACTOR_LAW},
    {"reduction", MSIM_FAMILY_REDUCTION, true, ROWS, 0, FACTOR_LAW},
    {"softmax", MSIM_FAMILY_SOFTMAX, true, ROWS, 0, FACTOR_LAW},
    {"norm", MSIM_FAMILY_NORM, true, ROWS, 0, FACTOR_LAW},
    {"embedding", MSIM_FAMILY_EMBEDDING, true, ROWS, 0, FACTOR_LAW},
    {"copy", MSIM_FAMILY_COPY, true, TRAFFIC, 0, FACTOR_LAW},
    {"optimizer", MSIM_FAMILY_OPTIMIZER, true, TRAFFIC, 0, FACTOR_LAW},
    {"gemm", MSIM_FAMILY_GEMM, true,
     BIT(M) | BIT(N) | BIT(K) | BIT(BATCH) | BIT(KERNELS),
     BIT(M) | BIT(N) | BIT(K), FACTOR_LAW},
    {"bound", MSIM_FAMILY_BOUND, true, TRAFFIC, 0, 1},
    {"time", MSIM_FAMILY_POINTWISE, true, BIT(US) | BIT(KERNELS), BIT(US),
     FACTOR_TIME},
    {"nothing", MSIM_FAMILY_BOUND, false, 0, 0, 1},
};
#define N_LAWS (sizeof(LAWS) / sizeof(LAWS[0]))

/* The file that is being read, and where its columns are. */
struct reading {
    const char *path;
    struct msim_csv *csv;
    char *const *fields;
    uint32_t name, like, law, within, sizes[MSIM_OPS_SIZES];
    uint32_t rules[MSIM_OPS_RULE_COLUMNS];
    struct msim_error *err;
};

static const char *field(const struct reading *r, uint32_t column)
{
    return column == UINT32_MAX ? "" : r->fields[column];
}

MSIM_MUST_CHECK
static enum msim_status bad(const struct reading *r, const char *found,
                            const char *want)
{
    char file[sizeof(r->err->file)];

    snprintf(file, sizeof(file), "%s:%llu", r->path,
             (unsigned long long)msim_csv_line(r->csv));
    return msim_fail(r->err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "%s, want %s", found, want);
}

static void list_laws(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < N_LAWS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i ? ", " : "", LAWS[i].name);
}

static enum msim_status find_law(const struct reading *r,
                                 const struct law **out)
{
    const char *text = field(r, r->law);
    char found[80], known[160];

    *out = NULL;
    for (size_t i = 0; i < N_LAWS; i++)
        if (strcmp(LAWS[i].name, text) == 0)
            *out = &LAWS[i];
    if (*out)
        return MSIM_OK;
    snprintf(found, sizeof(found), "'law' is '%.40s'", text);
    list_laws(known, sizeof(known));
    return bad(r, found, known);
}

/* A formula where the law asks for one, and none where it does not. */
static enum msim_status read_size(const struct reading *r,
                                  struct msim_ops_entry *e,
                                  enum msim_ops_size size,
                                  const struct law *law)
{
    const char *text = field(r, r->sizes[size]);
    uint32_t bit = 1u << size;
    char found[80], why[200], want[260];

    text += strspn(text, " \t");
    if (*text && !(law && law->may & bit)) {
        snprintf(found, sizeof(found), "'%s' is '%.40s'", SIZE_WORD[size],
                 text);
        snprintf(want, sizeof(want), "it empty: %s%s takes no such size",
                 law                  ? "law "
                 : *field(r, r->like) ? "'like'"
                                      : "a rule",
                 law ? law->name : "");
        return bad(r, found, want);
    }
    if (!*text && law && law->must & bit) {
        snprintf(found, sizeof(found), "'%s' is empty", SIZE_WORD[size]);
        snprintf(want, sizeof(want), "a formula: law %s needs it", law->name);
        return bad(r, found, want);
    }
    if (!*text)
        return MSIM_OK;
    if (msim_ops_expr_parse(&e->sizes[size], text, why, sizeof(why)) == MSIM_OK)
        return MSIM_OK;
    snprintf(found, sizeof(found), "'%s' is no formula", SIZE_WORD[size]);
    snprintf(want, sizeof(want), "another: %s", why);
    return bad(r, found, want);
}

static enum msim_status read_interval_factor(const struct reading *r,
                                             struct msim_ops_entry *e)
{
    const char *text = field(r, r->within);
    char found[80], *end;

    if (!*text)
        return MSIM_OK;
    e->interval_factor = strtod(text, &end);
    if (!*end && e->interval_factor >= 1 && e->interval_factor <= FACTOR_MAX)
        return MSIM_OK;
    snprintf(found, sizeof(found), "'within' is '%.40s'", text);
    return bad(r, found, "a factor from 1 to 100");
}

static enum msim_status read_like(const struct reading *r,
                                  struct msim_ops_entry *e)
{
    const char *text = field(r, r->like);
    char found[160];

    e->row.like = msim_opmap_find(text);
    e->interval_factor = FACTOR_LIKE;
    e->like_name = strdup(text);
    if (!e->like_name)
        return MSIM_ENOMEM;
    if (e->row.like)
        return MSIM_OK;
    snprintf(found, sizeof(found),
             "'like' is '%.80s', which the built-in table does not have", text);
    return bad(r, found, "an operator of it, as aten::gelu");
}

/* A rule of the program, or what launches of an operator with a law. */
static enum msim_status read_rule(const struct reading *r,
                                  struct msim_ops_entry *e)
{
    const char *fields[MSIM_OPS_RULE_COLUMNS];
    struct msim_ops_fault fault = {.found = ""};

    for (int i = 0; i < MSIM_OPS_RULE_COLUMNS; i++)
        fields[i] = field(r, r->rules[i]);
    e->variant = strdup(fields[MSIM_OPS_RULE_VARIANT]);
    if (!e->variant)
        return MSIM_ENOMEM;
    fields[MSIM_OPS_RULE_VARIANT] = e->variant;
    e->row.name = msim_opmap_bare_name(e->glob);
    if (msim_ops_rule_read(&e->row, fields, &fault) != MSIM_OK)
        return bad(r, fault.found, fault.want);
    if (*fields[MSIM_OPS_RULE_RULE])
        e->interval_factor = FACTOR_LIKE;
    if (e->row.like && e->row.flags)
        return bad(r, "a row that is like another one has 'flags'",
                   "it empty: they are the other row's");
    return MSIM_OK;
}

/* How many of the columns are there that say what kind a row is. */
static int kinds_of(const struct reading *r)
{
    return (*field(r, r->like) != 0) + (*field(r, r->law) != 0) +
           (*field(r, r->rules[MSIM_OPS_RULE_RULE]) != 0);
}

static enum msim_status read_kind(const struct reading *r,
                                  struct msim_ops_entry *e)
{
    bool has_rule = *field(r, r->rules[MSIM_OPS_RULE_RULE]) != 0;
    const struct law *law = NULL;

    if (!*field(r, r->name))
        return bad(r, "'operator' is empty", "a name or a glob");
    if (kinds_of(r) != 1)
        return bad(r,
                   kinds_of(r) ? "several of 'like', 'law', 'rule' are there"
                               : "'like', 'law' and 'rule' are all empty",
                   "one of them");
    if (*field(r, r->like)) {
        MSIM_TRY(read_like(r, e));
    } else if (!has_rule) {
        MSIM_TRY(find_law(r, &law));
        e->family = law->family;
        e->interval_factor = law->interval_factor;
        e->row.rule = law->launches ? rule : NULL;
    }
    MSIM_TRY(read_rule(r, e));
    for (int i = 0; i < MSIM_OPS_SIZES; i++)
        if (!(has_rule && i == MSIM_OPS_KERNELS)) /* a number there */
            MSIM_TRY(read_size(r, e, (enum msim_ops_size)i, law));
    return read_interval_factor(r, e);
}

static enum msim_status read_entry(const struct reading *r,
                                   struct msim_ops_entry *e)
{
    size_t size = strlen(r->path) + 24;

    e->glob = strdup(field(r, r->name));
    e->origin = malloc(size);
    if (!e->glob || !e->origin)
        return MSIM_ENOMEM;
    snprintf(e->origin, size, "%s:%llu", r->path,
             (unsigned long long)msim_csv_line(r->csv));
    return read_kind(r, e);
}

/* ---- the file ------------------------------------------------------------ */

static enum msim_status find_columns(struct reading *r)
{
    char known[280] = "operator, like, law, within, note";

    r->name = msim_csv_find(r->csv, "operator");
    r->like = msim_csv_find(r->csv, "like");
    r->law = msim_csv_find(r->csv, "law");
    r->within = msim_csv_find(r->csv, "within");
    for (int i = 0; i < MSIM_OPS_SIZES; i++) {
        size_t used = strlen(known);

        r->sizes[i] = msim_csv_find(r->csv, SIZE_WORD[i]);
        snprintf(known + used, sizeof(known) - used, ", %s", SIZE_WORD[i]);
    }
    for (int i = 0; i < MSIM_OPS_RULE_COLUMNS; i++) {
        size_t used = strlen(known);

        r->rules[i] = msim_csv_find(r->csv, msim_ops_rule_words[i]);
        if (i != MSIM_OPS_RULE_KERNELS)
            snprintf(known + used, sizeof(known) - used, ", %s",
                     msim_ops_rule_words[i]);
    }
    if (r->name == UINT32_MAX)
        return bad(r, "no column 'operator'", known);
    for (uint32_t i = 0; i < msim_csv_columns(r->csv); i++) {
        const char *header = msim_csv_header(r->csv, i);
        bool is_size = false;
        char found[80];

        for (int k = 0; k < MSIM_OPS_SIZES; k++)
            is_size |= r->sizes[k] == i;
        for (int k = 0; k < MSIM_OPS_RULE_COLUMNS; k++)
            is_size |= r->rules[k] == i;
        if (is_size || i == r->name || i == r->like || i == r->law ||
            i == r->within || strcmp(header, "note") == 0)
            continue;
        snprintf(found, sizeof(found), "column '%.40s' is not known", header);
        return bad(r, found, known);
    }
    return MSIM_OK;
}

static enum msim_status add_entry(struct msim_ops *o, const struct reading *r)
{
    if (o->n == ENTRIES_MAX)
        return bad(r, "too many rows", "at most 60000");
    MSIM_TRY(msim_grow((void **)&o->entries, &o->capacity, o->n,
                       sizeof(*o->entries)));
    o->entries[o->n] = calloc(1, sizeof(**o->entries));
    if (!o->entries[o->n])
        return MSIM_ENOMEM;
    return read_entry(r, o->entries[o->n++]);
}

static enum msim_status read_all(struct msim_ops *o, struct reading *r)
{
    MSIM_TRY(find_columns(r));
    for (;;) {
        MSIM_TRY(msim_csv_next(r->csv, &r->fields, r->err));
        if (!r->fields)
            return MSIM_OK;
        MSIM_TRY(add_entry(o, r));
    }
}

/* Which row each name of the traces has. */
static enum msim_status bind(struct msim_ops *o,
                             const struct msim_strtab *strings)
{
    o->n_names = msim_strtab_count(strings);
    o->of_name = calloc((size_t)o->n_names + 1, sizeof(*o->of_name));
    if (!o->of_name)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < o->n_names; s++)
        for (uint32_t i = 0; i < o->n && !o->of_name[s]; i++)
            if (fnmatch(o->entries[i]->glob, msim_strtab_text(strings, s), 0) ==
                0)
                o->of_name[s] = (uint16_t)(i + 1);
    return MSIM_OK;
}

enum msim_status msim_ops_load(struct msim_ops **out, const char *path,
                               const struct msim_strtab *strings,
                               struct msim_error *err)
{
    struct msim_error none = {0};
    struct reading r = {.path = path, .err = err ? err : &none};
    struct msim_ops *o = calloc(1, sizeof(*o));
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    if (o)
        status = msim_csv_open(&r.csv, path, r.err);
    if (status == MSIM_OK)
        status = read_all(o, &r);
    if (status == MSIM_OK)
        status = bind(o, strings);
    msim_csv_close(r.csv);
    if (status == MSIM_OK)
        *out = o;
    else
        msim_ops_free(o);
    return status;
}

void msim_ops_free(struct msim_ops *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; i < o->n; i++) {
        free(o->entries[i]->glob);
        free(o->entries[i]->like_name);
        free(o->entries[i]->variant);
        free(o->entries[i]->origin);
        free(o->entries[i]);
    }
    free(o->entries);
    free(o->of_name);
    free(o);
}

const struct msim_ops_entry *msim_ops_find(const struct msim_ops *o,
                                           uint32_t name)
{
    if (!o || name >= o->n_names || !o->of_name[name])
        return NULL;
    return o->entries[o->of_name[name] - 1];
}
