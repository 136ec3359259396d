/*
 * core/work/rows.c - rows of a table of measured times as works.
 */
#include "core/work/rows.h"

#include "core/work/work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X(name in C, name of the column) */
#define COLUMN_MAP(X)                                                          \
    X(SOURCE, "source")                                                        \
    X(FRAMEWORK, "framework")                                                  \
    X(VERSION, "version")                                                      \
    X(BACKEND, "backend")                                                      \
    X(DTYPE, "dtype")                                                          \
    X(OP, "op")                                                                \
    X(M, "m")                                                                  \
    X(N, "n")                                                                  \
    X(K, "k")                                                                  \
    X(BATCH, "batch")                                                          \
    X(LAYOUT, "layout")                                                        \
    X(PHASE, "phase")                                                          \
    X(HEADS, "heads")                                                          \
    X(KV_HEADS, "kv_heads")                                                    \
    X(Q_LEN, "q_len")                                                          \
    X(KV_LEN, "kv_len")                                                        \
    X(HEAD_DIM, "head_dim")                                                    \
    X(KV_DTYPE, "kv_dtype")                                                    \
    X(WINDOW, "window")                                                        \
    X(PASS, "pass")                                                            \
    X(SHAPE, "shape")                                                          \
    X(BYTES, "bytes")                                                          \
    X(COLLECTIVE, "collective")                                                \
    X(RANKS, "ranks")                                                          \
    X(NODES, "nodes")                                                          \
    X(INTERCONNECT, "interconnect")                                            \
    X(ALGORITHM, "algorithm")                                                  \
    X(SETTING, "setting")                                                      \
    X(C, "c")                                                                  \
    X(H, "h")                                                                  \
    X(W, "w")                                                                  \
    X(R, "r")                                                                  \
    X(S, "s")                                                                  \
    X(STRIDE, "stride")                                                        \
    X(PAD, "pad")                                                              \
    X(GROUPS, "groups")                                                        \
    X(TOKENS, "tokens")                                                        \
    X(EXPERTS, "experts")                                                      \
    X(INTER, "inter")                                                          \
    X(HIDDEN, "hidden")                                                        \
    X(TOPK, "topk")                                                            \
    X(TP, "tp")                                                                \
    X(EP, "ep")                                                                \
    X(DISTRIBUTION, "distribution")                                            \
    X(GATED, "gated")                                                          \
    X(SMS, "sms")                                                              \
    X(TABLE_ROWS, "table_rows")                                                \
    X(V_HEAD_DIM, "v_head_dim")

enum column {
#define X(name, text) COL_##name,
    COLUMN_MAP(X)
#undef X
        COL_COUNT
};
_Static_assert((int)COL_COUNT <= MSIM_ROW_COLUMNS, "room for every column");

static const char *const COLUMN_TEXT[] = {
#define X(name, text) text,
    COLUMN_MAP(X)
#undef X
};

/* The most specific table comes first: a moe table has a dtype, too. */
static const struct {
    enum msim_table table;
    int wants[8]; /* ended by -1 */
} TABLES[] = {
    {MSIM_TABLE_MOE, {COL_TOKENS, COL_EXPERTS, COL_INTER, -1}},
    {MSIM_TABLE_EXPERT_DISPATCH, {COL_TOKENS, COL_EXPERTS, COL_COLLECTIVE, -1}},
    {MSIM_TABLE_ATTENTION,
     {COL_PHASE, COL_BATCH, COL_HEADS, COL_Q_LEN, COL_KV_LEN, COL_HEAD_DIM,
      -1}},
    {MSIM_TABLE_CONV, {COL_N, COL_C, COL_H, COL_W, COL_K, COL_R, COL_S, -1}},
    {MSIM_TABLE_GEMM, {COL_M, COL_N, COL_K, COL_DTYPE, -1}},
    {MSIM_TABLE_COLLECTIVE, {COL_COLLECTIVE, COL_RANKS, COL_BYTES, -1}},
    {MSIM_TABLE_VECTOR, {COL_OP, COL_DTYPE, COL_SHAPE, -1}},
};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

static const char *const TABLE_TEXT[] = {
#define X(name, text) text,
    MSIM_TABLE_MAP(X)
#undef X
};

const char *msim_table_text(enum msim_table t)
{
    return t < MSIM_TABLE_COUNT ? TABLE_TEXT[t] : "unknown";
}

enum msim_table msim_table_parse(const char *text)
{
    int t = 0;

    while (t < MSIM_TABLE_COUNT && (!text || strcmp(TABLE_TEXT[t], text) != 0))
        t++;
    return (enum msim_table)t;
}

static bool has_columns(const struct msim_row_map *map, const int *wants)
{
    for (; *wants >= 0; wants++)
        if (map->column[*wants] == UINT32_MAX)
            return false;
    return true;
}

static enum msim_status find_table(struct msim_row_map *map,
                                   struct msim_error *err)
{
    for (size_t i = 0; i < N_TABLES; i++) {
        if (has_columns(map, TABLES[i].wants)) {
            map->table = TABLES[i].table;
            return MSIM_OK;
        }
    }
    return msim_fail(
        err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
        "the header is that of no known table, want one of: m n k dtype; "
        "phase batch heads q_len kv_len head_dim; op dtype shape; collective "
        "ranks bytes; n c h w k r s; tokens experts inter; collective tokens "
        "experts");
}

enum msim_status msim_row_map_init(struct msim_row_map *map,
                                   struct msim_csv *csv, struct msim_error *err)
{
    for (int i = 0; i < COL_COUNT; i++)
        map->column[i] = msim_csv_find(csv, COLUMN_TEXT[i]);
    return find_table(map, err);
}

/* ---- one row ----------------------------------------------------------- */

struct row {
    const struct msim_row_map *map;
    char *const *fields;
    char *reason; /* empty until something is wrong */
    size_t size;
};

/* The text of a column, or NULL where it is absent or empty. */
static const char *text(const struct row *r, enum column c)
{
    uint32_t i = r->map->column[c];

    return i == UINT32_MAX || !*r->fields[i] ? NULL : r->fields[i];
}

/* The number that a text begins with, where that is of 1 to 15 digits and not 0
 * (which may begin another form, as 0x10 does); else 0. `*end` is behind it. */
static int64_t plain_number(const char *t, const char **end)
{
    int64_t v = 0;
    uint32_t n = 0;

    for (; t[n] >= '0' && t[n] <= '9' && n < 15; n++)
        v = v * 10 + (t[n] - '0');
    *end = t + n;
    return v;
}

/* The number of a column, at least `least`; `missing` where it is empty, and
 * a reason where that is below `least`. */
static int64_t number(struct row *r, enum column c, int64_t least,
                      int64_t missing)
{
    const char *t = text(r, c);
    char *end = NULL;
    double v = 0;

    if (t) {
        const char *behind;
        int64_t plain = plain_number(t, &behind);

        if (plain > 0 && plain >= least && !*behind)
            return plain;
        /* Sizes such as 1e6 or 4096.0 are whole numbers, too. */
        v = strtod(t, &end);
        if (*end == '\0' && v >= (double)least && v < 1e15 && floor(v) == v)
            return (int64_t)v;
    } else if (missing >= least) {
        return missing;
    }
    if (!*r->reason)
        snprintf(r->reason, r->size,
                 "%s is '%.40s', want a whole number from %lld%s",
                 COLUMN_TEXT[c], t ? t : "", (long long)least,
                 v >= 1e15 ? " to below 1e15" : "");
    return least;
}

/* `want`: the words that the column takes; NULL: too many to say. */
static void refuse(struct row *r, enum column c, const char *want)
{
    const char *t = text(r, c);

    if (!*r->reason)
        snprintf(r->reason, r->size, "%s '%.40s' is not known%s%s",
                 COLUMN_TEXT[c], t ? t : "", want ? ", want " : "",
                 want ? want : "");
}

/* `variant` may be NULL: only plain dtypes are taken. */
static enum msim_dtype dtype(struct row *r, enum column c, const char **variant)
{
    const char *t = text(r, c), *packed = NULL;
    enum msim_dtype found = t ? msim_dtype_parse(t, &packed) : MSIM_DT_UNKNOWN;

    if (found == MSIM_DT_UNKNOWN || (packed && !variant)) {
        refuse(r, c,
               variant ? "fp32, tf32, fp16, bf16, fp8, fp8_block, nvfp4, int8, "
                         "int8_wo or int4_wo"
                       : "fp32, fp16, bf16, fp8 or int8");
        return MSIM_DT_UNKNOWN;
    }
    if (packed)
        *variant = packed;
    return found;
}

static void gemm_row(struct row *r, struct msim_work *w)
{
    const char *layout = text(r, COL_LAYOUT);

    w->family = MSIM_FAMILY_GEMM;
    w->dtype = dtype(r, COL_DTYPE, &w->variant);
    w->u.gemm.m = number(r, COL_M, 1, 0);
    w->u.gemm.n = number(r, COL_N, 1, 0);
    w->u.gemm.k = number(r, COL_K, 1, 0);
    w->u.gemm.batch = number(r, COL_BATCH, 1, 1);
    w->u.gemm.a_transposed = layout && layout[0] == 'T';
    w->u.gemm.b_transposed = layout && layout[0] && layout[1] == 'T';
    msim_work_count(w);
}

static void attention_row(struct row *r, struct msim_work *w)
{
    const char *phase = text(r, COL_PHASE), *pass = text(r, COL_PASS);

    w->family = MSIM_FAMILY_ATTENTION;
    w->dtype = dtype(r, COL_DTYPE, NULL);
    w->u.attention.kv_dtype =
        text(r, COL_KV_DTYPE) ? dtype(r, COL_KV_DTYPE, NULL) : w->dtype;
    if (phase && strcmp(phase, "prefill") == 0)
        w->u.attention.phase = MSIM_ATTENTION_PREFILL;
    else if (phase && strcmp(phase, "decode") == 0)
        w->u.attention.phase = MSIM_ATTENTION_DECODE;
    else if (phase && strncmp(phase, "encoder", 7) == 0)
        w->u.attention.phase = MSIM_ATTENTION_ENCODER;
    else
        refuse(r, COL_PHASE, "prefill, decode or encoder");
    w->u.attention.batch = number(r, COL_BATCH, 1, 0);
    w->u.attention.heads = number(r, COL_HEADS, 1, 0);
    w->u.attention.kv_heads = number(r, COL_KV_HEADS, 1, w->u.attention.heads);
    w->u.attention.q_len = number(r, COL_Q_LEN, 1, 0);
    w->u.attention.kv_len = number(r, COL_KV_LEN, 1, 0);
    w->u.attention.head_dim = number(r, COL_HEAD_DIM, 1, 0);
    w->u.attention.v_dim =
        number(r, COL_V_HEAD_DIM, 1, w->u.attention.head_dim);
    if (w->u.attention.v_dim == w->u.attention.head_dim)
        w->u.attention.v_dim = 0;
    w->u.attention.window = number(r, COL_WINDOW, 0, 0);
    if (pass && strcmp(pass, "backward") == 0)
        w->u.attention.backward = true;
    else if (pass && strcmp(pass, "forward") != 0)
        refuse(r, COL_PASS, "forward or backward");
    msim_work_count(w);
}

/* One size of a shape; `*end` is behind it. */
static double one_size(const char *t, const char **end)
{
    int64_t plain = plain_number(t, end);
    char *behind;
    double v;

    if (plain > 0 && (!**end || **end == 'x'))
        return (double)plain;
    v = strtod(t, &behind);
    *end = behind;
    return v;
}

#define SHAPES "sizes with x between, as 4096x1024, below 1e15 elements"

/* "1000x18x128": elements, and the last size as columns. */
static void vector_shape(struct row *r, struct msim_work *w)
{
    const char *t = text(r, COL_SHAPE);
    double elems = 1, last = 1;
    const char *end = NULL;

    for (const char *at = t; at; at = *end ? end + 1 : NULL) {
        last = one_size(at, &end);
        elems *= last;
        if (end == at || (*end && *end != 'x') || !(last >= 1) ||
            !(elems < 1e15)) {
            refuse(r, COL_SHAPE, SHAPES);
            return;
        }
    }
    if (!t)
        refuse(r, COL_SHAPE, SHAPES);
    w->u.vector.elems = (int64_t)elems;
    w->u.vector.cols = (int64_t)last;
    w->u.vector.rows = (int64_t)(elems / last);
}

static void vector_row(struct row *r, struct msim_work *w)
{
    const char *op = text(r, COL_OP);
    double bytes, table_rows;

    if (!op) {
        refuse(r, COL_OP, NULL);
        return;
    }
    w->dtype = dtype(r, COL_DTYPE, NULL);
    vector_shape(r, w);
    bytes = (double)number(r, COL_BYTES, 0, 0);
    table_rows =
        text(r, COL_TABLE_ROWS) ? (double)number(r, COL_TABLE_ROWS, 1, 1) : 0;
    msim_vector_name_count(w, op, bytes, table_rows);
}

static enum msim_collective collective(struct row *r, struct msim_work *w)
{
    const char *t = text(r, COL_COLLECTIVE);
    enum msim_collective found = MSIM_COLL_UNKNOWN;

    if (t && strcmp(t, "all_reduce_custom") == 0) {
        if (!w->u.coll.algorithm)
            w->u.coll.algorithm = "custom";
        return MSIM_COLL_ALL_REDUCE;
    }
    if (t)
        found = msim_collective_parse(t);
    if (found == MSIM_COLL_UNKNOWN)
        refuse(r, COL_COLLECTIVE,
               "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, "
               "reduce, gather, scatter or send_recv");
    return found;
}

/* Nodes of the usual size, where a row does not say how many. */
static int64_t nodes_for(uint32_t ranks)
{
    return ranks / MSIM_GPUS_A_NODE + (ranks % MSIM_GPUS_A_NODE != 0);
}

static void collective_row(struct row *r, struct msim_work *w)
{
    w->family = MSIM_FAMILY_COLLECTIVE;
    w->dtype = text(r, COL_DTYPE) ? dtype(r, COL_DTYPE, NULL) : MSIM_DT_UNKNOWN;
    w->u.coll.interconnect = text(r, COL_INTERCONNECT);
    w->u.coll.algorithm = text(r, COL_ALGORITHM);
    w->u.coll.setting = text(r, COL_SETTING);
    w->u.coll.collective = collective(r, w);
    w->u.coll.bytes = (uint64_t)number(r, COL_BYTES, 0, -1);
    w->u.coll.ranks = (uint32_t)number(r, COL_RANKS, 1, 0);
    w->u.coll.nodes =
        (uint32_t)number(r, COL_NODES, 1, nodes_for(w->u.coll.ranks));
}

static void conv_row(struct row *r, struct msim_work *w)
{
    const char *op = text(r, COL_OP);

    w->family = MSIM_FAMILY_CONV;
    w->dtype =
        text(r, COL_DTYPE) ? dtype(r, COL_DTYPE, &w->variant) : MSIM_DT_F32;
    w->u.conv.pass = MSIM_CONV_FORWARD;
    if (op && !msim_conv_pass_parse(op, &w->u.conv.pass))
        refuse(r, COL_OP, NULL);
    w->u.conv.n = number(r, COL_N, 1, 0);
    w->u.conv.c = number(r, COL_C, 1, 0);
    w->u.conv.h = number(r, COL_H, 1, 0);
    w->u.conv.w = number(r, COL_W, 1, 0);
    w->u.conv.k = number(r, COL_K, 1, 0);
    w->u.conv.r = number(r, COL_R, 1, 0);
    w->u.conv.s = number(r, COL_S, 1, 0);
    w->u.conv.stride_h = w->u.conv.stride_w = number(r, COL_STRIDE, 1, 1);
    w->u.conv.pad_h = w->u.conv.pad_w = number(r, COL_PAD, 0, 0);
    w->u.conv.dilation_h = w->u.conv.dilation_w = 1;
    w->u.conv.groups = number(r, COL_GROUPS, 1, 1);
    msim_work_count(w);
}

#define DISTRIBUTIONS                                                          \
    "random, balanced or power_law_ with a number above 0, at most 8"

static void routing(struct row *r, struct msim_moe_routing *out)
{
    static const char POWER_LAW[] = "power_law_";
    const char *t = text(r, COL_DISTRIBUTION);
    char *end = NULL;

    if (!t || strcmp(t, "random") == 0) {
        out->kind = MSIM_ROUTING_RANDOM;
    } else if (strcmp(t, "balanced") == 0) {
        out->kind = MSIM_ROUTING_EVEN;
    } else if (strncmp(t, POWER_LAW, sizeof(POWER_LAW) - 1) == 0) {
        out->kind = MSIM_ROUTING_POWER_LAW;
        out->alpha = strtod(t + sizeof(POWER_LAW) - 1, &end);
        if (*end != '\0' || !(out->alpha > 0 && out->alpha <= 8))
            refuse(r, COL_DISTRIBUTION, DISTRIBUTIONS);
    } else {
        refuse(r, COL_DISTRIBUTION, DISTRIBUTIONS);
    }
    out->tokens = number(r, COL_TOKENS, 1, 0);
    out->topk = number(r, COL_TOPK, 1, 0);
    out->experts = number(r, COL_EXPERTS, 1, 0);
    out->ep = number(r, COL_EP, 1, 1);
}

/*
 * Are experts plain, without a gate? The column `gated` says so, or the name of
 * the back end. Where neither does, one public family of models is known whose
 * experts have no gate, Nemotron 3 ("mlp_hidden_act": "relu2" in its
 * configurations): Nano has 128 experts of 1856, the larger ones choose 22 of
 * 512.
 */
static bool plain_experts(struct row *r, const struct msim_work *w)
{
    const struct msim_moe_routing *m = &w->u.moe.routing;

    if (text(r, COL_GATED))
        return number(r, COL_GATED, 0, 1) == 0;
    if (w->backend && strstr(w->backend, "nongated"))
        return true;
    return (w->u.moe.inter == 1856 && m->experts == 128 && m->topk == 6) ||
           (m->experts == 512 && m->topk == 22);
}

static void moe_row(struct row *r, struct msim_work *w)
{
    w->family = MSIM_FAMILY_MOE;
    w->dtype = dtype(r, COL_DTYPE, &w->variant);
    w->u.moe.hidden = number(r, COL_HIDDEN, 1, 0);
    w->u.moe.inter = number(r, COL_INTER, 1, 0);
    w->u.moe.tp = number(r, COL_TP, 1, 1);
    routing(r, &w->u.moe.routing);
    w->u.moe.plain = plain_experts(r, w);
    msim_work_count(w);
}

static void dispatch_row(struct row *r, struct msim_work *w)
{
    static const char PREFIX[] = "deepep_";
    const char *t = text(r, COL_COLLECTIVE);
    const char *kind = t ? strrchr(t, '_') : NULL;

    w->family = MSIM_FAMILY_DISPATCH;
    if (!kind || strncmp(t, PREFIX, sizeof(PREFIX) - 1) != 0 ||
        (strcmp(kind, "_dispatch") != 0 && strcmp(kind, "_combine") != 0)) {
        refuse(r, COL_COLLECTIVE,
               "deepep_ or deepep_ll_ with dispatch or combine");
        return;
    }
    w->u.dispatch.combine = strcmp(kind, "_combine") == 0;
    w->u.dispatch.low_latency = strncmp(t + sizeof(PREFIX) - 1, "ll_", 3) == 0;
    w->u.dispatch.tokens = number(r, COL_TOKENS, 1, 0);
    w->u.dispatch.hidden = number(r, COL_HIDDEN, 1, 0);
    w->u.dispatch.topk = number(r, COL_TOPK, 1, 0);
    w->u.dispatch.experts = number(r, COL_EXPERTS, 1, 0);
    w->u.dispatch.ranks = number(r, COL_RANKS, 1, 8);
    w->u.dispatch.sms = number(r, COL_SMS, 0, 0);
}

const char *msim_row_work(const struct msim_row_map *map, char *const *fields,
                          struct msim_work *w, char *reason, size_t size)
{
    struct row r = {map, fields, reason, size};

    memset(w, 0, sizeof(*w));
    *reason = '\0';
    w->kernels = 1;
    w->source = text(&r, COL_SOURCE);
    w->framework = text(&r, COL_FRAMEWORK);
    w->version = text(&r, COL_VERSION);
    w->backend = text(&r, COL_BACKEND);
    switch (map->table) {
    case MSIM_TABLE_GEMM:
        gemm_row(&r, w);
        break;
    case MSIM_TABLE_ATTENTION:
        attention_row(&r, w);
        break;
    case MSIM_TABLE_VECTOR:
        vector_row(&r, w);
        break;
    case MSIM_TABLE_COLLECTIVE:
        collective_row(&r, w);
        break;
    case MSIM_TABLE_CONV:
        conv_row(&r, w);
        break;
    case MSIM_TABLE_MOE:
        moe_row(&r, w);
        break;
    case MSIM_TABLE_EXPERT_DISPATCH:
        dispatch_row(&r, w);
        break;
    default:
        break;
    }
    /* A source names its own stack where no framework is given. */
    if (!w->framework)
        w->framework = w->source;
    return *reason ? reason : NULL;
}
