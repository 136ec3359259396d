/*
 * calibrate/machine/machine_host.c - dispatch times and latencies as a host
 * file.
 */
#include "calibrate/machine/machine.h"

#include "calibrate/fit/law_fit.h"
#include "calibrate/host/host_fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP   "step: "   /* what kinds of whole models begin with */
#define SHARED "shared: " /* and those that are beside operators of a step */
#define TAIL   0.95       /* upper end of a 90 % interval */
#define US_MIN 0.05       /* where a logarithm is taken */

struct made {
    const struct msim_cal_journal *journal;
    const cJSON *generic;
    const char *backend; /* that timed dispatch */
    bool on_cpu;         /* where nothing is launched */
    struct msim_host_keys keys;
    struct msim_host_samples recordings[MSIM_HOSTS_MAX]; /* names alone */
    uint32_t n;
    struct msim_host_table table;
    struct msim_host_fit fit;
    struct msim_cal_host result;
};

/* ---- answers as recordings ----------------------------------------------- */

/* Whether an answer says what operators took of the host. */
static bool has_operators(const struct msim_cal_entry *e)
{
    return e->experiment.timed.table == MSIM_TABLE_DISPATCH &&
           msim_cal_entry_is_row(e) && e->answer.has_operators;
}

/* The recording that an answer is part of, perhaps a new one. */
static uint32_t recording_of(struct made *m, const struct msim_cal_entry *e)
{
    const char *op = e->experiment.timed.op;
    bool step = op && strncmp(op, STEP, strlen(STEP)) == 0;
    const char *name = step ? op : "single calls";
    uint32_t r = 0;

    while (r < m->n && strcmp(m->recordings[r].name, name) != 0)
        r++;
    if (r == m->n && m->n < MSIM_HOSTS_MAX)
        snprintf(m->recordings[m->n++].name, sizeof(m->recordings->name), "%s",
                 name);
    return r;
}

/* What a subclass of tensors takes beside operators, which no other host file
 * has, is in no recording. */
static bool is_shared(const struct msim_cal_entry *e)
{
    const char *op = e->experiment.timed.op;

    return op && strncmp(op, SHARED, strlen(SHARED)) == 0;
}

/* Entries with operators, of one backend. */
static bool is_part(struct made *m, const struct msim_cal_entry *e)
{
    if (!has_operators(e) || is_shared(e))
        return false;
    if (!m->backend)
        m->backend = e->backend;
    return strcmp(m->backend, e->backend) == 0;
}

static enum msim_status
key_of(struct made *m, const struct msim_cal_operator *op, uint32_t *key)
{
    return msim_host_keys_add(&m->keys, op->name,
                              msim_host_class_of(op->name, op->leaf), key);
}

static enum msim_status find_keys(struct made *m)
{
    for (uint32_t i = 0; i < m->journal->n; i++) {
        const struct msim_cal_entry *e = &m->journal->entries[i];
        uint32_t key;

        if (!is_part(m, e) || recording_of(m, e) == MSIM_HOSTS_MAX)
            continue;
        for (uint32_t k = 0; k < e->answer.n_operators; k++)
            MSIM_TRY(key_of(m, &e->answer.operators[k], &key));
    }
    return MSIM_OK;
}

/* Sums for now. */
static enum msim_status add_operators(struct made *m,
                                      const struct msim_cal_entry *e,
                                      uint32_t recording)
{
    for (uint32_t k = 0; k < e->answer.n_operators; k++) {
        const struct msim_cal_operator *op = &e->answer.operators[k];
        double calls = e->answer.rounds * op->count;
        uint32_t key;
        size_t i;

        MSIM_TRY(key_of(m, op, &key));
        i = (size_t)recording * m->table.n_keys + key;
        m->table.mean[i] += calls * op->self_us;
        m->table.made[i] += calls * op->calls_us;
        m->table.count[i] += (uint32_t)calls;
    }
    return MSIM_OK;
}

static void add_pauses(struct made *m, const struct msim_cal_entry *e,
                       uint32_t recording)
{
    double *after = m->table.after_us[recording];
    const char *op = e->experiment.timed.op;

    if (!op || strcmp(m->recordings[recording].name, op) != 0)
        return; /* a single call is in no program */
    after[MSIM_AFTER_OPERATOR] = e->answer.after_operator_us;
    after[MSIM_AFTER_AUTOGRAD] = e->answer.after_autograd_us;
}

static enum msim_status fill_table(struct made *m)
{
    MSIM_TRY(msim_host_table_make(&m->table, m->recordings, m->n, &m->keys));
    for (uint32_t i = 0; i < m->journal->n; i++) {
        const struct msim_cal_entry *e = &m->journal->entries[i];
        uint32_t r;

        if (!is_part(m, e) || (r = recording_of(m, e)) == MSIM_HOSTS_MAX)
            continue;
        MSIM_TRY(add_operators(m, e, r));
        add_pauses(m, e, r);
    }
    for (size_t i = 0; i < (size_t)m->n * m->keys.n; i++)
        if (m->table.count[i]) {
            m->table.mean[i] /= m->table.count[i];
            m->table.made[i] /= m->table.count[i];
        }
    return MSIM_OK;
}

/* ---- against the general host -------------------------------------------- */

static const cJSON *general(const struct made *m, const char *group,
                            const char *key)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(m->generic, group);

    return cJSON_GetObjectItemCaseSensitive(all, key);
}

static double general_self(const cJSON *op)
{
    return msim_json_get_number(op, "self_us", 0);
}

/* The general host's operator with a key that was timed here, or NULL. */
static const cJSON *known_here(const struct made *m, uint32_t key)
{
    const char *name = msim_strtab_text(m->keys.names, key);

    return msim_host_fit_knows(&m->fit, key) ? general(m, "operators", name)
                                             : NULL;
}

/* As msim_host_fit has a host's speed: the total comes out right. */
static double find_speed(const struct made *m)
{
    double here = 0, there = 0;

    for (uint32_t k = 0; k < m->keys.n; k++) {
        const cJSON *o = known_here(m, k);
        double calls = msim_json_get_number(o, "count", 0);

        here += calls * m->fit.self[k] * (o != NULL);
        there += calls * general_self(o);
    }
    return here > 0 && there > 0 ? here / there : 1;
}

/* How far an operator is from the general host's at that speed: 90 % are within
 * this factor, up or down. */
static double find_factor_taken(const struct made *m, double speed)
{
    double squares = 0;
    uint32_t n = 0;

    for (uint32_t k = 0; k < m->keys.n; k++) {
        const cJSON *o = known_here(m, k);
        double error;

        if (general_self(o) < US_MIN)
            continue; /* not timed there either, or hidden by its children */
        error = log(fmax(m->fit.self[k], US_MIN) /
                    fmax(speed * general_self(o), US_MIN));
        squares += error * error;
        n++;
    }
    if (n == 0)
        return msim_json_get_number(
            cJSON_GetObjectItemCaseSensitive(m->generic, "spread"), "high", 10);
    return exp(gsl_cdf_tdist_Pinv(TAIL, n) * sqrt(squares / n));
}

/* ---- writing ------------------------------------------------------------- */

static void write_operator(cJSON *to, const char *name, double self,
                           double calls, double within, const char *source)
{
    cJSON *o = cJSON_AddObjectToObject(to, name);

    msim_number_add(o, "self_us", self);
    msim_number_add(o, "calls_us", calls);
    if (within > 0)
        msim_number_add(o, "within", within);
    cJSON_AddStringToObject(o, "source", source);
}

/* A CPU's operators launch nothing; on a GPU those of the same name do, or of
 * the same class. */
static double calls_of(const struct made *m, uint32_t key)
{
    const char *name = msim_strtab_text(m->keys.names, key);
    const cJSON *o = general(m, "operators", name);

    if (!m->on_cpu)
        return m->fit.made[key];
    if (!o)
        o = general(
            m, "classes",
            msim_host_class_text((enum msim_host_class)m->keys.classes[key]));
    return msim_json_get_number(o, "calls_us", 0);
}

/* An operator that launches on a GPU does more there than a CPU shows: its
 * interval is that of operators that were not timed. 0: the file's spread. */
static double within_of(const struct made *m, uint32_t key)
{
    return m->on_cpu && calls_of(m, key) > 0 ? m->result.factor_taken : 0;
}

/* As they were timed; they launch nothing themselves. */
static void write_shared(cJSON *to, struct made *m)
{
    for (uint32_t i = 0; i < m->journal->n; i++) {
        const struct msim_cal_entry *e = &m->journal->entries[i];

        if (!has_operators(e) || !is_shared(e) ||
            strcmp(m->backend, e->backend) != 0)
            continue;
        for (uint32_t k = 0; k < e->answer.n_operators; k++) {
            const struct msim_cal_operator *op = &e->answer.operators[k];

            if (cJSON_HasObjectItem(to, op->name))
                continue;
            write_operator(to, op->name, op->self_us, 0, 0, "timed");
            m->result.timed++;
        }
    }
}

static void write_operators(cJSON *host, struct made *m)
{
    cJSON *to = cJSON_AddObjectToObject(host, "operators");
    const cJSON *o;

    for (uint32_t k = 0; k < m->keys.n; k++) {
        if (!msim_host_fit_knows(&m->fit, k))
            continue;
        write_operator(to, msim_strtab_text(m->keys.names, k), m->fit.self[k],
                       calls_of(m, k), within_of(m, k), "timed");
        m->result.timed++;
    }
    write_shared(to, m);
    cJSON_ArrayForEach(
        o, cJSON_GetObjectItemCaseSensitive(m->generic, "operators"))
    {
        if (cJSON_HasObjectItem(to, o->string))
            continue;
        write_operator(to, o->string, m->result.speed * general_self(o),
                       msim_json_get_number(o, "calls_us", 0),
                       m->result.factor_taken, "generic, at this host's speed");
        m->result.taken++;
    }
}

static void write_classes(cJSON *host, const struct made *m)
{
    cJSON *to = cJSON_AddObjectToObject(host, "classes");

    for (int c = 0; c < MSIM_HOST_NOTHING; c++) {
        const char *key = msim_host_class_text((enum msim_host_class)c);
        const cJSON *o = general(m, "classes", key);
        bool timed = m->fit.class_self[c] > 0;
        double calls = m->on_cpu || !timed
                           ? msim_json_get_number(o, "calls_us", 0)
                           : m->fit.class_made[c];

        write_operator(to, key,
                       timed ? m->fit.class_self[c]
                             : m->result.speed * general_self(o),
                       calls, m->result.factor_taken,
                       timed ? "mean over the names that were timed"
                             : "generic, at this host's speed");
    }
}

static void write_figure(cJSON *to, const char *key, const cJSON *of,
                         double times, const char *source)
{
    static const char *const KEYS[] = {"us", "low_us", "high_us"};
    cJSON *o = cJSON_AddObjectToObject(to, key);

    for (int i = 0; i < 3; i++)
        msim_number_add(o, KEYS[i],
                        times * msim_json_get_number(of, KEYS[i], 0));
    cJSON_AddStringToObject(o, "source", source);
}

/* The answer that timed a latency, or NULL; of MSIM_LATENCY_COUNT none. */
static const struct msim_cal_answer *find_latency(const struct made *m,
                                                  enum msim_latency latency)
{
    uint32_t n = latency < MSIM_LATENCY_COUNT ? m->journal->n : 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct msim_cal_entry *e = &m->journal->entries[i];

        if (e->experiment.timed.table == MSIM_TABLE_LATENCY &&
            e->experiment.timed.u.latency == latency &&
            msim_cal_entry_is_row(e))
            return &e->answer;
    }
    return NULL;
}

/* An answer's median and deciles. */
static void write_latency(cJSON *to, const char *key,
                          const struct msim_cal_answer *a)
{
    cJSON *o = cJSON_AddObjectToObject(to, key);

    msim_number_add(o, "us", a->us);
    msim_number_add(o, "low_us", fmin(a->us, a->low_us));
    msim_number_add(o, "high_us", fmax(a->us, a->high_us));
    cJSON_AddStringToObject(o, "source", "timed");
}

static void write_timed(cJSON *to, const struct made *m, const char *key,
                        const cJSON *otherwise, enum msim_latency latency)
{
    const struct msim_cal_answer *answer = find_latency(m, latency);

    if (answer)
        write_latency(to, key, answer);
    else
        write_figure(to, key, otherwise, 1, "generic");
}

static void write_calls(cJSON *host, const struct made *m)
{
    /* The latency that is each call's time; of others none is. */
    static const struct {
        bool is_timed;
        enum msim_latency latency;
    } TIMED[MSIM_HOST_CALL_KINDS] = {
        [MSIM_CALL_LAUNCH] = {true, MSIM_LATENCY_LAUNCH},
        [MSIM_CALL_MEMCPY] = {true, MSIM_LATENCY_MEMCPY},
        [MSIM_CALL_MEMSET] = {true, MSIM_LATENCY_MEMSET},
        [MSIM_CALL_DEVICE_SYNC] = {true, MSIM_LATENCY_SYNC_DEVICE},
        [MSIM_CALL_STREAM_SYNC] = {true, MSIM_LATENCY_SYNC_STREAM},
        [MSIM_CALL_EVENT_RECORD] = {true, MSIM_LATENCY_EVENT_RECORD},
        [MSIM_CALL_STREAM_WAIT] = {true, MSIM_LATENCY_EVENT_WAIT},
    };
    cJSON *to = cJSON_AddObjectToObject(host, "calls");

    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++) {
        const char *key = msim_host_call_text((enum msim_call_kind)k);

        write_timed(to, m, key, general(m, "calls", key),
                    TIMED[k].is_timed ? TIMED[k].latency : MSIM_LATENCY_COUNT);
    }
}

static void write_after(cJSON *host, const struct made *m)
{
    static const char *const KEYS[MSIM_AFTER_KINDS] = {
        [MSIM_AFTER_OPERATOR] = "operator", [MSIM_AFTER_AUTOGRAD] = "autograd"};
    cJSON *to = cJSON_AddObjectToObject(host, "after_topmost");

    for (int a = 0; a < MSIM_AFTER_KINDS; a++) {
        const struct msim_host_figure *f = &m->fit.after[a];
        cJSON *o;

        if (f->hosts == 0) {
            write_figure(to, KEYS[a], general(m, "after_topmost", KEYS[a]),
                         m->result.speed, "generic, at this host's speed");
            continue;
        }
        o = cJSON_AddObjectToObject(to, KEYS[a]);
        msim_number_add(o, "us", f->us);
        msim_number_add(o, "low_us", f->low_us);
        msim_number_add(o, "high_us", f->high_us);
        cJSON_AddStringToObject(o, "source", "timed");
    }
}

static void write_factors(cJSON *host, const char *key, double factor)
{
    cJSON *o = cJSON_AddObjectToObject(host, key);

    msim_number_add(o, "low", 1 / factor);
    msim_number_add(o, "high", factor);
}

static void write_provenance(cJSON *host, const struct made *m)
{
    cJSON *o = cJSON_AddObjectToObject(host, "provenance"), *list;
    const cJSON *greeting = msim_cal_journal_greeting(m->journal, m->backend);
    const cJSON *libraries =
        cJSON_GetObjectItemCaseSensitive(greeting, "libraries");

    cJSON_AddStringToObject(o, "program",
                            "mystique-sim calibrate " MSIM_VERSION);
    cJSON_AddStringToObject(o, "backend", m->backend);
    cJSON_AddStringToObject(
        o, "timed_on",
        m->on_cpu ? "a CPU: what operators take in calls of the runtime is "
                    "the general host's"
                  : "a GPU");
    if (libraries)
        cJSON_AddItemToObject(o, "libraries", cJSON_Duplicate(libraries, true));
    cJSON_AddStringToObject(
        o, "method",
        "operator k in recording r takes a_k * s_r; recordings: single calls "
        "on tensors of one element, each after all others, and training steps "
        "of small models, under PyTorch's profiler with names only "
        "(profilers/README.md)");
    cJSON_AddStringToObject(
        o, "spread",
        "each recording left out in turn, root mean square of log (predicted "
        "over real) times Student's t; 'within': the same of operators that "
        "both know, this host's over the general one's at this host's speed");
    cJSON_AddStringToObject(o, "repeat", "generic");
    msim_number_add(o, "speed_over_generic", m->result.speed);
    list = cJSON_AddArrayToObject(o, "recordings");
    for (uint32_t r = 0; r < m->n; r++) {
        cJSON *one = cJSON_CreateObject();

        cJSON_AddItemToArray(list, one);
        cJSON_AddStringToObject(one, "name", m->recordings[r].name);
        msim_number_add(one, "speed", m->fit.speed[r]);
    }
}

static cJSON *write_host(struct made *m, const char *name)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(m->journal, m->backend), "device");
    const cJSON *repeat =
        cJSON_GetObjectItemCaseSensitive(m->generic, "repeat");
    const char *title = msim_json_get_text(device, "name");
    cJSON *host = cJSON_CreateObject();

    if (!host)
        return NULL;
    cJSON_AddStringToObject(host, "schema", "mystique-sim/host/1");
    cJSON_AddStringToObject(host, "name", name);
    cJSON_AddStringToObject(host, "title", title ? title : name);
    cJSON_AddStringToObject(host, "source",
                            "timed here where 'source' says so, else of the "
                            "general host; see 'provenance'");
    write_provenance(host, m);
    write_factors(host, "spread", m->result.factor);
    if (repeat)
        cJSON_AddItemToObject(host, "repeat", cJSON_Duplicate(repeat, true));
    write_timed(host, m, "launch_latency",
                cJSON_GetObjectItemCaseSensitive(m->generic, "launch_latency"),
                MSIM_LATENCY_LAUNCH_START);
    write_timed(host, m, "kernel_gap",
                cJSON_GetObjectItemCaseSensitive(m->generic, "kernel_gap"),
                MSIM_LATENCY_KERNEL_GAP);
    write_after(host, m);
    write_calls(host, m);
    write_classes(host, m);
    write_operators(host, m);
    return host;
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status fit_recordings(struct made *m)
{
    bool use[MSIM_HOSTS_MAX];

    memset(use, true, sizeof(use));
    m->on_cpu = msim_cal_is_cpu(cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(m->journal, m->backend), "device"));
    MSIM_TRY(fill_table(m));
    MSIM_TRY(msim_host_fit_make(&m->fit, &m->table, use, MSIM_NONE));
    m->result.recordings = m->n;
    m->result.factor = m->fit.factor;
    m->result.speed = find_speed(m);
    m->result.factor_taken = find_factor_taken(m, m->result.speed);
    return MSIM_OK;
}

static enum msim_status make(cJSON **out, struct made *m, const char *name)
{
    MSIM_TRY(msim_host_keys_init(&m->keys));
    MSIM_TRY(find_keys(m));
    if (m->n < 2)
        return MSIM_OK;
    MSIM_TRY(fit_recordings(m));
    *out = write_host(m, name);
    return *out ? MSIM_OK : MSIM_ENOMEM;
}

enum msim_status msim_cal_host_fit(cJSON **out, struct msim_cal_host *result,
                                   const struct msim_cal_journal *j,
                                   const cJSON *generic, const char *name)
{
    struct made *m = calloc(1, sizeof(*m));
    enum msim_status status;

    *out = NULL;
    if (!m)
        return MSIM_ENOMEM;
    m->journal = j;
    m->generic = generic;
    status = make(out, m, name);
    *result = m->result;
    msim_host_fit_release(&m->fit);
    msim_host_table_release(&m->table);
    msim_host_keys_release(&m->keys);
    free(m);
    return status;
}
