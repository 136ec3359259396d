/*
 * profilers/serve.c - a backend as a program.
 */

#include "core/base/print.h"
#include "profilers/serve_internal.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define SUSTAIN_MAX 60 /* seconds */

struct serving {
    const struct msim_backend *b;
    void *self;
    FILE *out;
    bool dry;
    struct msim_sampled sampled;
    bool counting; /* the experiment wants counters */
    enum msim_status counted;
    struct msim_counts counts;
    struct msim_error uncounted; /* why it was not */
    double sustain;              /* seconds, 0: not wanted */
    enum msim_status settled;
    struct msim_sustained sustained;
    struct msim_error unsettled; /* why it was not */
};

static void begin_line(struct msim_json *j, FILE *out)
{
    msim_json_begin(j, msim_sink_file, out);
    msim_json_open(j, NULL, '{', false);
}

static enum msim_status end_line(struct msim_json *j, FILE *out,
                                 struct msim_error *err)
{
    enum msim_status status;

    status = msim_json_end(j);
    if (status == MSIM_OK && fflush(out) == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "cannot write an answer");
}

static enum msim_status greet(struct serving *s, struct msim_error *err)
{
    struct msim_json j;

    begin_line(&j, s->out);
    msim_json_text(&j, "schema", MSIM_PROFILER_SCHEMA);
    msim_json_text(&j, "backend", s->b->name);
    msim_json_text(&j, "version", MSIM_VERSION);
    if (s->dry)
        msim_json_bool(&j, "dry_run", true);
    else
        s->b->describe(s->self, &j);
    msim_json_bool(&j, "sequences", !s->dry);
    if (s->b->sustain && !s->dry)
        msim_json_bool(&j, "sustained", true);
    return end_line(&j, s->out, err);
}

static uint32_t count_of(const cJSON *o, const char *key)
{
    double v = msim_json_get_number(o, key, 0);

    return v > 0 && v < 1e9 ? (uint32_t)v : 0;
}

/* A failure to count is no failure of the experiment. */
static void count(struct serving *s, const struct msim_case *c)
{
    s->uncounted = (struct msim_error){0};
    s->counted =
        s->b->count
            ? s->b->count(s->self, c, &s->counts, &s->uncounted)
            : msim_fail(&s->uncounted, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                        "backend '%s' reads none", s->b->name);
}

static void sustain(struct serving *s, const struct msim_case *c)
{
    s->unsettled = (struct msim_error){0};
    s->settled = s->b->sustain ? s->b->sustain(s->self, c, s->sustain,
                                               &s->sustained, &s->unsettled)
                               : msim_fail(&s->unsettled, MSIM_ENOMODEL, NULL,
                                           MSIM_OFFSET_NONE,
                                           "backend '%s' cannot", s->b->name);
}

static enum msim_status sample(struct serving *s, const cJSON *experiment,
                               struct msim_error *err)
{
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(experiment, "policy");
    struct msim_policy policy = {
        .warm_up = count_of(p, "warm_up"),
        .least = count_of(p, "least"),
        .most = count_of(p, "most"),
        .spread = msim_json_get_number(p, "spread", 0),
        .seconds = msim_json_get_number(p, "seconds", 0),
    };
    struct msim_case c = {0};
    enum msim_status status;

    MSIM_TRY(s->b->prepare(s->self, experiment, &c, err));
    status = msim_sample_case(&c, &policy, &s->sampled, err);
    if (status == MSIM_OK && s->sustain > 0)
        sustain(s, &c);
    if (status == MSIM_OK && s->counting)
        count(s, &c);
    if (c.release)
        c.release(c.state);
    return status;
}

static void write_samples(struct msim_json *j, const struct msim_sampled *s)
{
    msim_json_open(j, "samples", '[', false);
    for (uint32_t i = 0; i < s->n; i++)
        msim_json_number(j, NULL, s->samples[i]);
    msim_json_close(j);
}

static void write_counts(struct serving *s, struct msim_json *j)
{
    const char *why = s->uncounted.text;

    if (s->counted != MSIM_OK) {
        msim_json_text(j, "counters_error",
                       *why ? why : msim_status_text(s->counted));
        return;
    }
    msim_json_open(j, "counters", '{', false);
    msim_counts_write(&s->counts, j);
    msim_json_close(j);
}

static void write_sustained(struct serving *s, struct msim_json *j)
{
    const struct msim_sustained *v = &s->sustained;
    const char *why = s->unsettled.text;

    if (s->settled != MSIM_OK) {
        msim_json_text(j, "sustained_error",
                       *why ? why : msim_status_text(s->settled));
        return;
    }
    msim_json_open(j, "sustained", '{', false);
    msim_json_number(j, "seconds", v->seconds);
    msim_json_unsigned(j, "runs", v->runs);
    msim_json_number(j, "time_us", v->us);
    if (v->sm_mhz > 0)
        msim_json_number(j, "sm_mhz", v->sm_mhz);
    if (v->power_w > 0)
        msim_json_number(j, "power_w", v->power_w);
    msim_json_close(j);
}

static void write_row(struct serving *s, struct msim_json *j, bool raw)
{
    const struct msim_sampled *r = &s->sampled;

    msim_json_number(j, "time_us", r->us);
    msim_json_number(j, "low_us", r->low_us);
    msim_json_number(j, "high_us", r->high_us);
    msim_json_number(j, "spread", r->spread);
    msim_json_unsigned(j, "runs", r->n);
    msim_json_unsigned(j, "outliers", r->outliers);
    msim_json_number(j, "seconds", r->seconds);
    if (r->alone_us > 0)
        msim_json_number(j, "alone_us", r->alone_us);
    if (s->b->state) {
        msim_json_open(j, "state", '{', false);
        s->b->state(s->self, j);
        msim_json_close(j);
    }
    if (raw)
        write_samples(j, r);
    if (s->sustain > 0)
        write_sustained(s, j);
    if (s->counting)
        write_counts(s, j);
}

static enum msim_status try_it(struct serving *s, const cJSON *experiment,
                               double *bytes, struct msim_error *why)
{
    return s->dry ? s->b->check(experiment, bytes, why)
                  : sample(s, experiment, why);
}

/* After a failure whose answer is out: is there a device to go on with? */
static enum msim_status go_on(struct serving *s, const struct msim_error *why,
                              struct msim_error *err)
{
    if (s->dry || !s->b->usable || s->b->usable(s->self))
        return MSIM_OK;
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "the device cannot be used any more: %s", why->text);
}

static enum msim_status answer(struct serving *s, const cJSON *experiment,
                               struct msim_error *err)
{
    struct msim_error why = {0};
    double bytes = 0;
    enum msim_status status;
    struct msim_json j;

    s->counting = msim_json_get_true(experiment, "counters");
    s->counted = s->settled = MSIM_OK;
    s->sustain =
        fmin(msim_json_get_number(experiment, "sustained", 0), SUSTAIN_MAX);
    status = try_it(s, experiment, &bytes, &why);
    begin_line(&j, s->out);
    msim_json_number(&j, "id", msim_json_get_number(experiment, "id", 0));
    if (status == MSIM_OK && s->dry) {
        msim_json_bool(&j, "would_run", true);
        msim_json_number(&j, "bytes", bytes);
    } else if (status == MSIM_OK) {
        write_row(s, &j, msim_json_get_true(experiment, "raw"));
    } else {
        msim_json_text(&j, "error",
                       why.text[0] ? why.text : msim_status_text(status));
        msim_json_bool(&j, "unsupported", status == MSIM_ENOMODEL);
    }
    MSIM_TRY(end_line(&j, s->out, err));
    if (status == MSIM_OK && s->counted == MSIM_OK && s->settled == MSIM_OK)
        return MSIM_OK;
    return go_on(s,
                 status != MSIM_OK       ? &why
                 : s->settled != MSIM_OK ? &s->unsettled
                                         : &s->uncounted,
                 err);
}

/* ---- sequences ----------------------------------------------------------- */

static enum msim_status answer_iteration(struct serving *s, double id,
                                         uint32_t number,
                                         const struct msim_sequence *q,
                                         struct msim_error *err)
{
    struct msim_json j;

    begin_line(&j, s->out);
    msim_json_number(&j, "id", id);
    msim_json_unsigned(&j, "iteration", number);
    msim_sequence_write(q, &j);
    return end_line(&j, s->out, err);
}

static enum msim_status answer_done(struct serving *s, double id,
                                    const struct msim_sequence *q,
                                    struct msim_error *err)
{
    const char *refused = msim_host_metrics_refused(q->metrics);
    struct msim_json j;

    begin_line(&j, s->out);
    msim_json_number(&j, "id", id);
    msim_json_bool(&j, "done", true);
    msim_json_unsigned(&j, "iterations", q->iterations);
    if (refused)
        msim_json_text(&j, "counters_error", refused);
    return end_line(&j, s->out, err);
}

static enum msim_status answer_failure(struct serving *s, double id,
                                       const struct msim_sequence *q,
                                       enum msim_status status,
                                       const struct msim_error *why,
                                       struct msim_error *err)
{
    struct msim_json j;

    begin_line(&j, s->out);
    msim_json_number(&j, "id", id);
    msim_json_text(&j, "error",
                   why->text[0] ? why->text : msim_status_text(status));
    msim_json_bool(&j, "unsupported", status == MSIM_ENOMODEL);
    if (q->n_refused)
        msim_sequence_write_refused(q, &j);
    MSIM_TRY(end_line(&j, s->out, err));
    return go_on(s, why, err);
}

/* `*written` fails where nobody reads the answers. */
static enum msim_status run_sequence(struct serving *s, double id,
                                     const cJSON *sequence,
                                     struct msim_sequence *q,
                                     enum msim_status *written,
                                     struct msim_error *why)
{
    *written = MSIM_OK;
    MSIM_TRY(msim_sequence_ready(q, s->b, s->self, sequence, why));
    for (uint32_t i = 0; i < q->iterations; i++) {
        MSIM_TRY(msim_sequence_run(q, why));
        *written = answer_iteration(s, id, i, q, why);
        if (*written != MSIM_OK)
            return *written;
    }
    return MSIM_OK;
}

static enum msim_status answer_sequence(struct serving *s, const cJSON *line,
                                        const cJSON *sequence,
                                        struct msim_error *err)
{
    double id = msim_json_get_number(line, "id", 0);
    struct msim_sequence q = {0};
    struct msim_error why = {0};
    enum msim_status written, status = MSIM_OK;

    if (s->dry)
        return answer_failure(
            s, id, &q, MSIM_ENOMODEL,
            &(struct msim_error){.text = "no dry runs of sequences"}, err);
    status = run_sequence(s, id, sequence, &q, &written, &why);
    if (status == MSIM_OK)
        status = answer_done(s, id, &q, err);
    else if (written == MSIM_OK)
        status = answer_failure(s, id, &q, status, &why, err);
    else if (err)
        *err = why;
    msim_sequence_release(&q);
    return status;
}

static enum msim_status answer_any(struct serving *s, const cJSON *line,
                                   struct msim_error *err)
{
    const cJSON *sequence = cJSON_GetObjectItemCaseSensitive(line, "sequence");

    return sequence ? answer_sequence(s, line, sequence, err)
                    : answer(s, line, err);
}

/* ---- lines --------------------------------------------------------------- */

static enum msim_status answer_line(struct serving *s, const char *line,
                                    uint64_t number, struct msim_error *err)
{
    cJSON *experiment = cJSON_Parse(line);
    enum msim_status status;

    if (cJSON_IsObject(experiment))
        status = answer_any(s, experiment, err);
    else
        status = msim_fail(err, MSIM_ESYNTAX, NULL, MSIM_OFFSET_NONE,
                           "line %llu is no JSON object, want an experiment",
                           (unsigned long long)number);
    cJSON_Delete(experiment);
    return status;
}

static enum msim_status serve_lines(struct serving *s, FILE *in,
                                    struct msim_error *err)
{
    enum msim_status status = greet(s, err);
    uint64_t number = 0;
    char *line = NULL;
    size_t size = 0;

    while (status == MSIM_OK && getline(&line, &size, in) >= 0) {
        number++;
        if (strspn(line, " \t\r\n") < strlen(line))
            status = answer_line(s, line, number, err);
    }
    free(line);
    return status;
}

static struct serving *serving_new(const struct msim_backend *b, FILE *out,
                                   bool dry)
{
    struct serving *s = calloc(1, sizeof(*s));

    if (s) {
        s->b = b;
        s->out = out;
        s->dry = dry;
    }
    return s;
}

enum msim_status msim_serve(const struct msim_backend *b, FILE *in, FILE *out,
                            struct msim_error *err)
{
    struct serving *s = serving_new(b, out, false);
    enum msim_status status;

    if (!s)
        return MSIM_ENOMEM;
    status = b->open(&s->self, err);
    if (status == MSIM_OK) {
        status = serve_lines(s, in, err);
        b->close(s->self);
    }
    free(s);
    return status;
}

enum msim_status msim_serve_dry(const struct msim_backend *b, FILE *in,
                                FILE *out, struct msim_error *err)
{
    struct serving *s;
    enum msim_status status;

    if (!b->check)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no dry runs of '%s'", b->name);
    s = serving_new(b, out, true);
    if (!s)
        return MSIM_ENOMEM;
    status = serve_lines(s, in, err);
    free(s);
    return status;
}

static int exit_code(enum msim_status status)
{
    switch (status) {
    case MSIM_OK:
        return 0;
    case MSIM_EUSAGE:
        return 2;
    case MSIM_ENOMEM:
    case MSIM_EINTERNAL:
        return MSIM_SERVE_UNUSABLE;
    default:
        return 3;
    }
}

int msim_serve_main(const struct msim_backend *b, int argc, char **argv)
{
    struct msim_error err = {0};
    enum msim_status status;
    bool dry = argc == 2 && strcmp(argv[1], "--dry-run") == 0;

    if (argc > 1 && !dry) {
        msim_print(stderr,
                   "%s: unknown argument '%s', want none or --dry-run; reads "
                   "experiments from standard input, one JSON object a line\n",
                   argv[0], argv[argc - 1]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of ours */
    /* whoever asks may be killed while a call of the device hangs: what goes on
     * then would hold the device, and disturb what is timed next */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = dry ? msim_serve_dry(b, stdin, stdout, &err)
                 : msim_serve(b, stdin, stdout, &err);
    if (status != MSIM_OK)
        msim_print(stderr, "%s: %s\n", argv[0],
                   err.text[0] ? err.text : msim_status_text(status));
    return exit_code(status);
}
