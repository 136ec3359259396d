/*
 * cli/plan/cmd_plan.c - `plan`: which GPUs, how many, split how, at what cost.
 */
#include "cli/cmd.h"
#include "cli/datadir.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/platform_hint.h"
#include "cli/progress.h"
#include "core/base/decimal.h"
#include "core/base/print.h"
#include "core/base/write_file.h"
#include "plan/outcome/plan_report.h"
#include "plan/search/plan_search.h"
#include "plan/traced/traced_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    const char *folder;
    uint32_t threads;
    bool json;
};

static const struct msim_option OPTIONS[] = {
    {.name = "o",
     .type = MSIM_OPTION_TEXT,
     .field = offsetof(struct settings, folder),
     .metavar = "DIR",
     .help = "write report.html, report.pdf (with WeasyPrint), points.csv, "
             "frontier.csv and plan.json there"},
    {.name = "json",
     .type = MSIM_OPTION_FLAG,
     .field = offsetof(struct settings, json),
     .help = "print JSON (schema mystique-sim/plan/1) instead of text"},
    MSIM_OPTION_THREADS_ROW(struct settings, threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim plan spec.json",
    "mystique-sim plan spec.json -o plan",
    "mpirun -n 4 mystique-sim plan spec.json -o plan",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "plan",
    .operands = "SPEC.json",
    .summary =
        "Predict every way to train a described model, or to run a traced "
        "step, on the\nGPUs of a spec: time, cost, memory; the frontier of "
        "time and cost, and a\nrecommendation (docs/plan.md). Of its "
        "platforms " MSIM_PLATFORM_STACK_HELP ".",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

/* ---- files --------------------------------------------------------------- */

/* What is written into one file of the folder. */
struct writer {
    const struct msim_plan *plan;
    const struct msim_spec *spec;
    const char *const *charts;
};

typedef enum msim_status write_part(const struct writer *w, FILE *out);

static enum msim_status write_points(const struct writer *w, FILE *out)
{
    msim_plan_csv(w->plan, w->spec, false, out);
    return MSIM_OK;
}

static enum msim_status write_frontier(const struct writer *w, FILE *out)
{
    msim_plan_csv(w->plan, w->spec, true, out);
    return MSIM_OK;
}

static enum msim_status write_json(const struct writer *w, FILE *out)
{
    return msim_plan_json(w->plan, w->spec, out);
}

static enum msim_status write_html(const struct writer *w, FILE *out)
{
    msim_plan_html(w->plan, w->spec, w->charts, out);
    return MSIM_OK;
}

static enum msim_status write_file(const struct writer *w, const char *folder,
                                   const char *name, write_part *part,
                                   struct msim_error *err)
{
    char path[1200], *text = NULL;
    size_t size = 0;
    struct msim_file *file;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status;

    if (!out)
        return MSIM_ENOMEM;
    snprintf(path, sizeof(path), "%.1024s/%s", folder, name);
    status = part(w, out);
    if (fclose(out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = msim_file_open(&file, path, false, err);
    if (status == MSIM_OK) {
        status = msim_file_write(file, text, size);
        if (status == MSIM_OK)
            status = msim_file_commit(file, err);
        else
            msim_file_abandon(file);
    }
    free(text);
    return status;
}

/* ---- charts -------------------------------------------------------------- */

/* The SVG without its XML header, which HTML does not want; NULL: none. */
static char *read_svg(const char *path)
{
    char *text = NULL, *svg, *own = NULL;
    size_t size;
    FILE *in = fopen(path, "r"),
         *out = in ? open_memstream(&text, &size) : NULL;
    int c;

    while (out && (c = getc(in)) != EOF)
        putc(c, out);
    if (out && fclose(out) == 0 && (svg = strstr(text, "<svg")))
        own = strdup(svg);
    if (in)
        fclose(in);
    free(text);
    return own;
}

/* Charts stand in the folder, too. Without gnuplot there are none, and a
 * message says so once. */
static void draw_charts(const struct msim_plan *plan,
                        const struct msim_spec *spec, const char *folder,
                        char **charts)
{
    for (size_t i = 0; i < MSIM_PLAN_CHARTS; i++) {
        struct msim_error why = {0};
        char path[1200];

        if (spec->traced && msim_plan_charts[i].described)
            continue;
        snprintf(path, sizeof(path), "%.1024s/%s", folder,
                 msim_plan_charts[i].file);
        if (msim_plan_charts[i].draw(plan, spec, path, &why) != MSIM_OK) {
            msim_message("warning: no charts: %s", why.text);
            return;
        }
        charts[i] = read_svg(path);
    }
}

/* Without WeasyPrint the page is there all the same. */
static void write_pdf(const char *folder)
{
    struct msim_error why = {0};
    char html[1200], pdf[1200];

    snprintf(html, sizeof(html), "%.1024s/report.html", folder);
    snprintf(pdf, sizeof(pdf), "%.1024s/report.pdf", folder);
    if (msim_plan_pdf(html, pdf, &why) != MSIM_OK)
        msim_message("note: no report.pdf: %s", why.text);
}

static enum msim_status write_folder(const struct msim_plan *plan,
                                     const struct msim_spec *spec,
                                     const char *folder, struct msim_error *err)
{
    char *charts[MSIM_PLAN_CHARTS] = {NULL};
    struct writer w = {plan, spec, (const char *const *)charts};
    enum msim_status status = MSIM_OK;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "cannot be made: %s", strerror(errno));
    if (plan->n > 0)
        draw_charts(plan, spec, folder, charts);
    status = write_file(&w, folder, "points.csv", write_points, err);
    if (status == MSIM_OK)
        status = write_file(&w, folder, "frontier.csv", write_frontier, err);
    if (status == MSIM_OK)
        status = write_file(&w, folder, "plan.json", write_json, err);
    if (status == MSIM_OK)
        status = write_file(&w, folder, "report.html", write_html, err);
    if (status == MSIM_OK)
        write_pdf(folder);
    for (int i = 0; i < MSIM_PLAN_CHARTS; i++)
        free(charts[i]);
    return status;
}

/* ---- the verb ------------------------------------------------------------ */

static enum msim_status report(const struct msim_plan *plan,
                               const struct msim_spec *spec,
                               const struct settings *s, struct msim_error *err)
{
    if (s->folder)
        MSIM_TRY(write_folder(plan, spec, s->folder, err));
    if (s->json)
        return msim_plan_json(plan, spec, stdout);
    msim_plan_text(plan, spec, stdout);
    if (s->folder)
        msim_print(stdout,
                   "\nwritten: %s/report.html, points.csv, frontier.csv, "
                   "plan.json\n",
                   s->folder);
    return MSIM_OK;
}

/* ---- several processes ----------------------------------------------------
 */

/* A number that the launcher of parallel programs sets; `otherwise` without
 * one. */
static uint32_t launched(const char *open_mpi, const char *mpich,
                         uint32_t otherwise)
{
    const char *text = getenv(open_mpi);
    int64_t v;

    if (!text)
        text = getenv(mpich);
    return text && msim_decimal_int(text, strlen(text), &v) && v >= 0 &&
                   v < UINT32_MAX
               ? (uint32_t)v
               : otherwise;
}

static enum msim_status append(FILE *to, const char *path,
                               struct msim_error *err)
{
    FILE *in = fopen(path, "r");
    int c;

    if (!in)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "cannot be opened: %s", strerror(errno));
    while ((c = getc(in)) != EOF)
        putc(c, to);
    fclose(in);
    return MSIM_OK;
}

/* What makes the points what they are: the spec, the laws. */
static enum msim_status read_texts(char **text, const char *spec,
                                   const char *data, struct msim_error *err)
{
    enum msim_status status;
    char laws[1200];
    size_t size;
    FILE *to = open_memstream(text, &size);

    if (!to)
        return MSIM_ENOMEM;
    snprintf(laws, sizeof(laws), "%.1024s/laws/steps.json", data);
    status = append(to, spec, err);
    if (status == MSIM_OK)
        status = append(to, laws, err);
    return fclose(to) == 0 ? status : MSIM_ENOMEM;
}

/* With a folder points are kept in it until all are there. */
static enum msim_status open_share(struct msim_plan_share *share,
                                   const struct settings *s, char *folder,
                                   size_t size, struct msim_error *err)
{
    share->processes = launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
    share->process = launched("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0);
    if (!s->folder && share->processes > 1)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%u processes share a plan through its folder, want "
                         "'-o DIR', which all of them see",
                         share->processes);
    if (!s->folder)
        return MSIM_OK;
    snprintf(folder, size, "%.1024s/parts", s->folder);
    share->folder = folder;
    if ((mkdir(s->folder, 0777) != 0 && errno != EEXIST) ||
        (mkdir(folder, 0777) != 0 && errno != EEXIST))
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "cannot be made: %s", strerror(errno));
    return MSIM_OK;
}

static enum msim_status
search(struct msim_plan *plan, const struct msim_spec *spec, const char *data,
       const struct settings *s, const struct msim_plan_share *share,
       struct msim_traced_points *traced, struct msim_error *err)
{
    struct msim_plan_predictor predictor = msim_traced_predictor(traced);
    struct msim_progress progress;
    enum msim_status status;

    msim_progress_start(&progress, "predicting");
    status = msim_plan_search(plan, spec, data,
                              &(struct msim_plan_options){
                                  .threads = s->threads,
                                  .predictor = spec->traced ? &predictor : NULL,
                                  .traced = &traced->about,
                                  .share = share,
                                  .progress = msim_progress_parts,
                                  .ctx = &progress},
                              err);
    msim_progress_end(&progress);
    return status;
}

static enum msim_status make_plan(const char *file, const char *data,
                                  const struct settings *s,
                                  struct msim_error *err)
{
    struct msim_plan_share share = {0};
    struct msim_traced_points traced = {0};
    struct msim_plan plan = {0};
    struct msim_spec spec;
    char folder[1200], *text = NULL;
    enum msim_status status = msim_spec_read(&spec, file, data, err);

    if (status == MSIM_OK && spec.traced)
        status = msim_traced_points_open(&traced, &spec, data, err);
    if (status == MSIM_OK)
        status = open_share(&share, s, folder, sizeof(folder), err);
    if (status == MSIM_OK)
        status = read_texts(&text, file, data, err);
    share.text = text;
    if (status == MSIM_OK)
        status = search(&plan, &spec, data, s, share.folder ? &share : NULL,
                        &traced, err);
    if (status == MSIM_OK && share.process == 0)
        status = report(&plan, &spec, s, err);
    msim_plan_release(&plan);
    free(text);
    return status;
}

int msim_cmd_plan(int argc, char **argv)
{
    struct settings s = {.threads = 2};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    char data[1024];
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status = msim_datadir_find(data, sizeof(data), &err);
    if (status == MSIM_OK)
        status = make_plan(files.items[0], data, &s, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
