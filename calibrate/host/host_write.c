/*
 * calibrate/host/host_write.c - a fitted host as a file of data/hosts.
 */
#include "calibrate/host/host_fit.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounded to three significant digits: more than the figures are good for. */
static double rounded(double v)
{
    double unit;

    if (!(v > 0) || !isfinite(v))
        return 0;
    unit = pow(10, floor(log10(v)) - 2);
    return unit < 1 ? round(v / unit) / round(1 / unit)
                    : round(v / unit) * unit;
}

/* Numbers, and objects of them, as given; texts are provenance. */
static void write_given(struct msim_json *j, const cJSON *given)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, given)
    {
        if (cJSON_IsNumber(item))
            msim_json_number(j, item->string, item->valuedouble);
        if (!cJSON_IsObject(item))
            continue;
        msim_json_open(j, item->string, '{', false);
        write_given(j, item);
        msim_json_close(j);
    }
}

static void write_figure(struct msim_json *j, const char *key,
                         const struct msim_host_figure *f)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "us", rounded(f->us));
    msim_json_number(j, "low_us", rounded(f->low_us));
    msim_json_number(j, "high_us", rounded(f->high_us));
    msim_json_unsigned(j, "hosts", f->hosts);
    msim_json_close(j);
}

/* Calls that no host made get the figure of the nearest kind. */
static enum msim_call_kind stand_in(const struct msim_host_fit *f,
                                    enum msim_call_kind kind)
{
    if (f->calls[kind].hosts)
        return kind;
    return kind == MSIM_CALL_MEMCPY_SYNC && f->calls[MSIM_CALL_MEMCPY].hosts
               ? MSIM_CALL_MEMCPY
               : MSIM_CALL_OTHER;
}

static void write_calls(struct msim_json *j, const struct msim_host_fit *f)
{
    msim_json_open(j, "calls", '{', true);
    for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++) {
        enum msim_call_kind kind = (enum msim_call_kind)k;
        struct msim_host_figure figure = f->calls[stand_in(f, kind)];

        figure.hosts = f->calls[k].hosts;
        write_figure(j, msim_host_call_text(kind), &figure);
    }
    msim_json_close(j);
}

static void write_classes(struct msim_json *j, const struct msim_host_fit *f)
{
    msim_json_open(j, "classes", '{', true);
    for (int c = 0; c < MSIM_HOST_NOTHING; c++) {
        msim_json_open(j, msim_host_class_text((enum msim_host_class)c), '{',
                       false);
        msim_json_number(j, "self_us", rounded(f->class_self[c]));
        msim_json_number(j, "calls_us", rounded(f->class_made[c]));
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* ---- operators ---------------------------------------------------------- */

struct named {
    const char *name;
    uint32_t key;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name,
                  ((const struct named *)b)->name);
}

static void write_operator(struct msim_json *j,
                           const struct msim_host_document *p,
                           const struct named *n)
{
    uint64_t calls = 0;
    uint32_t hosts = 0;

    for (uint32_t h = 0; h < p->table->n_hosts; h++) {
        uint32_t count = p->table->count[(size_t)h * p->table->n_keys + n->key];

        if (p->entries[h].used && count) {
            calls += count;
            hosts++;
        }
    }
    msim_json_open(j, n->name, '{', false);
    msim_json_number(j, "self_us", rounded(p->fit->self[n->key]));
    msim_json_number(j, "calls_us", rounded(p->fit->made[n->key]));
    msim_json_unsigned(j, "count", calls);
    msim_json_unsigned(j, "hosts", hosts);
    msim_json_close(j);
}

static enum msim_status write_operators(struct msim_json *j,
                                        const struct msim_host_document *p)
{
    const struct msim_host_keys *keys = p->table->keys;
    struct named *list = calloc((size_t)keys->n + 1, sizeof(*list));
    uint32_t n = 0;

    if (!list)
        return MSIM_ENOMEM;
    for (uint32_t k = 0; k < keys->n; k++) {
        const char *name = msim_strtab_text(keys->names, k);

        if (msim_host_fit_knows(p->fit, k) && *name &&
            keys->classes[k] != MSIM_HOST_LABEL)
            list[n++] = (struct named){name, k};
    }
    qsort(list, n, sizeof(*list), by_name);
    msim_json_open(j, "operators", '{', true);
    for (uint32_t i = 0; i < n; i++)
        write_operator(j, p, &list[i]);
    write_given(j, p->timed);
    msim_json_close(j);
    free(list);
    return MSIM_OK;
}

/* ---- provenance --------------------------------------------------------- */

static void write_entry(struct msim_json *j, const struct msim_host_document *p,
                        uint32_t h)
{
    const struct msim_host_samples *s = &p->table->hosts[h];
    const struct msim_host_entry *e = &p->entries[h];

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "name", s->name);
    msim_json_unsigned(j, "traces", s->n_traces);
    msim_json_unsigned(j, "operators", s->n_ops);
    msim_json_unsigned(j, "steps", e->score.steps);
    msim_json_number(j, "probe_us", rounded(e->probe_us));
    msim_json_bool(j, "used", e->used);
    if (e->used)
        msim_json_number(j, "speed", rounded(p->fit->speed[h]));
    msim_json_number(j, "left_out_predicted_over_real",
                     rounded(e->score.predicted / e->score.self));
    msim_json_bool(j, "left_out_inside", e->score.inside);
    msim_json_close(j);
}

static void write_repeats(struct msim_json *j,
                          const struct msim_host_document *p)
{
    uint32_t n = p->table->n_hosts;

    msim_json_text(
        j, "repeat",
        "host time of a step, or of a trace without steps, in one recording "
        "over that in another of the same program: operators that both call "
        "equally often, with their calls that do not wait and pauses below "
        "1 ms, under the cap; root mean square of the logarithm over pairs, "
        "then over programs, times Student's t. Another process, rank or run "
        "is another recording; steps of a single one are judged only. Time "
        "in no operator, as a data loader's, is not in it");
    msim_json_open(j, "repeats", '[', true);
    for (uint32_t h = 0; h < n; h++) {
        const struct msim_host_repeats *r = &p->repeats[h];
        double factor = msim_host_repeat_factor(p->repeats, n, h);

        if (r->n_pairs == 0)
            continue;
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", p->table->hosts[h].name);
        msim_json_unsigned(j, "recordings", r->n_recordings);
        msim_json_unsigned(j, "units", r->n_units);
        msim_json_unsigned(j, "pairs", r->n_pairs);
        msim_json_number(j, "shared", rounded(r->shared));
        msim_json_number(j, "rms", rounded(r->rms));
        msim_json_bool(j, "used", msim_host_repeats_rerun(r));
        msim_json_number(j, "left_out_factor", rounded(factor));
        msim_json_unsigned(j, "left_out_inside",
                           msim_host_repeats_inside(r, factor));
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* No member where too few programs were recorded again. */
static void write_repeat(struct msim_json *j,
                         const struct msim_host_document *p)
{
    double factor =
        msim_host_repeat_factor(p->repeats, p->table->n_hosts, MSIM_NONE);

    if (!(factor > 0))
        return;
    msim_json_open(j, "repeat", '{', false);
    msim_json_number(j, "low", rounded(1 / factor));
    msim_json_number(j, "high", rounded(factor));
    msim_json_close(j);
}

static void write_member(struct msim_json *j, const char *key,
                         const cJSON *given)
{
    if (!given)
        return;
    msim_json_open(j, key, '{', false);
    write_given(j, given);
    msim_json_close(j);
}

static void write_source(struct msim_json *j, const char *key,
                         const cJSON *given)
{
    const char *source = msim_json_get_text(given, "source");

    if (source)
        msim_json_text(j, key, source);
}

static void write_provenance(struct msim_json *j,
                             const struct msim_host_document *p)
{
    double logs = 0;
    uint32_t n = 0, inside = 0;

    for (uint32_t h = 0; h < p->table->n_hosts; h++)
        if (p->entries[h].used) {
            const struct msim_host_score *v = &p->entries[h].score;

            n++;
            inside += v->inside;
            logs += fabs(log(v->predicted / v->self));
        }
    msim_json_open(j, "provenance", '{', true);
    msim_json_text(j, "source",
                   "CPU self times in real traces, by "
                   "msim-fit-host");
    msim_json_text(j, "method",
                   "operator k on host h takes a_k * s_h; a_k is the mean over "
                   "hosts, s_h the host's speed, geometric mean 1; means "
                   "under a cap of 10 times the median (50 us at least)");
    msim_json_text(j, "operators",
                   "self_us: without operators and runtime calls inside; "
                   "calls_us: in runtime calls made by the operator itself; "
                   "by name where half a host's weight of calls is there, "
                   "else the mean over names of the class");
    msim_json_text(j, "calls",
                   "geometric mean over hosts of the mean without waits: no "
                   "synchronisation with a busy GPU, no copy over at its "
                   "return, nothing over 4 times the median; for the "
                   "allocator the shortest tenth; interval: Student's t on "
                   "the scatter between hosts; hosts 0: the nearest kind");
    msim_json_text(j, "launch_latency",
                   "median over launches into an idle stream, from hosts "
                   "whose two clocks agree");
    msim_json_text(j, "kernel_gap",
                   "mean over kernels launched before the one ahead of them "
                   "began");
    msim_json_text(j, "after_topmost",
                   "from the end of a topmost operator to the start of the "
                   "next on its thread, without calls, below 1 ms");
    msim_json_text(j, "spread",
                   "each host left out in turn, root mean square of log "
                   "(predicted over real) times Student's t");
    write_repeats(j, p);
    write_source(j, "unrecorded", p->unrecorded);
    write_source(j, "memory", p->memory);
    write_source(j, "timed", p->timed);
    msim_json_text(j, "not_used",
                   "hosts on which aten::view and aten::as_strided, which do "
                   "next to nothing, take slowed_from_us or more: their "
                   "recording slows them down");
    msim_json_number(j, "slowed_from_us", MSIM_FACT(NULL, RECORDING_SLOWS_US));
    msim_json_number(j, "left_out_typical_factor",
                     n ? rounded(exp(logs / n)) : 0);
    msim_json_unsigned(j, "left_out_inside", inside);
    msim_json_unsigned(j, "left_out_of", n);
    msim_json_open(j, "hosts", '[', true);
    for (uint32_t h = 0; h < p->table->n_hosts; h++)
        write_entry(j, p, h);
    msim_json_close(j);
    msim_json_close(j);
}

/* ---- all of it ---------------------------------------------------------- */

static enum msim_status write_all(struct msim_json *j,
                                  const struct msim_host_document *p)
{
    const struct msim_host_fit *f = p->fit;

    msim_json_open(j, NULL, '{', true);
    msim_json_text(j, "name", p->name);
    msim_json_text(j, "title", p->title);
    msim_json_text(j, "source",
                   "real traces, by msim-fit-host from data/hosts/src; "
                   "see 'provenance'");
    write_provenance(j, p);
    msim_json_open(j, "spread", '{', false);
    msim_json_number(j, "low", rounded(1 / f->factor));
    msim_json_number(j, "high", rounded(f->factor));
    msim_json_close(j);
    write_repeat(j, p);
    write_member(j, "unrecorded", p->unrecorded);
    write_member(j, "memory", p->memory);
    write_figure(j, "launch_latency", &f->latency);
    write_figure(j, "kernel_gap", &f->gap);
    msim_json_open(j, "after_topmost", '{', true);
    write_figure(j, "operator", &f->after[MSIM_AFTER_OPERATOR]);
    write_figure(j, "autograd", &f->after[MSIM_AFTER_AUTOGRAD]);
    msim_json_close(j);
    write_calls(j, f);
    write_classes(j, f);
    MSIM_TRY(write_operators(j, p));
    return msim_json_end(j);
}

enum msim_status msim_host_write(const struct msim_host_document *p,
                                 const char *path, struct msim_error *err)
{
    struct msim_json *j = malloc(sizeof(*j));
    struct msim_file *file;
    enum msim_status status;

    if (!j)
        return MSIM_ENOMEM;
    status = msim_file_open(&file, path, NULL, err);
    if (status == MSIM_OK) {
        msim_json_begin(j, msim_file_write, file);
        status = msim_file_close(file, write_all(j, p), err);
    }
    free(j);
    return status;
}
