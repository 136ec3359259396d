/*
 * serving/explore/explore.c - what to ask, and what becomes of the answers.
 *
 * Services are measured with one replica: latency minus wait is the service
 * whatever the load, so a high load gives the most visits for a
 * replica-second. Where waits are not told, the load is low and the latency
 * counts as the service.
 */
#include "serving/explore/explore.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/quantile.h"
#include "serving/draw/random.h"
#include "serving/explore/explore_internal.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE_RATE  40.0 /* visits a second, at most */
#define PROBE_S     1.0  /* and five times as long until there are enough */
#define PROBE_MOST  26.0
#define PROBE_ROWS  12
#define LEAST_ROWS  5
#define VISITS_MOST 12000 /* of a stage: 120 beyond the 99th percentile */
#define MEAN_S      38.0  /* replica-seconds of a stage, on the average */
#define LONGEST_S   130.0 /* of one stage, after the probe */
#define SHORTEST_S  0.5
#define LOAD        0.8 /* of the one replica; 0.25 where waits are unknown */
#define QUIET_LOAD  0.25
#define BATCH_RUNS  3
#define SIZES_MOST  4096 /* kept, at even quantiles */

/* Of a stage with batches: visits a service's time, at least `load`, and
 * `of_most` of the largest batch: the last is more than a replica bears, so
 * that batches are full. `share` of the services' time each. */
static const struct {
    double load, of_most, share;
} BATCH[BATCH_RUNS] = {{0.5, 0, 0.3}, {1, 0.25, 0.3}, {1.5, 0.7, 0.9}};
#define BATCH_SHARE 1.5 /* their sum */

/* What is known of a stage so far. */
struct known {
    struct msim_vec rows; /* owned */
    double service_ms;    /* by the probe */
    bool asked;
};

struct explorer {
    struct msim_app *app;
    const struct msim_explore_how *how;
    struct msim_explorer command;
    struct msim_stage_demand load; /* visits */
    const char **classes;
    struct msim_vec sizes; /* double: of requests that were seen */
    struct msim_explored *done;
    struct msim_error *err;
    struct known *known;  /* by stage; owned */
    uint32_t stage;       /* that is asked for now */
    struct msim_vec rows; /* of that stage */
};

/* ---- one question -------------------------------------------------------- */

/* "S,c,r.csv" in the folder; what no name of a file should hold is %XX. */
static bool table_path(const struct explorer *x, char *path, size_t size,
                       double rate)
{
    const char *s = x->app->stages[x->stage].name;
    char number[32];
    size_t at = (size_t)snprintf(path, size, "%s/", x->how->tables);

    for (; *s && at + 4 < size; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || strchr("-_.", *s);

        at += (size_t)snprintf(path + at, size - at, plain ? "%c" : "%%%02X",
                               (unsigned char)*s);
    }
    msim_number_text(number, rate);
    return at < size && (size_t)snprintf(path + at, size - at, ",1,%s.csv",
                                         number) < size - at;
}

/* Far more visits than a load of Poisson arrivals has. */
static double most_rows(double rate, double seconds)
{
    return 3 * rate * seconds + 1000;
}

static enum msim_status read_answer(struct explorer *x, const char *path,
                                    double rate, double seconds)
{
    uint32_t before = x->rows.n;
    struct msim_visit_limits limits = {
        .classes = x->classes,
        .n_classes = x->app->n_classes,
        .seconds = seconds,
        .most_rows = seconds > 0 ? most_rows(rate, seconds) : 0,
        .run = before
                   ? ((struct msim_visit_row *)x->rows.data)[before - 1].run + 1
                   : 0,
    };

    return msim_visit_rows_read(&x->rows, path, &limits, x->err);
}

/* The file that an answer is read from is gone when its error is read: the
 * error names the command and the stage. */
static void name_answer(const struct explorer *x, const char *path)
{
    char *file = x->err ? x->err->file : NULL;

    if (file && *file && !strncmp(file, path, strlen(file)))
        snprintf(file, sizeof(x->err->file), "answer of '%s --stage %s'",
                 x->how->command, x->app->stages[x->stage].name);
}

/* An explorer may draw from the seed what each visit takes: with one seed for
 * all stages, all would have the same luck, and long visits be rare, or many,
 * in all of them at once. */
static uint64_t seed_of(const struct explorer *x)
{
    struct msim_random r = msim_random_of(x->how->seed, x->stage, x->rows.n);

    return msim_random_bits(&r) >> 33; /* fits an int */
}

/* Run the command, its answer going to `path`. */
static enum msim_status ask(struct explorer *x, const char *path, double rate,
                            double seconds)
{
    const struct msim_explore_question q = {
        .stage = x->app->stages[x->stage].name,
        .replicas = 1,
        .rate = rate,
        .seconds = seconds,
        .seed = seed_of(x),
        .most_rows = most_rows(rate, seconds)};
    enum msim_status status;

    x->done->runs++;
    x->done->replica_seconds += seconds;
    MSIM_TRY(msim_explorer_ask(&x->command, &q, path, x->err));
    status = read_answer(x, path, rate, seconds);
    if (status != MSIM_OK)
        name_answer(x, path);
    return status;
}

static enum msim_status ask_and_keep(struct explorer *x, const char *path,
                                     double rate, double seconds)
{
    struct msim_file *f;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&f, path, NULL, x->err));
    status = ask(x, msim_file_draft(f), rate, seconds);
    return msim_file_close(f, status, x->err);
}

static enum msim_status ask_and_forget(struct explorer *x, double rate,
                                       double seconds)
{
    const char *tmp = getenv("TMPDIR");
    char path[4096];
    enum msim_status status;
    int fd;

    snprintf(path, sizeof(path), "%s/mystique-sim-explore-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    fd = mkstemp(path);
    if (fd < 0)
        return msim_fail(x->err, MSIM_EWRITE, path, MSIM_OFFSET_NONE,
                         "cannot make a temporary file");
    close(fd);
    status = ask(x, path, rate, seconds);
    unlink(path);
    return status;
}

/* Three digits: a number that a person would type. */
static double rounded(double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.3g", v);
    return strtod(text, NULL);
}

static enum msim_status question(struct explorer *x, double rate,
                                 double seconds)
{
    char path[4096];

    rate = rounded(rate);
    seconds = rounded(seconds);
    if (!x->how->tables)
        return ask_and_forget(x, rate, seconds);
    if (!table_path(x, path, sizeof(path), rate))
        return msim_fail(x->err, MSIM_EUSAGE, x->how->tables, MSIM_OFFSET_NONE,
                         "the name is too long");
    if (access(path, F_OK) == 0)
        return read_answer(x, path, rate, 0);
    return ask_and_keep(x, path, rate, seconds);
}

/* ---- a stage ------------------------------------------------------------- */

static const struct msim_visit_row *rows_of(const struct explorer *x)
{
    return x->rows.data;
}

/* Do all rows tell how long they waited? */
static bool has_waits(const struct explorer *x)
{
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (isnan(rows_of(x)[i].wait_ms))
            return false;
    return true;
}

/* Mean service, from what there is; where waits are unknown a replica that was
 * busy all the time bounds it, too. */
static double mean_service(const struct explorer *x, double seconds)
{
    double sum = 0, most;

    for (uint32_t i = 0; i < x->rows.n; i++) {
        double wait = rows_of(x)[i].wait_ms;

        sum += rows_of(x)[i].latency_ms - (isnan(wait) ? 0 : wait);
    }
    sum = fmax(sum / x->rows.n, 1e-6);
    most = 1e3 * seconds * (double)x->app->stages[x->stage].workers / x->rows.n;
    return has_waits(x) ? sum : fmin(sum, most);
}

static enum msim_status too_few(const struct explorer *x)
{
    return msim_fail(x->err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                     "the explorer answered %" PRIu32
                     " visits of stage '%s', want %d and more: too few to "
                     "learn from",
                     x->rows.n, x->app->stages[x->stage].name, LEAST_ROWS);
}

static enum msim_status probe(struct explorer *x, double *service_ms)
{
    double rate =
        fmin(PROBE_RATE, x->load.rate * x->load.stages[x->stage].visits);
    double s = PROBE_S;

    for (;; s *= 5) {
        x->rows.n = 0;
        MSIM_TRY(question(x, rate, s));
        if (x->rows.n >= PROBE_ROWS || s * 5 > PROBE_MOST)
            break;
    }
    if (x->rows.n < LEAST_ROWS)
        return too_few(x);
    *service_ms = mean_service(x, s);
    return MSIM_OK;
}

/* Seconds of a stage for `visits` services one after the other. */
static double seconds_for(const struct explorer *x, uint32_t s, double visits)
{
    const struct msim_stage *st = &x->app->stages[s];
    double load = st->batching.on ? 1 / BATCH_SHARE : LOAD;
    double ms = visits * x->known[s].service_ms / (double)st->workers;

    return fmax(SHORTEST_S, fmin(LONGEST_S, ms / 1e3 / load));
}

/* As many services of each stage as the mean time allows: quick stages leave
 * theirs to the slow ones. */
static double visits_for_all(const struct explorer *x)
{
    double low = 100, high = VISITS_MOST;

    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2, sum = 0;
        uint32_t n = 0;

        for (uint32_t s = 0; s < x->app->n_stages; s++)
            if (x->known[s].asked) {
                sum += seconds_for(x, s, middle);
                n++;
            }
        if (sum > MEAN_S * n)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static enum msim_status ask_at(struct explorer *x, double load, double seconds)
{
    double workers = (double)x->app->stages[x->stage].workers;
    double rate = load * workers * 1e3 / x->known[x->stage].service_ms;

    return question(x, rate, fmax(SHORTEST_S, seconds));
}

/* All files of the folder that are of the stage. */
static enum msim_status read_tables(struct explorer *x)
{
    char path[4096], name[4096];
    struct dirent **entries;
    enum msim_status status = MSIM_OK;
    size_t length;
    int n = scandir(x->how->tables, &entries, NULL, alphasort);

    if (n < 0)
        return msim_fail(x->err, MSIM_EIO, x->how->tables, MSIM_OFFSET_NONE,
                         "cannot read the folder of tables");
    if (!table_path(x, name, sizeof(name), 1))
        name[0] = '\0';
    length = strlen(name) - strlen("1,1.csv");
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", x->how->tables,
                 entries[i]->d_name);
        if (status == MSIM_OK && strlen(path) > length + 4 &&
            !strncmp(path, name, length) &&
            !strcmp(path + strlen(path) - 4, ".csv"))
            status = read_answer(x, path, 0, 0);
        free(entries[i]);
    }
    free(entries);
    return status == MSIM_OK && x->rows.n < LEAST_ROWS ? too_few(x) : status;
}

/* Rows of the stage, for so many visits. */
static enum msim_status ask_stage(struct explorer *x, double visits)
{
    const struct msim_dyn_batching *b = &x->app->stages[x->stage].batching;
    double seconds = seconds_for(x, x->stage, visits);

    if (!has_waits(x)) {
        x->rows.n = 0; /* the probe may have queued */
        return ask_at(x, QUIET_LOAD, seconds);
    }
    if (!b->on)
        return ask_at(x, LOAD, seconds);
    for (int i = 0; i < BATCH_RUNS; i++)
        MSIM_TRY(ask_at(
            x, fmax(BATCH[i].load, BATCH[i].of_most * (double)b->max_batch),
            seconds * BATCH[i].share / BATCH_SHARE));
    return MSIM_OK;
}

/* ---- what was learnt ----------------------------------------------------- */

static double *copy(struct msim_app *app, const double *from, uint32_t n)
{
    double *to = msim_arena_alloc(&app->arena, (n + 1) * sizeof(*to));

    if (to)
        memcpy(to, from, n * sizeof(*to));
    return to;
}

static enum msim_status put_law(struct msim_app *app, struct msim_stage *st,
                                const struct msim_service_fit *fit)
{
    struct msim_law_point *law;

    if (!st->batching.on || st->batching.n_law || !fit->batches)
        return MSIM_OK;
    law = msim_arena_alloc(&app->arena, fit->most * sizeof(*law));
    if (!law)
        return MSIM_ENOMEM;
    for (uint32_t n = 0; n < fit->most; n++)
        law[n] = (struct msim_law_point){.batch = n + 1, .factor = fit->law[n]};
    st->batching.law = law;
    st->batching.n_law = fit->most;
    return MSIM_OK;
}

static enum msim_status put_fit(struct explorer *x,
                                const struct msim_service_fit *fit)
{
    struct msim_stage *st = &x->app->stages[x->stage];
    double *base = copy(x->app, fit->base, fit->n_base);
    double *factor = copy(x->app, fit->factor, x->app->n_classes);

    if (!base || !factor)
        return MSIM_ENOMEM;
    st->service = msim_dist_samples(base, fit->n_base);
    st->class_factor = factor;
    st->size_power = fit->power;
    x->done->stages++;
    x->done->no_waits |= !fit->waits;
    x->done->no_sizes |= !fit->sizes;
    x->done->no_batches |= st->batching.on && !(fit->batches && fit->waits);
    return put_law(x->app, st, fit);
}

static enum msim_status keep_sizes(struct explorer *x)
{
    for (uint32_t i = 0; i < x->rows.n; i++) {
        double *to;

        if (isnan(rows_of(x)[i].size))
            continue;
        to = msim_vec_add(&x->sizes, sizeof(*to));
        if (!to)
            return MSIM_ENOMEM;
        *to = rows_of(x)[i].size;
    }
    return MSIM_OK;
}

static enum msim_status learn_stage(struct explorer *x)
{
    const struct msim_stage *st = &x->app->stages[x->stage];
    uint32_t most = st->batching.on ? (uint32_t)st->batching.max_batch : 1;
    struct msim_service_fit fit = {0};
    enum msim_status status = msim_service_fit_make(
        &fit, x->rows.data, x->rows.n, x->app->n_classes, most);

    if (status == MSIM_ELIMIT)
        msim_fail(x->err, status, NULL, MSIM_OFFSET_NONE,
                  "what the explorer answered of stage '%s' does not fit its "
                  "batches of at most %" PRIu32,
                  st->name, most);
    if (status == MSIM_OK)
        status = put_fit(x, &fit);
    if (status == MSIM_OK)
        status = keep_sizes(x);
    msim_service_fit_release(&fit);
    return status;
}

/* Sizes are the requests', whatever the stage. */
static enum msim_status put_sizes(struct explorer *x)
{
    uint32_t n = x->sizes.n < SIZES_MOST ? x->sizes.n : SIZES_MOST;
    struct msim_app_class *classes;
    double *all = x->sizes.data, *sizes;

    if (!n || x->app->classes[0].size.kind != MSIM_DIST_NONE)
        return MSIM_OK;
    sizes = msim_arena_alloc(&x->app->arena, n * sizeof(*sizes));
    classes =
        msim_arena_alloc(&x->app->arena, x->app->n_classes * sizeof(*classes));
    if (!sizes || !classes)
        return MSIM_ENOMEM;
    msim_sort_values(all, x->sizes.n);
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = all[(uint32_t)((i + 0.5) * x->sizes.n / n)];
    memcpy(classes, x->app->classes, x->app->n_classes * sizeof(*classes));
    for (uint32_t k = 0; k < x->app->n_classes; k++)
        classes[k].size = msim_dist_samples(sizes, n);
    x->app->classes = classes;
    return MSIM_OK;
}

/* Let `step` be done for each stage that is to be learnt. */
static enum msim_status for_all(struct explorer *x,
                                enum msim_status (*step)(struct explorer *x,
                                                         double visits),
                                double visits)
{
    enum msim_status status = MSIM_OK;

    for (uint32_t s = 0; s < x->app->n_stages && status == MSIM_OK; s++) {
        if (x->app->stages[s].service.kind != MSIM_DIST_NONE ||
            !(x->load.stages[s].visits > 0))
            continue;
        x->stage = s;
        x->rows = x->known[s].rows;
        if (x->how->before)
            x->how->before(x->how->ctx, s, x->app->n_stages);
        status = step(x, visits);
        x->known[s].rows = x->rows;
    }
    return status;
}

/* No service takes no time: such a table has lost its unit or its digits. */
static enum msim_status check_times(const struct explorer *x)
{
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (rows_of(x)[i].latency_ms > 0)
            return MSIM_OK;
    return msim_fail(x->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "latency_ms of all %" PRIu32 " visits of stage '%s' is 0 "
                     "in %s, want the time that they took",
                     x->rows.n, x->app->stages[x->stage].name,
                     x->how->command ? x->how->command : x->how->tables);
}

static enum msim_status probe_stage(struct explorer *x, double visits)
{
    (void)visits;
    if (x->how->command) {
        x->known[x->stage].asked = true;
        MSIM_TRY(probe(x, &x->known[x->stage].service_ms));
    } else {
        MSIM_TRY(read_tables(x));
    }
    return check_times(x);
}

static enum msim_status fit_stage(struct explorer *x, double visits)
{
    (void)visits;
    return learn_stage(x);
}

static enum msim_status name_classes(struct explorer *x)
{
    x->classes = msim_arena_alloc(&x->app->arena,
                                  x->app->n_classes * sizeof(*x->classes));
    if (!x->classes)
        return MSIM_ENOMEM;
    for (uint32_t k = 0; k < x->app->n_classes; k++)
        x->classes[k] = x->app->classes[k].name;
    return MSIM_OK;
}

static enum msim_status learn(struct explorer *x, double rate)
{
    MSIM_TRY(msim_demand_visits(&x->load, x->app, rate));
    x->known = calloc(x->app->n_stages, sizeof(*x->known));
    if (!x->known)
        return MSIM_ENOMEM;
    MSIM_TRY(name_classes(x));
    if (x->how->command && x->how->tables)
        MSIM_TRY(msim_folder_make(x->how->tables, x->err));
    if (x->how->command)
        MSIM_TRY(msim_explorer_init(&x->command, x->how->command,
                                    x->how->patience, x->err));
    MSIM_TRY(for_all(x, probe_stage, 0));
    if (x->how->command)
        MSIM_TRY(for_all(x, ask_stage, visits_for_all(x)));
    MSIM_TRY(for_all(x, fit_stage, 0));
    return put_sizes(x);
}

enum msim_status msim_explore_app(struct msim_app *app, double rate,
                                  const struct msim_explore_how *how,
                                  struct msim_explored *done,
                                  struct msim_error *err)
{
    struct explorer x = {.app = app, .how = how, .done = done, .err = err};
    enum msim_status status = learn(&x, rate);

    for (uint32_t s = 0; x.known && s < app->n_stages; s++)
        free(x.known[s].rows.data);
    free(x.known);
    msim_explorer_release(&x.command);
    msim_demand_release(&x.load);
    free(x.sizes.data);
    return status;
}
