/*
 * replay/fleet/report_selection_json.c - a selection for programs: JSON and
 * CSV.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/report/write/report.h"
#include "replay/fleet/fleet.h"

static const struct msim_fleet_job *job_of(const struct msim_selection *s,
                                           uint32_t chosen)
{
    return &s->fleet->jobs[s->chosen[chosen].job];
}

/* ---- JSON --------------------------------------------------------------- */

static void put_paths(struct msim_json *j, const struct msim_fleet_job *job)
{
    msim_json_open(j, "paths", '[', false);
    for (uint32_t i = 0; i < job->n_paths; i++)
        msim_json_text(j, NULL, job->paths[i]);
    msim_json_close(j);
}

static void put_selected(struct msim_json *j, const struct msim_selection *s)
{
    msim_json_open(j, "selected", '[', true);
    for (uint32_t c = 0; c < s->n; c++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "job", job_of(s, c)->name);
        msim_json_number(j, "weight", s->chosen[c].weight);
        msim_json_number(j, "stands_for_share", s->chosen[c].stands_for);
        msim_json_unsigned(j, "stands_for_jobs", s->chosen[c].jobs);
        put_paths(j, job_of(s, c));
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void put_shares(struct msim_json *j, const struct msim_selection *s)
{
    msim_json_open(j, "largest_difference", '{', false);
    msim_json_text(j, "kind", msim_time_kind_text(s->worst));
    msim_json_number(j, "share", s->largest);
    msim_json_close(j);
    msim_json_open(j, "kinds", '[', true);
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "kind", msim_time_kind_text(k));
        msim_json_number(j, "fleet_share", s->fleet->share[k]);
        msim_json_number(j, "selection_share", s->share[k]);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void put_job(struct msim_json *j, const struct msim_selection *s,
                    uint32_t i)
{
    const struct msim_fleet_job *job = &s->fleet->jobs[i];

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "job", job->name);
    msim_json_number(j, "weight", job->weight);
    msim_json_number(j, "device_time_us", job->total_us);
    msim_json_unsigned(j, "ranks", job->ranks);
    msim_json_unsigned(j, "gpus", job->time.gpus);
    msim_json_unsigned(j, "cpus", job->time.cpus);
    msim_json_text(j, "gpu", job->gpu[0] ? job->gpu : NULL);
    msim_json_text(j, "stood_for_by", job_of(s, s->stood_for_by[i])->name);
    msim_json_number(j, "distance", s->distance[i]);
    msim_json_open(j, "shares", '{', false);
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
        msim_json_number(j, msim_time_kind_text(k), job->share[k]);
    msim_json_close(j);
    put_paths(j, job);
    msim_json_close(j);
}

static void put_left_out(struct msim_json *j, const struct msim_fleet *fleet)
{
    msim_json_open(j, "left_out", '[', true);
    for (uint32_t i = 0; i < fleet->n_left_out; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "path", fleet->left_out[i].path);
        msim_json_text(j, "reason", fleet->left_out[i].reason);
        msim_json_close(j);
    }
    msim_json_close(j);
}

enum msim_status msim_selection_json(const struct msim_selection *s, FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/selection/1");
    msim_json_text(&j, "weighed_by", s->fleet->weighed_by);
    put_selected(&j, s);
    put_shares(&j, s);
    msim_json_open(&j, "jobs", '[', true);
    for (uint32_t i = 0; i < s->fleet->n_jobs; i++)
        put_job(&j, s, i);
    msim_json_close(&j);
    put_left_out(&j, s->fleet);
    msim_report_json_import(&j, "import", s->fleet->files, s->fleet->n_files,
                            false);
    return msim_json_end(&j);
}

/* ---- CSV ---------------------------------------------------------------- */

enum msim_status msim_selection_csv(const struct msim_selection *s, FILE *out)
{
    fputs("job,weight,selected_weight,stands_for_share,stood_for_by,distance,"
          "device_time_us",
          out);
    for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++) {
        char column[64];

        snprintf(column, sizeof(column), "%s_share", msim_time_kind_text(k));
        msim_csv_add(out, column);
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < s->fleet->n_jobs; i++) {
        const struct msim_fleet_job *job = &s->fleet->jobs[i];
        const struct msim_chosen *by = &s->chosen[s->stood_for_by[i]];

        msim_csv_write(out, job->name);
        msim_csv_add_number(out, job->weight);
        msim_csv_add_number(out, by->job == i ? by->weight : 0);
        msim_csv_add_number(out, by->job == i ? by->stands_for : 0);
        msim_csv_add(out, s->fleet->jobs[by->job].name);
        msim_csv_add_number(out, s->distance[i]);
        msim_csv_add_number(out, job->total_us);
        for (uint32_t k = 0; k < MSIM_TIME_KINDS; k++)
            msim_csv_add_number(out, job->share[k]);
        fputc('\n', out);
    }
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
