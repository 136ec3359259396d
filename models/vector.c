/*
 * models/vector.c - everything that moves bytes and computes little:
 * pointwise, reduction, softmax, norm, embedding, copy, optimizer.
 *
 * time = t0 + missed / (bandwidth * efficiency)
 *           + hit / (bandwidth * efficiency * cache_speedup)
 * Bytes hit the L2 cache while the operands fit into a share of it:
 * hit = bytes / (1 + (bytes / (l2 * cache_share))^4).
 *
 * Copies to and from the host are bound by PCIe instead.
 */
#include "models/interval.h"
#include "models/platform_data.h"

#include <math.h>
#include <string.h>

enum { T0, MEMORY, CACHE, SHARE, ROW, N_PARAMS };

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 3, 0.3, 200},
    [MEMORY] = {"bandwidth_efficiency", "1", 0.8, 0.005, 1.5},
    [CACHE] = {"cache_speedup", "1", 2, 1, 12},
    [SHARE] = {"cache_share", "1", 0.7, 0.02, 4},
    [ROW] = {"row", "us per row of an SM", 0.01, 1e-6, 10},
};

static const char *const FEATURES[] = {
    "log_bytes", "log_elems",    "log_rows", "log_cols",
    "log_l2",    "log_gcd_cols", "waves",    "tail",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

static double bytes_of(const struct msim_work *w)
{
    double bytes = w->bytes_read + w->bytes_written;

    return bytes >= 1 ? bytes : 1;
}

static double rows_of(const struct msim_work *w)
{
    return w->u.vector.rows > 0 ? (double)w->u.vector.rows : 1;
}

static double cols_of(const struct msim_work *w)
{
    return w->u.vector.cols > 0 ? (double)w->u.vector.cols : 1;
}

static double vector_time(const struct msim_spec *s, const struct msim_work *w,
                          const double *p)
{
    double bytes = bytes_of(w);
    double hit = bytes / (1 + pow(bytes / (s->l2_bytes * p[SHARE]), 4));
    double rate = s->bandwidth * p[MEMORY] * 1e-6;

    return p[T0] + (bytes - hit) / rate + hit / (rate * p[CACHE]) +
           rows_of(w) / s->sms * p[ROW];
}

static void vector_describe(const struct msim_spec *s,
                            const struct msim_work *w, double *x)
{
    int64_t cols = w->u.vector.cols > 0 ? w->u.vector.cols : 1;
    double blocks = bytes_of(w) / 8192 / s->sms;

    x[0] = log(bytes_of(w));
    x[1] = log(w->u.vector.elems > 0 ? (double)w->u.vector.elems : 1);
    x[2] = log(rows_of(w));
    x[3] = log(cols_of(w));
    x[4] = log(bytes_of(w) / s->l2_bytes);
    x[5] = log((double)(cols & -cols));
    x[6] = log(blocks);
    x[7] = ceil(blocks) / blocks;
}

static void vector_key(const struct msim_work *w, char *text, size_t size)
{
    snprintf(text, size, "%s", msim_work_variant(w));
}

const struct msim_law MSIM_LAW_VECTOR = {
    .name = "vector",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 4,
    .time_us = vector_time,
    .describe = vector_describe,
    .key = vector_key,
};

/*
 * Which measured operator stands for an operator of a trace, best first: of
 * its own name, then of its family. `factor` is the time over what the bytes
 * alone would take, `spread` the doubt in it.
 */
struct stand_in {
    enum msim_family family;
    const char *variant; /* NULL: any */
    const char *keys[4];
    double factor, spread;
};

static const struct stand_in STAND_INS[] = {
    {MSIM_FAMILY_SOFTMAX, NULL, {"softmax"}, 1, 0.1},
    {MSIM_FAMILY_NORM, NULL, {"ln", "input_layernorm", "softmax"}, 1, 0.2},
    {MSIM_FAMILY_EMBEDDING, NULL, {"emb", "addu"}, 1, 0.3},
    {MSIM_FAMILY_REDUCTION, NULL, {"addu", "relu"}, 1, 0.3},
    {MSIM_FAMILY_OPTIMIZER, NULL, {"add", "mul"}, 1, 0.3},
    {MSIM_FAMILY_COPY, NULL, {"addu", "relu"}, 1, 0.2},
    {MSIM_FAMILY_POINTWISE, NULL, {"add", "mul", "addu"}, 1, 0.15},
};

/* Reading out of memory order leaves part of every 32-byte sector unused: a
 * naive transposition runs at a third to a half of a plain copy's rate
 * (Harris, "An efficient matrix transpose in CUDA C/C++", 2013). */
#define STRIDED_FACTOR 1.5
#define STRIDED_SPREAD 0.35

static const struct stand_in *stand_in(const struct msim_work *w)
{
    for (size_t i = 0; i < sizeof(STAND_INS) / sizeof(*STAND_INS); i++)
        if (STAND_INS[i].family == w->family)
            return &STAND_INS[i];
    return NULL;
}

static bool is_bare(const struct msim_work *w)
{
    return !w->framework || strcmp(w->framework, "pytorch") == 0;
}

static bool vector_pick(const struct msim_platform *p,
                        const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {"NeuSight", "vidur", NULL};
    const struct stand_in *s = stand_in(w);
    const char *keys[6];
    size_t n = 0;

    keys[n++] = msim_work_variant(w);
    if (!is_bare(w)) {
        keys[n] = NULL;
        if (msim_cell_pick(p, &MSIM_LAW_VECTOR, w->framework, PREFER, keys,
                           out))
            return true;
    }
    for (size_t i = 0; s && i < 4 && s->keys[i]; i++)
        keys[n++] = s->keys[i];
    keys[n] = NULL;
    return msim_cell_pick(p, &MSIM_LAW_VECTOR, w->framework, PREFER, keys, out);
}

static bool is_host_copy(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_COPY &&
           (w->u.vector.copy == MSIM_COPY_H2D ||
            w->u.vector.copy == MSIM_COPY_D2H);
}

/* 10 us: what a copy engine takes to start, as the smallest copies of public
 * traces show (1 to 2 us there, more under load). */
static void host_copy(const struct msim_platform *p, const struct msim_work *w,
                      struct msim_estimate *out)
{
    double bytes = w->bytes_written > 0 ? w->bytes_written : w->bytes_read;
    double rate = w->u.vector.pageable ? p->spec.pageable : p->spec.pcie;

    out->us = p->spec.floor_us + bytes * 1e6 / rate;
    out->source = MSIM_SOURCE_LAW;
    out->family = w->family;
    msim_interval_set(out, 0, 0, w->u.vector.pageable ? 0.5 : 0.25);
}

static bool vector_covers(const struct msim_platform *p,
                          const struct msim_work *w)
{
    struct msim_pick pick;

    if (!stand_in(w))
        return false;
    return is_host_copy(w) || vector_pick(p, w, &pick);
}

static enum msim_status vector_predict(const struct msim_platform *p,
                                       const struct msim_work *w,
                                       struct msim_estimate *out)
{
    const struct stand_in *s = stand_in(w);
    struct msim_pick pick;
    double factor = 1, spread = 0;

    if (is_host_copy(w)) {
        host_copy(p, w, out);
        return MSIM_OK;
    }
    if (!vector_pick(p, w, &pick))
        return MSIM_ENOMODEL;
    if (is_bare(w)) {
        factor = s->factor;
        spread = s->spread;
        if (w->u.vector.strided) {
            factor *= STRIDED_FACTOR;
            spread += STRIDED_SPREAD;
        }
    }
    msim_cell_estimate(p, &pick, w, factor, spread, out);
    return MSIM_OK;
}

static void vector_explain(const struct msim_platform *p,
                           const struct msim_work *w, FILE *out)
{
    struct msim_pick pick;

    fprintf(out, "inputs: %s, %.6g bytes, %lld elements, %lld x %lld%s\n",
            *msim_work_variant(w) ? msim_work_variant(w)
                                  : msim_family_text(w->family),
            bytes_of(w), (long long)w->u.vector.elems,
            (long long)w->u.vector.rows, (long long)w->u.vector.cols,
            w->u.vector.strided ? ", not in memory order" : "");
    if (is_host_copy(w)) {
        fprintf(out, "law: floor + bytes / PCIe rate (%s memory)\n",
                w->u.vector.pageable ? "pageable" : "pinned");
        return;
    }
    fprintf(out, "law: t0 + bytes / bandwidth, faster while they fit into "
                 "the L2 cache\n");
    if (vector_pick(p, w, &pick))
        msim_cell_explain(p, &pick, w, out);
}

const struct msim_model MSIM_MODEL_VECTOR = {"vector", vector_covers,
                                             vector_predict, vector_explain};
