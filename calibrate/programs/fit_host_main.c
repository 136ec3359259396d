/*
 * calibrate/programs/fit_host_main.c - msim-fit-host: a host file from recorded
 * traces.
 *
 *     msim-fit-host CONFIG TRACES OUT
 *
 * CONFIG is data/hosts/src/NAME.json: the traces of each host, and which of
 * them are of one program, as paths below the folder TRACES; OUT is the file to
 * write. A report of the hosts and programs, each scored by a fit without it,
 * goes to standard output.
 */
#include "calibrate/host/host_fit.h"
#include "calibrate/programs/program_end.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/work/kernel_fact.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

struct fitting {
    const cJSON *config;
    const char *folder;
    struct msim_host_keys keys;
    struct msim_host_samples hosts[MSIM_HOSTS_MAX];
    struct msim_host_entry entries[MSIM_HOSTS_MAX];
    struct msim_host_repeats repeats[MSIM_HOSTS_MAX];
    struct msim_host_table table;
    uint32_t n_hosts;
    struct msim_error *err;
};

/* ---- reading ------------------------------------------------------------ */

/* Whether the path is in the host's list of repeats. */
static bool is_repeat(const cJSON *host, const char *below)
{
    const cJSON *path;

    cJSON_ArrayForEach(path, cJSON_GetObjectItemCaseSensitive(host, "repeats"))
    {
        if (cJSON_IsString(path) && strcmp(path->valuestring, below) == 0)
            return true;
    }
    return false;
}

static enum msim_status add_path(struct fitting *k, struct msim_host_samples *s,
                                 const char *below, bool repeats)
{
    const struct msim_load_options options = {.threads = 1};
    enum msim_status status = MSIM_OK;
    struct msim_job *job;
    char path[1024];
    const char *paths[] = {path};

    snprintf(path, sizeof(path), "%s/%s", k->folder, below);
    MSIM_TRY(msim_job_load(&job, paths, 1, &options, k->err));
    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = msim_host_samples_add(s, &k->keys, job->ranks[r], repeats);
    msim_job_free(job);
    return status;
}

static enum msim_status add_host(struct fitting *k, const cJSON *host)
{
    const char *name = msim_json_get_text(host, "name");
    const cJSON *path;
    struct msim_host_samples *s;

    if (!name || k->n_hosts == MSIM_HOSTS_MAX)
        return msim_fail(k->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "want at most %d hosts, each with a 'name'",
                         MSIM_HOSTS_MAX);
    s = &k->hosts[k->n_hosts++];
    snprintf(s->name, sizeof(s->name), "%s", name);
    cJSON_ArrayForEach(path, cJSON_GetObjectItemCaseSensitive(host, "traces"))
    {
        if (cJSON_IsString(path))
            MSIM_TRY(add_path(k, s, path->valuestring,
                              is_repeat(host, path->valuestring)));
    }
    return MSIM_OK;
}

/* Read all hosts; those whose recording slowed them down are not used. */
static enum msim_status read_hosts(struct fitting *k)
{
    const cJSON *host;

    cJSON_ArrayForEach(host,
                       cJSON_GetObjectItemCaseSensitive(k->config, "hosts"))
    {
        MSIM_TRY(add_host(k, host));
    }
    for (uint32_t h = 0; h < k->n_hosts; h++) {
        struct msim_host_entry *e = &k->entries[h];

        e->probe_us = msim_series_quantile(&k->hosts[h].probe, 0.5);
        e->used = e->probe_us < MSIM_FACT(NULL, RECORDING_SLOWS_US);
        MSIM_TRY(msim_host_samples_cap(&k->hosts[h], k->keys.n));
        MSIM_TRY(
            msim_host_repeats_make(&k->repeats[h], &k->hosts[h], k->keys.n));
    }
    return msim_host_table_make(&k->table, k->hosts, k->n_hosts, &k->keys);
}

/* ---- scores ------------------------------------------------------------- */

static enum msim_status score_host(struct fitting *k, uint32_t h)
{
    bool use[MSIM_HOSTS_MAX];
    struct msim_host_fit fit;
    enum msim_status status;

    for (uint32_t i = 0; i < k->n_hosts; i++)
        use[i] = i != h && k->entries[i].used;
    MSIM_TRY(msim_host_fit_make(&fit, &k->table, use, h));
    status = msim_host_evaluate(&k->entries[h].score, &fit, &k->table, h);
    msim_host_fit_release(&fit);
    return status;
}

static void report(const struct fitting *k, const struct msim_host_fit *fit)
{
    msim_print(stdout, "%-24s %5s %8s %6s %6s %6s %7s %6s %6s %s\n", "host",
               "used", "ops", "probe", "speed", "self", "inside", "whole",
               "inside", "steps: inside, mean error");
    for (uint32_t h = 0; h < k->n_hosts; h++) {
        const struct msim_host_entry *e = &k->entries[h];
        const struct msim_host_score *v = &e->score;

        msim_print(stdout, "%-24s %5s %8u %6.2f %6.2f %6.2f %7s %6.2f %6s ",
                   k->hosts[h].name, e->used ? "yes" : "no", k->hosts[h].n_ops,
                   e->probe_us, fit->speed[h], v->predicted / v->self,
                   v->inside ? "yes" : "no", v->whole_predicted / v->whole,
                   v->whole_inside ? "yes" : "no");
        if (v->steps)
            printf("%u/%u %.0f %%", v->steps_inside, v->steps,
                   100 * v->step_error);
        putchar('\n');
    }
    msim_print(stdout, "%-24s %8s %8s %8s %8s %8s\n", "us", "launch", "latency",
               "gap", "after op", "autograd");
    for (uint32_t h = 0; h < k->n_hosts; h++)
        msim_print(stdout, "%-24s %8.2f %8.2f %8.2f %8.2f %8.2f\n",
                   k->hosts[h].name, k->table.call_us[h][MSIM_CALL_LAUNCH],
                   k->table.latency_us[h], k->table.gap_us[h],
                   k->table.after_us[h][MSIM_AFTER_OPERATOR],
                   k->table.after_us[h][MSIM_AFTER_AUTOGRAD]);
    printf("self, whole: predicted by a fit without the host, over real\n"
           "interval: a factor of %.2f either way\n",
           fit->factor);
}

static void report_repeats(const struct fitting *k)
{
    msim_print(stdout, "%-24s %10s %5s %5s %6s %6s %6s %s\n", "run again",
               "recordings", "units", "pairs", "shared", "rms", "factor",
               "inside");
    for (uint32_t h = 0; h < k->n_hosts; h++) {
        const struct msim_host_repeats *r = &k->repeats[h];
        double factor = msim_host_repeat_factor(k->repeats, k->n_hosts, h);

        if (r->n_pairs)
            msim_print(
                stdout, "%-24s %10u %5u %5u %4.0f %% %6.3f %6.3f %3.0f %%%s\n",
                k->hosts[h].name, r->n_recordings, r->n_units, r->n_pairs,
                100 * r->shared, r->rms, factor,
                100.0 * msim_host_repeats_inside(r, factor) / r->n_pairs,
                msim_host_repeats_rerun(r) ? "" : ", one recording: judged");
    }
    printf("factor: of a fit without the program; inside: of its pairs\n"
           "run again: a factor of %.3f either way\n",
           msim_host_repeat_factor(k->repeats, k->n_hosts, MSIM_NONE));
}

static enum msim_status fit_all(struct fitting *k, const char *out)
{
    bool use[MSIM_HOSTS_MAX];
    struct msim_host_fit fit;
    struct msim_host_document document = {
        msim_json_get_text(k->config, "name"),
        msim_json_get_text(k->config, "title"),
        &k->table,
        &fit,
        k->entries,
        k->repeats,
        cJSON_GetObjectItemCaseSensitive(k->config, "unrecorded"),
        cJSON_GetObjectItemCaseSensitive(k->config, "memory"),
        cJSON_GetObjectItemCaseSensitive(k->config, "timed")};
    enum msim_status status;
    uint32_t used = 0;

    for (uint32_t h = 0; h < k->n_hosts; h++) {
        use[h] = k->entries[h].used;
        used += use[h];
    }
    if (used < 4)
        return msim_fail(k->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "%u hosts are fit for use, want 4 or more", used);
    for (uint32_t h = 0; h < k->n_hosts; h++)
        MSIM_TRY(score_host(k, h));
    MSIM_TRY(msim_host_fit_make(&fit, &k->table, use, MSIM_NONE));
    report(k, &fit);
    report_repeats(k);
    status = msim_host_write(&document, out, k->err);
    msim_host_fit_release(&fit);
    return status;
}

static enum msim_status run(char **argv, struct msim_error *err)
{
    struct fitting *k = calloc(1, sizeof(*k));
    cJSON *config = NULL;
    enum msim_status status;

    if (!k)
        return MSIM_ENOMEM;
    k->folder = argv[2];
    k->err = err;
    status = msim_json_read(&config, argv[1], err);
    k->config = config;
    if (status == MSIM_OK)
        status = msim_host_keys_init(&k->keys);
    if (status == MSIM_OK)
        status = read_hosts(k);
    if (status == MSIM_OK)
        status = fit_all(k, argv[3]);
    for (uint32_t h = 0; h < k->n_hosts; h++) {
        msim_host_samples_release(&k->hosts[h]);
        msim_host_repeats_release(&k->repeats[h]);
    }
    msim_host_table_release(&k->table);
    msim_host_keys_release(&k->keys);
    cJSON_Delete(config);
    free(k);
    return status;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    if (argc != 4) {
        fprintf(stderr, "usage: msim-fit-host CONFIG TRACES OUT\n");
        return 2;
    }
    status = run(argv, &err);
    return msim_program_end(stderr, "msim-fit-host", status, &err);
}
