/*
 * serving/rows/served_point.c - reading rows of served models.
 */
#include "core/base/print.h"
#include "core/base/texts.h"
#include "serving/app/app.h"
#include "serving/rows/serve_rows.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define NAMES_MOST 3

static const char *const NAMES[MSIM_POINT_COLUMNS][NAMES_MOST + 1] = {
#define X(name, ...) {__VA_ARGS__},
    MSIM_POINT_COLUMN_MAP(X)
#undef X
};

void msim_point_note(char *text, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list args;

    if (n > 0 && n + 3 < MSIM_POINT_TEXT) {
        memcpy(text + n, "; ", 3);
        n += 2;
    }
    va_start(args, fmt);
    msim_vprint_text(text + n, MSIM_POINT_TEXT - n, fmt, args);
    va_end(args);
}

enum msim_status msim_point_columns_find(struct msim_point_columns *columns,
                                         struct msim_csv *csv, const char *path,
                                         struct msim_error *err)
{
    for (uint32_t c = 0; c < MSIM_POINT_COLUMNS; c++) {
        columns->of[c] = UINT32_MAX;
        for (int k = 0; NAMES[c][k] && columns->of[c] == UINT32_MAX; k++)
            columns->of[c] = msim_csv_find(csv, NAMES[c][k]);
    }
    for (uint32_t c = MSIM_POINT_MODEL; c <= MSIM_POINT_PLATFORM; c++)
        if (columns->of[c] == UINT32_MAX)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "no column '%s'; want at least 'model' and "
                             "'platform'",
                             NAMES[c][0]);
    return MSIM_OK;
}

/* --- fields --- */

struct row {
    const struct msim_point_columns *columns;
    char *const *fields;
    char *defaults, *reason;
};

/* What stands there, without spaces around it; "": nothing. */
static const char *field(const struct row *r, enum msim_point_column c)
{
    const char *text =
        r->columns->of[c] == UINT32_MAX ? "" : r->fields[r->columns->of[c]];

    return text + strspn(text, " ");
}

static bool refuse(const struct row *r, enum msim_point_column c,
                   const char *want)
{
    if (!r->reason[0])
        msim_point_note(r->reason, "%s: got '%s', want %s", NAMES[c][0],
                        field(r, c), want);
    return false;
}

/* A number that may also be written as "8.0", as tables of programs have it. */
static bool number(const struct row *r, enum msim_point_column c, bool whole,
                   double most, double *out)
{
    const char *text = field(r, c);
    size_t n = strcspn(text, " ");
    char want[48];

    *out = 0;
    if (n == 0)
        return true;
    if (!msim_decimal_real(text, n, out) || text[n + strspn(text + n, " ")] ||
        !(*out >= 0) || (whole && floor(*out) != *out))
        return refuse(r, c, whole ? "a whole number, 1 or more" : "a number");
    snprintf(want, sizeof(want), "at most %.10g", most);
    if (*out > most)
        return refuse(r, c, want);
    return true;
}

/* Not stated: `otherwise`. */
static bool size_of(const struct row *r, enum msim_point_column c, double most,
                    int64_t otherwise, int64_t *out)
{
    double value;

    if (!number(r, c, true, most, &value))
        return false;
    *out = value > 0 ? (int64_t)value : otherwise;
    return true;
}

#define RANKS_MOST   100000
#define TOKENS_MOST  1000000
#define CLIENTS_MOST 100000
#define OUTPUTS_MOST                                                           \
    1e8 /* of all clients at once: a second of this program                    \
         */

/* Replicas by their columns, which follow each other from `first`. */
static bool read_side(const struct row *r, enum msim_point_column tp,
                      struct msim_point_side *side)
{
    return size_of(r, tp, RANKS_MOST, 1, &side->tp) &&
           size_of(r, tp + 1, RANKS_MOST, 1, &side->pp) &&
           size_of(r, tp + 2, RANKS_MOST, 1, &side->dp) &&
           size_of(r, tp + 3, RANKS_MOST, 0, &side->moe_tp) &&
           size_of(r, tp + 4, RANKS_MOST, 0, &side->ep);
}

/*
 * Experts are spread over all tp x dp ranks, so that moe_tp x ep is as much;
 * what is not stated of the two follows. Tables write other things, too:
 * - tp counts all ranks although attention is data parallel (SGLang's way);
 * - tp is moe_tp x ep of the same ranks, where both were filled in from "tp 4,
 *   ep 4" (16 then, though there are 4 GPUs).
 * Sizes that agree with neither leave the experts as tp and dp have them.
 */
static void settle_split(const struct row *r, bool states_dp,
                         struct msim_point_side *s)
{
    int64_t experts = (s->moe_tp ? s->moe_tp : 1) * (s->ep ? s->ep : 1);

    if (s->dp > 1 && s->tp % s->dp == 0 && experts == s->tp) {
        s->tp /= s->dp;
        msim_point_note(r->defaults, "tp_size counts all ranks: %lld of %lld",
                        (long long)s->tp, (long long)(s->tp * s->dp));
    } else if (s->dp == 1 && s->ep > 1 && s->moe_tp == s->ep &&
               experts == s->tp && (s->tp > 8 || states_dp)) {
        s->tp = s->ep;
        msim_point_note(r->defaults, "tp_size is moe_tp x moe_ep: %lld ranks",
                        (long long)s->tp);
        s->moe_tp = 1;
    } else if (s->moe_tp == 0 || s->ep == 0 || experts != s->tp * s->dp) {
        if (s->ep == 0 || (s->tp * s->dp) % s->ep)
            s->ep = 1;
        if (s->moe_tp && s->ep && experts != s->tp * s->dp)
            msim_point_note(r->defaults,
                            "moe_tp_size follows from moe_ep_size");
        s->moe_tp = s->tp * s->dp / s->ep;
    }
}

/* --- words --- */

static bool quant(const struct row *r, enum msim_point_column c,
                  enum msim_quant *out)
{
    const char *word = field(r, c);

    *out = msim_quant_parse(word);
    if (*out == MSIM_QUANTS)
        return refuse(r, c,
                      "a type of weights: fp8, fp8_block, nvfp4, mxfp4, "
                      "int8_wo, int4_wo, bf16 or nothing");
    return true;
}

static bool read_bits(const struct row *r, struct msim_served_point *p)
{
    double bits;

    if (!number(r, MSIM_POINT_BITS, true, 64, &bits))
        return false;
    if (bits <= 0 || field(r, MSIM_POINT_GEMM)[0])
        return true;
    if (bits != 16 && bits != 8 && bits != 4)
        return refuse(r, MSIM_POINT_BITS, "16, 8 or 4");
    p->products = bits > 8   ? MSIM_QUANT_BF16
                  : bits > 4 ? MSIM_QUANT_INT8
                             : MSIM_QUANT_INT4;
    p->experts = p->products;
    return true;
}

static bool read_types(const struct row *r, struct msim_served_point *p)
{
    if (!quant(r, MSIM_POINT_GEMM, &p->products) ||
        !quant(r, MSIM_POINT_MOE, &p->experts) ||
        !quant(r, MSIM_POINT_KV, &p->kv))
        return false;
    if (p->kv != MSIM_QUANT_OWN && p->kv != MSIM_QUANT_BF16 &&
        p->kv != MSIM_QUANT_FP8)
        return refuse(r, MSIM_POINT_KV, "auto, bf16 or fp8");
    if (p->experts == MSIM_QUANT_OWN)
        p->experts = p->products;
    return read_bits(r, p);
}

static bool read_engine(const struct row *r, struct msim_served_point *p)
{
    const char *word = field(r, MSIM_POINT_BACKEND);

    p->engine = MSIM_LLM_VLLM;
    if (!word[0]) {
        msim_point_note(r->defaults, "backend vllm");
        return true;
    }
    p->engine = msim_llm_engine_parse(word);
    if (p->engine == MSIM_LLM_ENGINES)
        return refuse(r, MSIM_POINT_BACKEND, "vllm, sglang or trtllm");
    return true;
}

/* --- a row --- */

static bool read_tokens(const struct row *r, struct msim_served_point *p)
{
    if (!size_of(r, MSIM_POINT_ISL, TOKENS_MOST, 0, &p->isl) ||
        !size_of(r, MSIM_POINT_OSL, TOKENS_MOST, 0, &p->osl))
        return false;
    if (!p->isl) {
        p->isl = 128;
        msim_point_note(r->defaults, "isl 128");
    }
    if (!p->osl) {
        p->osl = 128;
        msim_point_note(r->defaults, "osl 128");
    }
    return true;
}

static bool read_disaggregated(const struct row *r, struct msim_served_point *p)
{
    if (!read_side(r, MSIM_POINT_PREFILL_TP, &p->serve) ||
        !read_side(r, MSIM_POINT_DECODE_TP, &p->decode) ||
        !size_of(r, MSIM_POINT_PREFILL_BATCH, CLIENTS_MOST, 1,
                 &p->serve.batch) ||
        !size_of(r, MSIM_POINT_DECODE_BATCH, CLIENTS_MOST, 1,
                 &p->decode.batch) ||
        !size_of(r, MSIM_POINT_PREFILL_WORKERS, MSIM_POINT_WORKERS_MOST, 1,
                 &p->serve.workers) ||
        !size_of(r, MSIM_POINT_DECODE_WORKERS, MSIM_POINT_WORKERS_MOST, 1,
                 &p->decode.workers) ||
        !number(r, MSIM_POINT_TRANSFER, false, 1e6, &p->kv_transfer_gbps))
        return false;
    settle_split(r, field(r, MSIM_POINT_PREFILL_DP)[0], &p->serve);
    settle_split(r, field(r, MSIM_POINT_DECODE_DP)[0], &p->decode);
    if (p->kv_transfer_gbps <= 0) {
        p->kv_transfer_gbps = 50;
        msim_point_note(r->defaults, "kv_transfer_gbps 50");
    }
    if (!p->clients) {
        p->clients = p->decode.workers * p->decode.batch;
        msim_point_note(r->defaults, "concurrency %lld", (long long)p->clients);
    }
    return true;
}

static bool read_replica(const struct row *r, struct msim_served_point *p)
{
    if (!read_side(r, MSIM_POINT_TP, &p->serve))
        return false;
    settle_split(r, field(r, MSIM_POINT_DP)[0], &p->serve);
    if (!p->clients) {
        p->clients = 1;
        msim_point_note(r->defaults, "batch_size 1");
    }
    p->serve.workers = 1;
    p->serve.batch = p->clients;
    return true;
}

/*
 * How far lengths differ is in few tables, but it decides how long prompts
 * queue. AIPerf and vLLM's benchmark have equal ones unless they are told.
 * Engines that mix prompts and decoding get out of step even so.
 */
static struct msim_tokens around(int64_t tokens, double least, double most)
{
    return (struct msim_tokens){least * (double)tokens, most * (double)tokens};
}

void msim_served_point_settle(struct msim_served_point *p, char *defaults)
{
    double spread = msim_engine_table[p->engine].output_spread;

    if (p->range > 0) {
        p->prompts = around(p->isl, p->range, 1);
        p->outputs = around(p->osl, p->range, 1);
        return;
    }
    p->prompts = around(p->isl, 1, 1);
    p->outputs = around(p->osl, 1 - spread, 1 + spread);
    msim_point_note(defaults, "equal lengths");
}

static bool is_small_enough(const struct row *r,
                            const struct msim_served_point *p)
{
    if ((double)p->clients * (double)p->osl <= OUTPUTS_MOST)
        return true;
    msim_point_note(r->reason,
                    "%lld clients with %lld output tokens each: want at most "
                    "%g tokens",
                    (long long)p->clients, (long long)p->osl, OUTPUTS_MOST);
    return false;
}

bool msim_served_point_read(struct msim_served_point *p,
                            const struct msim_point_columns *columns,
                            char *const *fields, char *defaults, char *reason)
{
    struct row r = {columns, fields, defaults, reason};
    const char *mode = field(&r, MSIM_POINT_MODE);

    *p = (struct msim_served_point){.model = field(&r, MSIM_POINT_MODEL),
                                    .platform = field(&r, MSIM_POINT_PLATFORM)};
    defaults[0] = reason[0] = '\0';
    if (!p->model[0])
        return refuse(&r, MSIM_POINT_MODEL, "a model's name");
    if (!p->platform[0])
        return refuse(&r, MSIM_POINT_PLATFORM, "a GPU's name");
    if (!read_engine(&r, p) || !read_types(&r, p) || !read_tokens(&r, p) ||
        !number(&r, MSIM_POINT_RANGE, false, 1, &p->range) ||
        !size_of(&r, MSIM_POINT_BATCH, CLIENTS_MOST, 0, &p->clients))
        return false;
    return (strncmp(mode, "disagg", 6) == 0 ? read_disaggregated(&r, p)
                                            : read_replica(&r, p)) &&
           is_small_enough(&r, p);
}
