/*
 * Times of a CPU out of traces that were written event by event: self times,
 * calls that waited and that did not, pauses, and the device's side.
 */
#include "calibrate/host/host_fit.h"

#include "tests/check.h"
#include "tests/unit/made_job.h"

#include <math.h>

struct read {
    struct msim_host_samples s;
    struct msim_host_keys keys;
};

static bool add(struct read *r, struct made *trace, bool repeats)
{
    struct made_job j;
    bool ok;

    memset(&j, 0, sizeof(j));
    ok = made_load_files(&j, trace, 1);

    if (ok)
        ok = CHECK_INT(
            msim_host_samples_add(&r->s, &r->keys, j.job->ranks[0], repeats),
            MSIM_OK);
    made_unload(&j);
    return ok;
}

static bool begin(struct read *r)
{
    *r = (struct read){0};
    return CHECK_INT(msim_host_keys_init(&r->keys), MSIM_OK);
}

static void end(struct read *r)
{
    msim_host_samples_release(&r->s);
    msim_host_keys_release(&r->keys);
}

/* The operator of that name, the n-th from 0. */
static const struct msim_host_op *op(const struct read *r, const char *name,
                                     uint32_t n)
{
    for (uint32_t i = 0; i < r->s.n_ops; i++)
        if (!strcmp(msim_strtab_text(r->keys.names, r->s.ops[i].key), name) &&
            n-- == 0)
            return &r->s.ops[i];
    return NULL;
}

/* The values of a series, in the order in which they came. */
static void check_series(const struct msim_series *s, uint32_t n,
                         const double *want)
{
    CHECK_UINT(s->n, n);
    for (uint32_t i = 0; i < n && i < s->n; i++)
        CHECK_REL(s->v[i], want[i], 1e-9);
}

/*
 * aten::linear of 100 us has aten::mm of 60 and a launch of 7 of its own: 33
 * are left; aten::mm has a launch of 10, with a driver's call inside it that
 * counts for nothing: 50. 5 us later comes the next operator.
 */
static void test_samples__self_times(void)
{
    struct made m = made_trace(0, 1);
    const double launches[] = {10, 7, 3}, after[] = {5};
    struct read r;

    made_op(&m, 1, "aten::linear", 0, 100);
    made_op(&m, 1, "aten::mm", 10, 60);
    made_call(&m, 1, "cudaLaunchKernel", 20, 10, 1);
    made_call(&m, 1, "cuLaunchKernel", 22, 4, 9);
    made_call(&m, 1, "cudaLaunchKernel", 80, 7, 2);
    made_op(&m, 1, "aten::relu", 105, 20);
    made_call(&m, 1, "cudaLaunchKernel", 130, 3, 3); /* of no operator */
    made_kernel(&m, 7, "k", 40, 5, 1);
    made_kernel(&m, 7, "k", 90, 5, 2);
    made_kernel(&m, 7, "k", 140, 5, 3);
    REQUIRE(begin(&r) && add(&r, &m, false));
    CHECK_UINT(r.s.n_traces, 1);
    CHECK_UINT(r.s.n_ops, 3);
    CHECK_UINT(r.keys.n, 1 + 3); /* the first is no name */
    REQUIRE(op(&r, "aten::linear", 0) && op(&r, "aten::mm", 0) &&
            op(&r, "aten::relu", 0));
    CHECK_REL(op(&r, "aten::linear", 0)->self, 33, 1e-9);
    CHECK_REL(op(&r, "aten::linear", 0)->work, 33 + 7 + 5, 1e-9);
    CHECK_REL(op(&r, "aten::mm", 0)->self, 50, 1e-9);
    CHECK_REL(op(&r, "aten::mm", 0)->work, 60, 1e-9);
    CHECK_REL(op(&r, "aten::relu", 0)->work, 20, 1e-9);
    CHECK_INT(r.keys.classes[op(&r, "aten::linear", 0)->key],
              MSIM_HOST_COMPOSITE);
    CHECK_INT(r.keys.classes[op(&r, "aten::mm", 0)->key], MSIM_HOST_LEAF);
    CHECK_UINT(op(&r, "aten::mm", 0)->step, MSIM_NONE);
    CHECK_UINT(op(&r, "aten::mm", 0)->unit, MSIM_NONE);
    check_series(&r.s.calls[MSIM_CALL_LAUNCH], 3, launches);
    check_series(&r.s.all_calls[MSIM_CALL_LAUNCH], 3, launches);
    check_series(&r.s.after[MSIM_AFTER_OPERATOR], 1, after);
    CHECK_UINT(r.s.after[MSIM_AFTER_AUTOGRAD].n, 0);
    REQUIRE(r.s.n_made == 2);
    CHECK_UINT(r.s.made[0].key, op(&r, "aten::mm", 0)->key);
    CHECK_UINT(r.s.made[1].key, op(&r, "aten::linear", 0)->key);
    CHECK_UINT(r.s.made[1].kind, MSIM_CALL_LAUNCH);
    end(&r);
    made_free(&m);
}

/* A call that outlasts its operator leaves it less than nothing, which is no
 * work. */
static void test_samples__calls_that_outlast(void)
{
    struct made m = made_trace(0, 1);
    struct read r;

    made_op(&m, 1, "aten::add", 0, 10);
    made_op(&m, 1, "aten::item", 20, 10);
    made_call(&m, 1, "cudaMalloc", 21, 9, 1);
    made_op(&m, 1, "aten::mul", 2000, 10);
    made_op(&m, 1, "autograd::engine::evaluate_function: X", 2020, 30);
    made_op(&m, 1, "MulBackward0", 2025, 10);
    made_op(&m, 1, "aten::mul", 2058, 10);
    REQUIRE(begin(&r) && add(&r, &m, false));
    REQUIRE(op(&r, "aten::item", 0) && op(&r, "MulBackward", 0));
    /* a call of the allocator may have waited: it is no work; and a pause of
     * 1970 us is none */
    CHECK_REL(op(&r, "aten::item", 0)->self, 1, 1e-9);
    CHECK_REL(op(&r, "aten::item", 0)->work, 1, 1e-9);
    CHECK_UINT(r.s.calls[MSIM_CALL_MALLOC].n, 0);
    CHECK_UINT(r.s.all_calls[MSIM_CALL_MALLOC].n, 1);
    CHECK_UINT(r.s.n_made, 1);
    {
        const double operators[] = {10, 10}, autograd[] = {8};

        check_series(&r.s.after[MSIM_AFTER_OPERATOR], 2, operators);
        check_series(&r.s.after[MSIM_AFTER_AUTOGRAD], 1, autograd);
    }
    CHECK_UINT(r.keys.n, 1 + 5); /* aten::mul is one */
    end(&r);
    made_free(&m);
}

/* What is known of a pause: less the calls in it, from nothing to a
 * millisecond. */
static void test_samples__pauses(void)
{
    const double want[] = {14, 0, 999};
    struct made m = made_trace(0, 1);
    struct read r;

    made_op(&m, 1, "aten::a", 0, 10);
    made_call(&m, 1, "cudaEventQuery", 12, 4, 1);
    made_call(&m, 1, "cudaEventQuery", 18, 2, 2);
    made_op(&m, 1, "aten::b", 30, 10);
    made_op(&m, 1, "aten::c", 40, 10);
    made_op(&m, 1, "aten::d", 1049, 10);
    made_op(&m, 1, "aten::e", 2059, 10); /* 1000: too long */
    made_op(&m, 2, "aten::f", 0, 10);    /* another thread has its own */
    REQUIRE(begin(&r) && add(&r, &m, false));
    check_series(&r.s.after[MSIM_AFTER_OPERATOR], 3, want);
    end(&r);
    made_free(&m);
}

/* Which calls waited: those that wait for a GPU that has work, copies of
 * pageable memory and those that ended before their call, the allocator's. */
static void test_samples__waits(void)
{
    const double syncs[] = {3}, copies[] = {5};
    struct made m = made_trace(0, 1);
    struct read r;

    made_call(&m, 1, "cudaDeviceSynchronize", 0, 3, 1); /* nothing to do */
    made_call(&m, 1, "cudaLaunchKernel", 10, 5, 2);
    made_kernel(&m, 7, "k", 100, 50, 2);
    made_call(&m, 1, "cudaDeviceSynchronize", 20, 131, 3); /* launched */
    made_call(&m, 1, "cudaMemcpyAsync", 200, 5, 4);
    made_copy(&m, 7, "HtoD (Pinned -> Device)", 210, 5, 4, 64);
    made_call(&m, 1, "cudaMemcpyAsync", 300, 20, 5);
    made_copy(&m, 7, "HtoD (Pinned -> Device)", 305, 15, 5, 64); /* within */
    made_call(&m, 1, "cudaMemcpyAsync", 400, 6, 6);
    made_copy(&m, 7, "HtoD (Pageable -> Device)", 420, 5, 6, 64);
    made_call(&m, 1, "cudaMemcpyAsync", 500, 6, 7); /* of nothing recorded */
    made_call(&m, 1, "cudaMemsetAsync", 600, 6, 8);
    REQUIRE(begin(&r) && add(&r, &m, false));
    check_series(&r.s.calls[MSIM_CALL_DEVICE_SYNC], 1, syncs);
    CHECK_UINT(r.s.all_calls[MSIM_CALL_DEVICE_SYNC].n, 2);
    check_series(&r.s.calls[MSIM_CALL_MEMCPY], 1, copies);
    CHECK_UINT(r.s.all_calls[MSIM_CALL_MEMCPY].n, 4);
    CHECK_UINT(r.s.calls[MSIM_CALL_MEMSET].n, 0);
    CHECK_UINT(r.s.all_calls[MSIM_CALL_MEMSET].n, 1);
    CHECK_UINT(r.s.n_made, 0);
    end(&r);
    made_free(&m);
}

/* A launch into an idle stream takes until the kernel starts; of two kernels
 * queued back to back there is the time between. */
static void test_samples__device(void)
{
    const double latency[] = {8}, gap[] = {2};
    struct made m = made_trace(0, 1);
    struct read r;

    made_call(&m, 1, "cudaLaunchKernel", 0, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 3, 2, 2);
    made_call(&m, 1, "cudaLaunchKernel", 5, 2, 3);
    made_kernel(&m, 7, "k", 6, 10, 1);
    made_kernel(&m, 7, "k", 18, 10, 2); /* launched before the first began */
    made_kernel(&m, 7, "k", 48, 10, 3); /* 20 us later: it waited */
    made_call(&m, 1, "cudaLaunchKernel", 100, 2, 4);
    made_kernel(&m, 7, "k", 108, 10, 4); /* into an idle stream */
    made_call(&m, 1, "cudaLaunchKernel", 200, 2, 5);
    made_kernel(&m, 8, "k", 205, 10, 5); /* another stream's first */
    REQUIRE(begin(&r) && add(&r, &m, false));
    check_series(&r.s.latency, 1, latency);
    check_series(&r.s.gap, 1, gap);
    end(&r);
    /* clocks that disagree: a kernel begins before its launch */
    made_call(&m, 1, "cudaLaunchKernel", 300, 2, 6);
    made_kernel(&m, 8, "k", 299, 10, 6);
    REQUIRE(begin(&r) && add(&r, &m, false));
    CHECK_UINT(r.s.latency.n, 0);
    CHECK_UINT(r.s.gap.n, 0);
    end(&r);
    made_free(&m);
}

/* Steps are numbered on over traces of a host; what ran more than once is in
 * units, of which each step is one, or a trace that has none. */
static void test_samples__steps_and_units(void)
{
    struct made m = made_trace(0, 1), none = made_trace(0, 1);
    struct read r;

    made_step(&m, 1, 1, 0, 100);
    made_op(&m, 1, "aten::a", 10, 10);
    made_step(&m, 1, 2, 100, 100);
    made_op(&m, 1, "aten::a", 110, 20);
    made_op(&m, 1, "aten::a", 300, 30); /* in no step */
    made_op(&none, 1, "aten::a", 0, 40);
    REQUIRE(begin(&r) && add(&r, &m, false));
    CHECK_UINT(r.s.n_units, 0);
    REQUIRE(add(&r, &m, true) && add(&r, &none, true));
    CHECK_UINT(r.s.n_traces, 3);
    CHECK_UINT(r.s.n_steps, 4);
    REQUIRE(r.s.n_ops == 7 && r.s.n_units == 3);
    {
        static const uint32_t STEPS[] = {0, 1,         MSIM_NONE, 2,
                                         3, MSIM_NONE, MSIM_NONE};
        static const uint32_t UNITS[] = {MSIM_NONE, MSIM_NONE, MSIM_NONE, 0,
                                         1,         MSIM_NONE, 2};

        for (uint32_t i = 0; i < 7; i++) {
            CHECK_UINT(op(&r, "aten::a", i)->step, STEPS[i]);
            CHECK_UINT(op(&r, "aten::a", i)->unit, UNITS[i]);
        }
    }
    CHECK_UINT(r.s.units[0].recording, 1);
    CHECK_UINT(r.s.units[1].recording, 1);
    CHECK_UINT(r.s.units[2].recording, 2);
    end(&r);
    made_free(&m);
    made_free(&none);
}

int main(void)
{
    RUN(test_samples__self_times);
    RUN(test_samples__calls_that_outlast);
    RUN(test_samples__pauses);
    RUN(test_samples__waits);
    RUN(test_samples__device);
    RUN(test_samples__steps_and_units);
    return check_summary();
}
