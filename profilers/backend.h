/*
 * profilers/backend.h - the interface of a backend, which times experiments on
 * one device.
 *
 * An experiment is a JSON object on one line (profilers/experiment.h), with an
 * "id" that the answer repeats. A backend turns it into a case, which can be
 * timed again and again; profilers/sampler.h decides how often.
 * profilers/serve.h reads and writes the lines.
 */
#ifndef MSIM_PROFILERS_BACKEND_H
#define MSIM_PROFILERS_BACKEND_H
#include "core/base/json.h"
#include "profilers/counters.h"

#include <stdbool.h>

/* Something that can be timed; `state` is the backend's. */
struct msim_case {
    void *state;
    /* Time one run, its operands not in the caches; `*us` is of one run, even
     * where several are run because one is too short for the clock. */
    enum msim_status (*time)(void *state, double *us, struct msim_error *err);
    void (*release)(void *state); /* may be NULL */
    /* The same without the concurrent experiment. NULL: there is none. */
    enum msim_status (*alone)(void *state, double *us, struct msim_error *err);
};

/* An operation over and over, once the device's clock has settled. */
struct msim_sustained {
    double seconds;         /* that count */
    uint32_t runs;          /* in them */
    double us;              /* of a run */
    double sm_mhz, power_w; /* 0: not known */
};

struct msim_backend {
    const char *name;
    /* Find the device; `*self` is passed to all other functions. EUNKNOWN,
     * with what was looked for, where there is no device. close() is called
     * only after a success. */
    enum msim_status (*open)(void **self, struct msim_error *err);
    void (*close)(void *self);
    /* Write the greeting's members from "device" on (profilers/serve.h has an
     * example). */
    void (*describe)(void *self, struct msim_json *out);
    /*
     * Make an experiment ready, its operands filled with random numbers.
     * ENOMODEL where the device or a library cannot do it, which is answered
     * and is no failure of the backend. `*out` must be released.
     */
    enum msim_status (*prepare)(void *self, const cJSON *experiment,
                                struct msim_case *out, struct msim_error *err);
    /* Write the device's state, such as its clock in MHz, as members of an
     * answer; may be NULL. */
    void (*state)(void *self, struct msim_json *out);
    /* Called by a dry run instead of prepare(), without a device: check the
     * experiment, and count the bytes of its operands. EFORMAT as in prepare().
     * NULL: no dry runs. */
    enum msim_status (*check)(const cJSON *experiment, double *bytes,
                              struct msim_error *err);
    /* Run a case a few times more, and read the device's hardware counters.
     * Called at most once, after the last time(). ENOMODEL where they cannot
     * be read. NULL: the backend reads none. */
    enum msim_status (*count)(void *self, const struct msim_case *c,
                              struct msim_counts *out, struct msim_error *err);
    /* Run a case over and over for so many seconds, with nothing between the
     * runs. ENOMODEL where that makes no sense. NULL: the backend cannot. */
    enum msim_status (*sustain)(void *self, const struct msim_case *c,
                                double seconds, struct msim_sustained *out,
                                struct msim_error *err);
    /* Run cases in an order, with nothing between them; `*us` is of all.
     * ENOMODEL where one cannot be run so. NULL: what is timed runs so
     * anyway (see apart). */
    enum msim_status (*together)(void *self, const struct msim_case *cases,
                                 const uint32_t *order, uint32_t n, double *us,
                                 struct msim_error *err);
    /* Called after a failed experiment or count(): can the device still be
     * used? NULL: it always can. */
    bool (*usable)(void *self);
    /* Between two runs there is work that is no part of them, such as emptying
     * the caches by reading a large buffer. */
    bool apart;
};

#endif
