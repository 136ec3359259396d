/* serving/counters/metrics_read.c - rounds of scrapes, compared. */
#include "serving/counters/counters_read.h"

#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/base/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAUGES       MSIM_ENGINE_METRIC_LATENCY /* histograms begin there */
#define HISTOGRAMS   (MSIM_ENGINE_METRICS - GAUGES)
#define BUCKETS_MOST 64
#define NAME_MOST    128
#define P99          0.99

static const char *const WORDS[MSIM_ENGINE_METRICS] = {
#define X(name, word) [MSIM_ENGINE_METRIC_##name] = (word),
    MSIM_ENGINE_METRIC_MAP(X)
#undef X
};

struct name {
    char text[NAME_MOST];
    enum msim_engine_metric what;
};

/* Seconds, as Prometheus counts them: of all that were no longer than `le`. */
struct histogram {
    double le[BUCKETS_MOST], n[BUCKETS_MOST];
    double sum, count;
    uint32_t buckets;
};

/* What one server says. */
struct scrape {
    double gauge[GAUGES];
    uint32_t gauges[GAUGES]; /* series of each */
    struct histogram of[HISTOGRAMS];
    bool any;
};

struct server {
    struct scrape now, before;
    bool known; /* `before` is there */
};

struct round_stage {
    struct msim_vec servers; /* struct server */
    uint32_t asked;          /* in this round */
};

struct msim_metrics {
    struct msim_metrics_how how;
    double *seats;         /* owned */
    struct msim_vec names; /* struct name */
    struct round_stage *stages;
    struct msim_vec rows; /* struct msim_counters_row */
    uint32_t taken;
    double t;
    bool open;             /* a round is */
    struct server *server; /* that is being read; NULL: none */
};

/* ---- the table ----------------------------------------------------------- */

static enum msim_status add_name(struct msim_metrics *m,
                                 const struct msim_csv *c, const char *what,
                                 const char *metric, struct msim_error *err)
{
    struct name *name = msim_vec_add(&m->names, sizeof(*name));

    if (!name)
        return MSIM_ENOMEM;
    snprintf(name->text, sizeof(name->text), "%s", metric);
    for (uint32_t i = 0; i < MSIM_ENGINE_METRICS; i++)
        if (strcmp(what, WORDS[i]) == 0) {
            name->what = (enum msim_engine_metric)i;
            return MSIM_OK;
        }
    return msim_fail(err, MSIM_EFORMAT, m->how.table, MSIM_OFFSET_NONE,
                     "line %llu: what is '%s', want running, waiting, kv_used, "
                     "latency, queued, served, first_token or token",
                     (unsigned long long)msim_csv_line(c), what);
}

static enum msim_status read_rows(struct msim_metrics *m, struct msim_csv *c,
                                  struct msim_error *err)
{
    uint32_t what = msim_csv_find(c, "what"),
             metric = msim_csv_find(c, "metric");

    if (what == UINT32_MAX || metric == UINT32_MAX)
        return msim_fail(err, MSIM_EFORMAT, m->how.table, MSIM_OFFSET_NONE,
                         "want columns what, metric");
    for (;;) {
        char *const *fields;

        MSIM_TRY(msim_csv_next(c, &fields, err));
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(add_name(m, c, fields[what], fields[metric], err));
    }
}

static enum msim_status read_table(struct msim_metrics *m,
                                   struct msim_error *err)
{
    struct msim_csv *c;
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&c, m->how.table, err));
    status = read_rows(m, c, err);
    msim_csv_close(c);
    return status;
}

/* ---- one metric ---------------------------------------------------------- */

/* What follows `text` in `name`, or NULL where it does not begin so. */
static const char *after(const char *name, const char *text)
{
    size_t n = strlen(text);

    return strncmp(name, text, n) == 0 ? name + n : NULL;
}

/* The end of labels that begin behind `at`; NULL: they do not end. */
static char *end_of_labels(char *at)
{
    bool quoted = false;

    for (; *at; at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (*at == '}' && !quoted)
            return at;
    }
    return NULL;
}

/* The label `le`; NAN where there is none. */
static double bound_of(const char *labels)
{
    const char *at = strstr(labels, "le=\"");

    while (at && at != labels && at[-1] != ',' && at[-1] != ' ')
        at = strstr(at + 1, "le=\"");
    return at ? strtod(at + 4, NULL) : NAN;
}

static void add_bucket(struct histogram *h, double le, double value)
{
    uint32_t i = 0;

    if (isnan(le))
        return;
    while (i < h->buckets && h->le[i] < le)
        i++;
    if (i < h->buckets && h->le[i] == le) {
        h->n[i] += value;
        return;
    }
    if (h->buckets == BUCKETS_MOST)
        return;
    memmove(&h->le[i + 1], &h->le[i], (h->buckets - i) * sizeof(h->le[0]));
    memmove(&h->n[i + 1], &h->n[i], (h->buckets - i) * sizeof(h->n[0]));
    h->le[i] = le;
    h->n[i] = value;
    h->buckets++;
}

/* Series of one metric (models, engines of a server) are summed up. */
static void add_value(struct scrape *s, enum msim_engine_metric what,
                      const char *suffix, const char *labels, double value)
{
    struct histogram *h;

    if ((uint32_t)what < GAUGES) {
        if (*suffix)
            return;
        s->gauge[what] += value;
        s->gauges[what]++;
        s->any = true;
        return;
    }
    h = &s->of[what - GAUGES];
    s->any = true;
    if (strcmp(suffix, "_sum") == 0)
        h->sum += value;
    else if (strcmp(suffix, "_count") == 0)
        h->count += value;
    else if (strcmp(suffix, "_bucket") == 0)
        add_bucket(h, bound_of(labels), value);
}

/* name{labels} value [time] */
static const char *take_metric(struct msim_metrics *m, char *line)
{
    char *name = line, *at = line + strcspn(line, "{ \t"), *end;
    const char *labels = "";
    double value;

    if (*at == '{') {
        *at = '\0';
        labels = at + 1;
        at = end_of_labels(at + 1);
        if (!at)
            return "labels do not end";
    }
    if (!*at)
        return "no value";
    *at++ = '\0';
    value = strtod(at, &end);
    if (end == at)
        return "no value";
    if (!m->server)
        return "metrics before a line '# at SECONDS'";
    for (uint32_t i = 0; i < m->names.n; i++) {
        const struct name *of = (const struct name *)m->names.data + i;
        const char *suffix = after(name, of->text);

        if (suffix && (!*suffix || *suffix == '_') && value >= 0)
            add_value(&m->server->now, of->what, suffix, labels, value);
    }
    return NULL;
}

/* ---- a server since the last round --------------------------------------- */

/* A counter that went back began anew. */
static double grown(double now, double before)
{
    return now >= before ? now - before : now;
}

static double before_at(const struct histogram *h, double le)
{
    for (uint32_t i = 0; i < h->buckets; i++)
        if (h->le[i] == le)
            return h->n[i];
    return 0;
}

static void add_growth(struct histogram *sum, const struct histogram *now,
                       const struct histogram *before)
{
    bool anew = now->count < before->count;

    sum->sum += anew ? now->sum : grown(now->sum, before->sum);
    sum->count += anew ? now->count : now->count - before->count;
    for (uint32_t i = 0; i < now->buckets; i++)
        add_bucket(sum, now->le[i],
                   anew ? now->n[i]
                        : fmax(0, now->n[i] - before_at(before, now->le[i])));
}

static double mean_ms(const struct histogram *h)
{
    return h->count > 0 ? 1e3 * h->sum / h->count : NAN;
}

/* The last bucket has no end: then it is where it begins. */
static double quantile_ms(const struct histogram *h, double p)
{
    double all = h->buckets ? h->n[h->buckets - 1] : 0, from = 0, below = 0;

    if (!(all > 0))
        return NAN;
    for (uint32_t i = 0; i < h->buckets; i++) {
        if (h->n[i] >= p * all && h->n[i] > below)
            return isinf(h->le[i])
                       ? 1e3 * from
                       : 1e3 * (from + (h->le[i] - from) * (p * all - below) /
                                           (h->n[i] - below));
        from = h->le[i];
        below = h->n[i];
    }
    return 1e3 * from;
}

/* ---- a round ------------------------------------------------------------- */

/* Of all servers of a stage. */
struct sums {
    struct histogram of[HISTOGRAMS];
    double gauge[GAUGES], more; /* more: in flight than before */
    uint32_t servers, kv_of;
    bool known; /* one was there in the round before */
};

static double in_flight(const struct scrape *s)
{
    return s->gauge[MSIM_ENGINE_METRIC_RUNNING] +
           s->gauge[MSIM_ENGINE_METRIC_WAITING];
}

static void add_server(struct sums *sum, const struct server *s)
{
    sum->servers++;
    for (uint32_t g = 0; g < GAUGES; g++)
        sum->gauge[g] += s->now.gauge[g];
    sum->kv_of += s->now.gauges[MSIM_ENGINE_METRIC_KV_USED];
    if (!s->known)
        return;
    sum->known = true;
    sum->more += in_flight(&s->now) - in_flight(&s->before);
    for (uint32_t h = 0; h < HISTOGRAMS; h++)
        add_growth(&sum->of[h], &s->now.of[h], &s->before.of[h]);
}

static const struct histogram *of(const struct sums *s,
                                  enum msim_engine_metric what)
{
    return &s->of[(uint32_t)what - GAUGES];
}

/* The share of a replica that is held: its seats, or its KV cache. */
static double busy_of(const struct sums *s, double seats)
{
    double kv =
        s->kv_of ? s->gauge[MSIM_ENGINE_METRIC_KV_USED] / s->kv_of : NAN;
    double held =
        seats > 0 ? s->gauge[MSIM_ENGINE_METRIC_RUNNING] / (seats * s->servers)
                  : NAN;

    return fmin(1, fmax(kv, held)); /* fmax() passes over NAN */
}

static struct msim_counters_row stage_row(const struct msim_metrics *m,
                                          uint32_t stage, const struct sums *s)
{
    struct msim_counters_row row = {.t = m->t, .stage = stage};
    const struct histogram *all = of(s, MSIM_ENGINE_METRIC_LATENCY);
    double wait = mean_ms(of(s, MSIM_ENGINE_METRIC_QUEUED));
    double self = mean_ms(of(s, MSIM_ENGINE_METRIC_SERVED));

    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        row.v[i] = NAN;
    if (isnan(self) && !isnan(wait))
        self = fmax(0, mean_ms(all) - wait);
    row.v[MSIM_COUNTER_ARRIVALS] = fmax(0, all->count + s->more);
    row.v[MSIM_COUNTER_QUEUE] = s->gauge[MSIM_ENGINE_METRIC_WAITING];
    row.v[MSIM_COUNTER_BUSY] = busy_of(s, m->seats[stage]);
    row.v[MSIM_COUNTER_REPLICAS] = s->servers;
    row.v[MSIM_COUNTER_MEAN_MS] = mean_ms(all);
    row.v[MSIM_COUNTER_P99_MS] = quantile_ms(all, P99);
    row.v[MSIM_COUNTER_SELF_MS] = self;
    row.v[MSIM_COUNTER_WAIT_MS] = wait;
    return row;
}

static struct msim_counters_row e2e_row(const struct msim_metrics *m,
                                        const struct sums *s)
{
    struct msim_counters_row row = {.t = m->t, .stage = m->how.n_stages};
    const struct histogram *promised = of(s, m->how.promised);

    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        row.v[i] = NAN;
    row.v[MSIM_COUNTER_ARRIVALS] =
        fmax(0, of(s, MSIM_ENGINE_METRIC_LATENCY)->count + s->more);
    row.v[MSIM_COUNTER_QUEUE] = s->gauge[MSIM_ENGINE_METRIC_RUNNING] +
                                s->gauge[MSIM_ENGINE_METRIC_WAITING];
    row.v[MSIM_COUNTER_MEAN_MS] = mean_ms(promised);
    row.v[MSIM_COUNTER_P99_MS] = quantile_ms(promised, P99);
    return row;
}

static enum msim_status add_row(struct msim_metrics *m,
                                struct msim_counters_row row)
{
    struct msim_counters_row *to = msim_vec_add(&m->rows, sizeof(*to));

    if (!to)
        return MSIM_ENOMEM;
    *to = row;
    return MSIM_OK;
}

/* What all servers of a stage say, which becomes what was before. */
static void sum_up(struct round_stage *st, struct sums *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (uint32_t i = 0; i < st->asked; i++) {
        struct server *s = (struct server *)st->servers.data + i;

        if (!s->now.any)
            continue;
        add_server(sum, s);
        s->before = s->now;
        s->known = true;
    }
    st->asked = 0;
}

static enum msim_status end_round(struct msim_metrics *m)
{
    struct msim_counters_row e2e = {0};
    struct sums *sum = malloc(sizeof(*sum));
    uint32_t told = 0;
    bool first = false;
    enum msim_status status = sum ? MSIM_OK : MSIM_ENOMEM;

    m->open = false;
    m->server = NULL;
    for (uint32_t s = 0; s < m->how.n_stages && status == MSIM_OK; s++) {
        sum_up(&m->stages[s], sum);
        if (!sum->known)
            continue;
        status = add_row(m, stage_row(m, s, sum));
        if (s == m->how.start || told == 0)
            e2e = e2e_row(m, sum);
        first |= s == m->how.start;
        told++;
    }
    free(sum);
    if (status == MSIM_OK && (first || told == 1))
        status = add_row(m, e2e);
    return status;
}

/* ---- lines --------------------------------------------------------------- */

bool msim_metrics_begin(const char *line)
{
    return strncmp(line, "# at ", 5) == 0;
}

static enum msim_status find_stage(struct msim_metrics *m, const char *name,
                                   uint32_t *stage, struct msim_error *err)
{
    const char *near;

    *stage = m->how.engine;
    if (!*name && *stage < m->how.n_stages)
        return MSIM_OK;
    if (!*name)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "no stage, and the application has not just one that "
                         "an engine serves: want '# at SECONDS STAGE'");
    for (*stage = 0; *stage < m->how.n_stages; ++*stage)
        if (strcmp(name, m->how.stages[*stage]) == 0)
            return MSIM_OK;
    near = msim_nearest_word(name, m->how.stages, m->how.n_stages);
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "the application has no stage '%s'%s%s%s", name,
                     near ? ", is it '" : "", near ? near : "",
                     near ? "'?" : "");
}

/* A server's scrape begins. */
static enum msim_status begin_scrape(struct msim_metrics *m, double t,
                                     const char *stage, struct msim_error *err)
{
    struct round_stage *st;
    uint32_t s;

    MSIM_TRY(find_stage(m, stage, &s, err));
    m->t = t;
    m->open = true;
    st = &m->stages[s];
    if (st->asked == st->servers.n) {
        struct server *more = msim_vec_add(&st->servers, sizeof(*more));

        if (!more)
            return MSIM_ENOMEM;
        memset(more, 0, sizeof(*more));
    }
    m->server = (struct server *)st->servers.data + st->asked++;
    memset(&m->server->now, 0, sizeof(m->server->now));
    return MSIM_OK;
}

static enum msim_status take_at(struct msim_metrics *m, char *text,
                                const char **reason, struct msim_error *err)
{
    char *end;
    double t = strtod(text, &end);

    if (end == text || !(t >= 0 && t <= 1e12) || (*end && *end != ' ')) {
        *reason = "'# at' without a time";
        return MSIM_OK;
    }
    if (t < m->t)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "t goes back from %.3f to %.3f s", m->t, t);
    if (m->open && t > m->t)
        MSIM_TRY(end_round(m));
    end += strspn(end, " ");
    return begin_scrape(m, t, end, err);
}

enum msim_status msim_metrics_line(struct msim_metrics *m, char *line,
                                   const char **reason, struct msim_error *err)
{
    *reason = NULL;
    if (m->taken == m->rows.n)
        m->taken = m->rows.n = 0;
    if (!line || strcmp(line, "# end") == 0)
        return m->open ? end_round(m) : MSIM_OK;
    if (msim_metrics_begin(line))
        return take_at(m, line + strlen("# at "), reason, err);
    if (*line && *line != '#')
        *reason = take_metric(m, line);
    return MSIM_OK;
}

bool msim_metrics_take(struct msim_metrics *m, struct msim_counters_row *row)
{
    if (m->taken == m->rows.n)
        return false;
    *row = ((const struct msim_counters_row *)m->rows.data)[m->taken++];
    return true;
}

/* ---- life ---------------------------------------------------------------- */

enum msim_status msim_metrics_new(struct msim_metrics **out,
                                  const struct msim_metrics_how *how,
                                  struct msim_error *err)
{
    struct msim_metrics *m = calloc(1, sizeof(*m));
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    if (!m)
        return status;
    m->how = *how;
    m->seats = malloc((how->n_stages + 1) * sizeof(*m->seats));
    m->stages = calloc(how->n_stages + 1u, sizeof(*m->stages));
    if (m->seats && m->stages) {
        memcpy(m->seats, how->seats, how->n_stages * sizeof(*m->seats));
        status = read_table(m, err);
    }
    if (status != MSIM_OK) {
        msim_metrics_free(m);
        return status;
    }
    *out = m;
    return MSIM_OK;
}

void msim_metrics_free(struct msim_metrics *m)
{
    if (!m)
        return;
    for (uint32_t s = 0; m->stages && s < m->how.n_stages; s++)
        free(m->stages[s].servers.data);
    free(m->stages);
    free(m->seats);
    free(m->names.data);
    free(m->rows.data);
    free(m);
}
