/*
 * models/estimate/vector.c - pointwise operators, reductions, softmax, norms,
 * look-ups, copies and optimizers by models/law/vector_law.c.
 *
 * Copies to and from the host are bound by PCIe instead.
 */
#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <string.h>

/*
 * The measured operators that stand in for operators of a family, best first;
 * an operator of the same name comes before them. `more_us` is the time of the
 * family's shortest kernel beyond the shortest kernel of the GPU: a norm and a
 * softmax reduce a row twice, one after the other; a reduction does once; a
 * look-up waits for its index. In rows of vidur, t0 of norms is 4.9 and 5.2 us
 * on A100, 4.2 and 4.0 us on H100, 5.0 and 5.1 us on A40; of the
 * embedding 3.1, 2.8 and 2.3 us; of the addition 2.0, 1.6 and 1.4 us. The mean
 * differences are 3.1 and 1.1 us, whatever the shortest kernel is.
 *
 * A correction holds for other pointwise operators (mul as add, gelu as addu:
 * errors of 1 to 4 % with it and of 4 to 7 % by the law alone). It does not
 * hold for other kinds of kernels (softmax as ln and ln as softmax: the same
 * errors with and without it).
 */
static const struct stand_in {
    enum msim_family family;
    const char *keys[4];
    double more_us;
    double log_sd; /* where another operator stands in */
    bool carries;  /* the correction holds where another operator stands in */
} STAND_INS[] = {
    {MSIM_FAMILY_POINTWISE, {"add", "mul", "addu"}, 0, 0.15, true},
    {MSIM_FAMILY_COPY, {"addu", "relu", "add"}, 0, 0.2, false},
    {MSIM_FAMILY_OPTIMIZER, {"add", "mul"}, 0, 0.3, false},
    {MSIM_FAMILY_REDUCTION, {"addu", "relu", "add"}, 1.5, 0.3, false},
    {MSIM_FAMILY_SOFTMAX, {"softmax"}, 3.1, 0.15, false},
    {MSIM_FAMILY_NORM,
     {"ln", "input_layernorm", "layer_norm"},
     3.1,
     0.2,
     false},
    {MSIM_FAMILY_EMBEDDING, {"index_select", "addu", "add"}, 1.1, 0.4, false},
};

/* On a CPU, stand-ins for operators that work in place. */
static const char *const IN_PLACE[] = {"mulu_", "add_"};

/* Norms in two passes over memory (of batches, of groups), those by given
 * moments, and softmax of wide rows are similar to additions, not to kernels
 * whose rows stay in an SM. */
static const struct stand_in PASSES = {
    MSIM_FAMILY_NORM, {"addu", "relu", "add"}, 3.1, 0.2, false};

/* The time over that of the fit's operation. */
static double slowdown(const struct msim_work *w)
{
    return w->u.vector.strided ? MSIM_FACT(NULL, STRIDED_FACTOR) : 1;
}

static double slowdown_log_sd(const struct msim_work *w)
{
    if (msim_is_counted(w))
        return MSIM_FACT(NULL, COUNTED_LOG_SD);
    return w->u.vector.strided ? MSIM_FACT(NULL, STRIDED_LOG_SD) : 0;
}

static bool is_bare(const struct msim_work *w)
{
    return !w->framework || strcmp(w->framework, "pytorch") == 0;
}

/* Whether the platform has rows of PyTorch's own kernel; of a softmax, a
 * calibration's alone. */
static bool has_own_rows(const struct msim_platform *p,
                         const struct msim_work *w)
{
    static const char *const PREFER[] = {MSIM_STACKS_OWN_ROWS};
    bool norm = w->family == MSIM_FAMILY_NORM;
    const char *const keys[] = {norm ? "ln" : "softmax", NULL};
    struct msim_pick pick;

    return msim_fit_pick(p, msim_law_of(w->family, p->is_host), NULL, PREFER,
                         keys, &pick) &&
           pick.platform == p && !pick.other_key &&
           (norm || strcmp(pick.fit->framework, "torch") == 0);
}

/* Whether rows pass by at the rate of memory, some of them more than once. A
 * norm of another library is a worse guess than this. */
static bool passes_by(const struct msim_platform *p, const struct msim_work *w)
{
    return !p->is_host && is_bare(w) && msim_rows_again(&p->sheet, w) > 0 &&
           !has_own_rows(p, w);
}

/* What is like a work. */
struct kin {
    const struct stand_in *s; /* NULL: nothing is */
    bool pass;                /* passes_by() */
};

/* A norm of what does not lie side by side. */
static bool is_over_others(const char *variant)
{
    return (*variant == 'b' && strncmp(variant, "batch_norm", 10) == 0) ||
           (*variant == 'g' && strncmp(variant, "group_norm", 10) == 0);
}

static struct kin kin_of(const struct msim_platform *p,
                         const struct msim_work *w)
{
    struct kin k = {.pass = passes_by(p, w)};

    if (k.pass || is_over_others(msim_work_variant(w)))
        k.s = &PASSES;
    for (size_t i = 0; !k.s && i < sizeof(STAND_INS) / sizeof(*STAND_INS); i++)
        if (STAND_INS[i].family == w->family)
            k.s = &STAND_INS[i];
    return k;
}

static bool vector_pick(const struct msim_platform *p,
                        const struct msim_work *w, const struct kin *k,
                        struct msim_pick *out)
{
    /* Those with rows of the type first. */
    static const char *const FULL[] = {MSIM_STACKS_VECTOR_FULL};
    static const char *const HALF[] = {MSIM_STACKS_VECTOR_HALF};
    const char *const *prefer = msim_dtype_bytes(w->dtype) > 2 ? FULL : HALF;
    const struct stand_in *s = k->s;
    const struct msim_law *law = msim_law_of(w->family, p->is_host);
    char key[MSIM_FIT_KEY];
    const char *keys[9] = {key};
    bool pass = k->pass, found;
    size_t n = pass ? 0 : 1;

    law->key(w, key, sizeof(key));
    if (!pass && strcmp(key, msim_work_variant(w)) != 0) {
        keys[n++] = msim_work_variant(w);
        keys[n++] = IN_PLACE[0];
        keys[n++] = IN_PLACE[1];
    }

    if (!is_bare(w) && msim_fit_pick(p, law, w->framework, prefer, keys, out))
        return true;
    for (size_t i = 0; s && i < 4 && s->keys[i]; i++)
        keys[n++] = s->keys[i];
    found = msim_fit_pick(p, law, w->framework, prefer, keys, out);
    if (found && pass)
        out->other_key = true;
    if (found && out->other_key && s && !s->carries)
        out->trees = false;
    return found;
}

/* The work as the law of the fit expects it. Rows of the operator itself have
 * the cost of its grid in their constants, and a CPU has neither grid nor
 * kernels. */
static struct msim_work asked(const struct msim_platform *p,
                              const struct msim_work *w, const struct kin *k,
                              const struct msim_pick *pick)
{
    struct msim_work work = *w;

    if (!pick->other_key || p->is_host)
        work.u.vector.fold = MSIM_FOLD_UNKNOWN;
    if (p->is_host)
        work.kernels = 1;
    if (k->pass) {
        work.bytes_read += msim_rows_again(&p->sheet, w);
        work.family = MSIM_FAMILY_POINTWISE;
    }
    return work;
}

static bool is_host_copy(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_COPY &&
           (w->u.vector.copy == MSIM_COPY_H2D ||
            w->u.vector.copy == MSIM_COPY_D2H);
}

/* Copies between host and device take the shortest kernel and their bytes over
 * the rate of PCIe; pageable memory has a rate of its own. */
static void host_copy(const struct msim_platform *p, const struct msim_work *w,
                      struct msim_estimate *out)
{
    double bytes = w->bytes_written > 0 ? w->bytes_written : w->bytes_read;
    double rate = w->u.vector.pageable ? p->sheet.pageable : p->sheet.pcie;

    out->start_us = p->sheet.floor_us;
    out->us = p->sheet.floor_us + bytes * 1e6 / rate;
    out->source = MSIM_SOURCE_LAW;
    out->family = w->family;
    msim_interval_set(out, 0, 0, w->u.vector.pageable ? 0.5 : 0.25);
}

static bool vector_covers(const struct msim_platform *p,
                          const struct msim_work *w)
{
    const struct msim_law *law = msim_law_of(w->family, p->is_host);
    struct kin k = kin_of(p, w);
    struct msim_pick pick;

    if (!k.s || is_host_copy(w))
        return k.s;
    for (size_t i = 0; i < 4 && k.s->keys[i]; i++)
        if (msim_fit_has_key(p, law, k.s->keys[i]))
            return true;
    return vector_pick(p, w, &k, &pick);
}

/* Rows of tables are short: what they tell of a GPU's bandwidth is a little too
 * much for long streams. */
static void limit_to_stream(const struct msim_platform *p,
                            const struct msim_work *w, struct msim_estimate *e)
{
    double beyond = msim_vector_bytes(w) - p->sheet.l2_bytes;
    double least =
        e->start_us + beyond * 1e6 / (p->sheet.bandwidth * p->sheet.stream);
    double factor = least / e->us;

    if (!(p->sheet.stream < 1) || w->family == MSIM_FAMILY_EMBEDDING ||
        !(factor > 1))
        return;
    e->us *= factor;
    e->low_us *= factor;
    e->high_us *= factor;
}

static enum msim_status vector_predict(const struct msim_platform *p,
                                       const struct msim_work *w,
                                       struct msim_estimate *out)
{
    const struct kin k = kin_of(p, w);
    struct msim_adjust adjust = {.factor = 1};
    struct msim_work work;
    struct msim_pick pick;

    if (is_host_copy(w)) {
        host_copy(p, w, out);
        return MSIM_OK;
    }
    if (!vector_pick(p, w, &k, &pick))
        return MSIM_ENOMODEL;
    if (is_bare(w)) {
        adjust.least_us =
            p->sheet.floor_us + k.s->more_us / msim_platform_clock_ratio(p);
        if (pick.other_key)
            adjust.log_sd = k.s->log_sd;
        adjust.factor = slowdown(w);
        adjust.log_sd += slowdown_log_sd(w);
    }
    work = asked(p, w, &k, &pick);
    msim_fit_estimate(p, &pick, &work, &adjust, out);
    out->family = w->family;
    if (is_bare(w))
        limit_to_stream(p, &work, out);
    if (is_bare(w) && !p->is_host)
        msim_pace_join(msim_sm_pace_us(&p->sheet, w), out);
    return MSIM_OK;
}

static void explain_grid(const struct msim_platform *p,
                         const struct msim_work *w, FILE *out)
{
    struct msim_reduce_grid g = msim_vector_grid(&p->sheet, w);

    msim_print(out,
               "grid: %g blocks of %g threads, %g loads of each in turn%s\n",
               g.blocks, g.threads, g.rounds,
               g.split ? ", several blocks an output" : "");
}

static const char *law_text(const struct msim_work *w)
{
    if (!is_host_copy(w))
        return "t0 + bytes / bandwidth, faster while they fit into the L2 "
               "cache";
    return w->u.vector.pageable ? "floor + bytes / PCIe rate (pageable memory)"
                                : "floor + bytes / PCIe rate (pinned memory)";
}

#define INPUTS "inputs: %s, %.6g bytes, %lld elements, %lld x %lld%s\n"

static void vector_explain(const struct msim_platform *p,
                           const struct msim_work *w, FILE *out)
{
    const struct kin k = kin_of(p, w);
    struct msim_work work;
    char looked_up[128] = "";
    struct msim_pick pick;

    if (w->u.vector.table_rows > 0)
        snprintf(looked_up, sizeof(looked_up),
                 "look-ups: %.6g rows of a table of %.6g, %.6g bytes each",
                 w->u.vector.lookups, w->u.vector.table_rows,
                 w->u.vector.row_bytes);
    msim_print(out, *looked_up ? INPUTS "%s\nlaw: %s\n" : INPUTS "%slaw: %s\n",
               *msim_work_variant(w) ? msim_work_variant(w)
                                     : msim_family_text(w->family),
               msim_vector_bytes(w), (long long)w->u.vector.elems,
               (long long)w->u.vector.rows, (long long)w->u.vector.cols,
               w->u.vector.strided ? ", not in memory order" : "", looked_up,
               law_text(w));
    if (is_host_copy(w) || !vector_pick(p, w, &k, &pick))
        return;
    work = asked(p, w, &k, &pick);
    if (work.family == MSIM_FAMILY_REDUCTION &&
        work.u.vector.fold != MSIM_FOLD_UNKNOWN)
        explain_grid(p, &work, out);
    msim_fit_explain(p, &pick, &work, out);
    if (is_bare(w) && !p->is_host && msim_sm_pace_us(&p->sheet, w) > 0)
        fprintf(out,
                "SMs: %.4g us of windows, moments or scans, joined to "
                "memory's time\n",
                msim_sm_pace_us(&p->sheet, w));
    if (is_bare(w) && slowdown(w) > 1)
        fprintf(out, "times: %g, for an operand out of memory order\n",
                slowdown(w));
}

const struct msim_model MSIM_MODEL_VECTOR = {"vector", vector_covers,
                                             vector_predict, vector_explain};
