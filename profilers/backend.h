/*
 * profilers/backend.h - what times experiments: one interface, whatever the
 * device.
 *
 * An experiment is a JSON object on one line, with the columns of the tables of
 * measured times (core/work/rows.h) as members and beside them
 *   id      a number that the answer repeats
 *   table   "gemm", "attention", "vector", "conv", "collective", "copy", or
 *           "latency"
 * A backend turns it into a case, which can be timed again and again;
 * profilers/sampler.h decides how often. profilers/serve.h speaks the lines.
 */
#ifndef MSIM_PROFILERS_BACKEND_H
#define MSIM_PROFILERS_BACKEND_H
#include "core/base/json.h"
#include "core/base/json_out.h"
#include "profilers/counters.h"

#include <stdbool.h>

/* Something that can be timed; `state` is the backend's. */
struct msim_case {
    void *state;
    /* Time it once, with what it reads out of the caches. The operation may be
     * run several times for that, when one is too short for the clock: `*us`
     * is for one. */
    enum msim_status (*time)(void *state, double *us, struct msim_error *err);
    void (*release)(void *state); /* may be NULL */
    /* Likewise without what runs beside it. NULL: nothing does. */
    enum msim_status (*alone)(void *state, double *us, struct msim_error *err);
};

struct msim_backend {
    const char *name;
    /* Find the device. EUNKNOWN, saying what was looked for, where there is
     * none. `*self` is given to all others and to close(), which is called
     * only after a success. */
    enum msim_status (*open)(void **self, struct msim_error *err);
    void (*close)(void *self);
    /* Write the members of the greeting: "device" (name, kind, sms,
     * memory_bytes, l2_bytes, clocks in MHz, power limits in W, as far as they
     * are known), "libraries" (name: version), "tables" (table: list of the
     * kinds, such as "fp32" or "add:fp32") and, where there are any, "left_out"
     * (table: why this backend has none), "counters" (true, or why hardware
     * counters cannot be read) and "beside" (as "tables": what can be timed
     * beside a collective, or why nothing can). */
    void (*describe)(void *self, struct msim_json *out);
    /*
     * Make ready what an experiment asks for, its operands filled with random
     * numbers. ENOMODEL where the device or a library cannot do it: that is
     * reported, and no failure. `*out` must be released.
     */
    enum msim_status (*prepare)(void *self, const cJSON *experiment,
                                struct msim_case *out, struct msim_error *err);
    /* The device's state now, such as its clock in MHz, as members of an
     * answer; may be NULL. */
    void (*state)(void *self, struct msim_json *out);
    /* What a dry run asks in the place of prepare(), without a device: is this
     * an experiment, and how many bytes do its operands take? EFORMAT as
     * prepare() has it. NULL: no dry runs. */
    enum msim_status (*check)(const cJSON *experiment, double *bytes,
                              struct msim_error *err);
    /* Run what was prepared a few times more, and read the device's hardware
     * counters; asked once at most, after the last time(). ENOMODEL where they
     * cannot be read. NULL: the backend reads none. */
    enum msim_status (*count)(void *self, const struct msim_case *c,
                              struct msim_counts *out, struct msim_error *err);
    /* Asked after an experiment, or its counting, failed: can the device still
     * be used? NULL: it always can. */
    bool (*usable)(void *self);
};

#endif
