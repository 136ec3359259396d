/*
 * cli/plan/plan_serving.c - which GPUs keep what was promised of a served
 * model.
 */
#include "cli/plan/cli_plan_internal.h"

#include "cli/cmd.h"
#include "core/base/print.h"
#include "serving/plan/serving_choice.h"

/* ---- files --------------------------------------------------------------- */

static enum msim_status put_points(const void *ctx, const char *const *charts,
                                   FILE *out)
{
    (void)charts;
    msim_serving_plan_csv(ctx, false, out);
    return MSIM_OK;
}

static enum msim_status put_frontier(const void *ctx, const char *const *charts,
                                     FILE *out)
{
    (void)charts;
    msim_serving_plan_csv(ctx, true, out);
    return MSIM_OK;
}

static enum msim_status put_json(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    (void)charts;
    return msim_serving_plan_json(ctx, out);
}

static enum msim_status put_html(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    msim_serving_plan_html(ctx, charts[0], out);
    return MSIM_OK;
}

/* The frontier's alone. */
static enum msim_status draw(const void *ctx, uint32_t chart, char **svg,
                             struct msim_error *err)
{
    const struct msim_serving_choice *c = ctx;

    return chart == 0 && c->best ? msim_serving_plan_chart(c, svg, err)
                                 : MSIM_OK;
}

static enum msim_status write_folder(const struct msim_serving_choice *c,
                                     const char *folder, struct msim_error *err)
{
    return msim_plan_folder_fill(
        &(struct msim_plan_files){.ctx = c,
                                  .points = put_points,
                                  .frontier = put_frontier,
                                  .json = put_json,
                                  .html = put_html,
                                  .draw = draw},
        folder, err);
}

/* ---- the verb ------------------------------------------------------------ */

static enum msim_status report(const struct msim_serving_choice *c,
                               const struct msim_plan_serving_how *how,
                               struct msim_error *err)
{
    char why[800];

    if (how->folder)
        MSIM_TRY(write_folder(c, how->folder, err));
    if (how->json)
        MSIM_TRY(msim_serving_plan_json(c, stdout));
    else
        msim_serving_plan_text(c, stdout);
    if (how->folder && !how->json)
        msim_print(stdout,
                   "\nwritten: %s/report.html, points.csv, frontier.csv, "
                   "plan.json\n",
                   how->folder);
    if (c->best)
        return MSIM_OK;
    msim_serving_none_text(c, why, sizeof(why));
    return msim_fail(err, MSIM_ECHECK, c->spec->file, MSIM_OFFSET_NONE, "%s",
                     why);
}

static enum msim_status choose(struct msim_serving_choice *c,
                               const struct msim_serving_spec *spec,
                               const char *data_dir, uint32_t threads,
                               struct msim_error *err)
{
    struct msim_progress progress;
    enum msim_status status;

    msim_progress_start(&progress, "simulating");
    status = msim_serving_choose(c, spec, data_dir, threads,
                                 msim_progress_parts, &progress, err);
    msim_progress_end(&progress);
    return status;
}

enum msim_status msim_plan_serving(cJSON *json, const char *path,
                                   const char *data_dir,
                                   const struct msim_plan_serving_how *how,
                                   struct msim_error *err)
{
    struct msim_serving_spec spec;
    struct msim_serving_choice c;
    enum msim_status status;

    MSIM_TRY(msim_serving_spec_of_json(&spec, json, path, data_dir, err));
    status = how->folder ? msim_plan_folder_look(how->folder, err) : MSIM_OK;
    if (status == MSIM_OK)
        status = choose(&c, &spec, data_dir, how->threads, err);
    if (status == MSIM_OK) {
        status = report(&c, how, err);
        msim_serving_choice_release(&c);
    }
    msim_serving_spec_release(&spec);
    return status;
}
