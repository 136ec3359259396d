/*
 * cli/plan/plan_folder.c - the folder that `plan -o` fills.
 */
#include "cli/plan/cli_plan_internal.h"

#include "cli/cmd.h"
#include "core/base/files.h"

#include <stdlib.h>
#include <string.h>

/* Stand before the last of what ends such a file; neither is shown. */
#define SVG_MARK "<!-- mystique-sim plan -->"
#define PDF_MARK "%% mystique-sim plan\n"

static const struct msim_folder_kind DATA[] = {
    {"points.csv", MSIM_PLAN_CSV_MARK}, {"frontier.csv", MSIM_PLAN_CSV_MARK},
    {"plan.json", MSIM_PLAN_JSON_MARK}, {"report.html", MSIM_PLAN_HTML_MARK},
    {"report.pdf", PDF_MARK},
};
#define DATA_KINDS (sizeof(DATA) / sizeof(DATA[0]))

struct kinds {
    struct msim_folder_kind of[DATA_KINDS + MSIM_PLAN_CHARTS];
};

static struct msim_folder_kinds all_kinds(struct kinds *k)
{
    memcpy(k->of, DATA, sizeof(DATA));
    for (size_t i = 0; i < MSIM_PLAN_CHARTS; i++)
        k->of[DATA_KINDS + i] =
            (struct msim_folder_kind){msim_plan_charts[i].file, SVG_MARK};
    return (struct msim_folder_kinds){k->of, sizeof(k->of) / sizeof(k->of[0])};
}

enum msim_status msim_plan_folder_look(const char *folder,
                                       struct msim_error *err)
{
    struct kinds k;
    struct msim_folder_kinds kinds = all_kinds(&k);

    return msim_folder_look(folder, &kinds, err);
}

/* ---- files --------------------------------------------------------------- */

struct writer {
    struct msim_folder folder;
    const struct msim_plan_files *files;
    char *charts[MSIM_PLAN_CHARTS]; /* SVG texts; NULL: none */
    struct msim_error *err;
};

/* What a part prints; `*text` is the caller's in any case. */
static enum msim_status print_part(const struct writer *w, msim_plan_part *part,
                                   char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);
    enum msim_status status =
        out ? part(w->files->ctx, (const char *const *)w->charts, out)
            : MSIM_ENOMEM;

    if (out && fclose(out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    return status;
}

static enum msim_status write_data(struct writer *w, const char *name,
                                   msim_plan_part *part)
{
    struct msim_file *file;
    char *text = NULL;
    size_t size = 0;
    enum msim_status status = print_part(w, part, &text, &size);

    if (status == MSIM_OK)
        status = msim_folder_file(&file, &w->folder, name, w->err);
    if (status == MSIM_OK)
        status =
            msim_file_close(file, msim_file_write(file, text, size), w->err);
    free(text);
    return status;
}

/* The bytes, with a mark before their last `end`. */
static enum msim_status write_marked(struct writer *w, const char *name,
                                     const char *bytes, size_t n,
                                     const char *mark, const char *end)
{
    size_t at = n, length = strlen(end);
    struct msim_file *file;
    enum msim_status status;

    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(bytes + i, end, length) == 0)
            at = i;
    MSIM_TRY(msim_folder_file(&file, &w->folder, name, w->err));
    status = msim_file_write(file, bytes, at);
    if (status == MSIM_OK)
        status = msim_file_write(file, mark, strlen(mark));
    if (status == MSIM_OK)
        status = msim_file_write(file, bytes + at, n - at);
    return msim_file_close(file, status, w->err);
}

/* ---- charts and paper ---------------------------------------------------- */

/* Without gnuplot there are none, and a message says so once. */
static enum msim_status draw_charts(struct writer *w)
{
    for (uint32_t i = 0; i < MSIM_PLAN_CHARTS; i++) {
        struct msim_error why = {0};
        enum msim_status status =
            w->files->draw(w->files->ctx, i, &w->charts[i], &why);

        if (status == MSIM_OK && !w->charts[i])
            continue;
        if (status == MSIM_EIO) {
            msim_message("warning: no charts: %s", why.text);
            return MSIM_OK;
        }
        if (status != MSIM_OK)
            return msim_fail(w->err, status, why.file, why.offset, "%s",
                             why.text);
        MSIM_TRY(write_marked(w, msim_plan_charts[i].file, w->charts[i],
                              strlen(w->charts[i]), SVG_MARK, "</svg>"));
    }
    return MSIM_OK;
}

/* Of the page as it is in the draft. Without WeasyPrint the page is there all
 * the same. */
static enum msim_status write_pdf(struct writer *w, const char *html)
{
    struct msim_error why = {0};
    enum msim_status status;
    char *pdf;
    size_t n;

    if (msim_plan_pdf(html, &pdf, &n, &why) != MSIM_OK) {
        msim_message("note: no report.pdf: %s; a browser prints report.html "
                     "alike",
                     why.text);
        return MSIM_OK;
    }
    status = write_marked(w, "report.pdf", pdf, n, PDF_MARK, "startxref");
    free(pdf);
    return status;
}

static enum msim_status write_page(struct writer *w)
{
    struct msim_file *file;
    char *text = NULL;
    size_t size = 0;
    enum msim_status status = print_part(w, w->files->html, &text, &size);

    if (status == MSIM_OK)
        status = msim_folder_file(&file, &w->folder, "report.html", w->err);
    if (status == MSIM_OK) {
        status = msim_file_write(file, text, size);
        if (status == MSIM_OK)
            status = write_pdf(w, msim_file_draft(file));
        status = msim_file_close(file, status, w->err);
    }
    free(text);
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status write_all(struct writer *w)
{
    MSIM_TRY(draw_charts(w));
    MSIM_TRY(write_data(w, "points.csv", w->files->points));
    MSIM_TRY(write_data(w, "frontier.csv", w->files->frontier));
    MSIM_TRY(write_data(w, "plan.json", w->files->json));
    return write_page(w);
}

enum msim_status msim_plan_folder_fill(const struct msim_plan_files *files,
                                       const char *folder,
                                       struct msim_error *err)
{
    struct writer w = {.files = files, .err = err};
    struct kinds k;
    struct msim_folder_kinds kinds = all_kinds(&k);
    enum msim_status status = msim_folder_begin(&w.folder, folder, &kinds, err);

    if (status == MSIM_OK)
        status = write_all(&w);
    for (size_t i = 0; i < MSIM_PLAN_CHARTS; i++)
        free(w.charts[i]);
    return msim_folder_end(&w.folder, status, err);
}

/* ---- of training, or a traced step --------------------------------------- */

struct planned {
    const struct msim_plan *plan;
    const struct msim_spec *spec;
};

static enum msim_status put_points(const void *ctx, const char *const *charts,
                                   FILE *out)
{
    const struct planned *p = ctx;

    (void)charts;
    msim_plan_csv(p->plan, p->spec, false, out);
    return MSIM_OK;
}

static enum msim_status put_frontier(const void *ctx, const char *const *charts,
                                     FILE *out)
{
    const struct planned *p = ctx;

    (void)charts;
    msim_plan_csv(p->plan, p->spec, true, out);
    return MSIM_OK;
}

static enum msim_status put_json(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    const struct planned *p = ctx;

    (void)charts;
    return msim_plan_json(p->plan, p->spec, out);
}

static enum msim_status put_html(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    const struct planned *p = ctx;

    msim_plan_html(p->plan, p->spec, charts, out);
    return MSIM_OK;
}

static enum msim_status draw(const void *ctx, uint32_t chart, char **svg,
                             struct msim_error *err)
{
    const struct planned *p = ctx;
    const struct msim_plan_chart *of = &msim_plan_charts[chart];

    if (p->plan->n == 0 || (p->spec->traced && of->described))
        return MSIM_OK;
    return of->draw(p->plan, p->spec, svg, err);
}

enum msim_status msim_plan_folder_write(const struct msim_plan *plan,
                                        const struct msim_spec *spec,
                                        const char *folder,
                                        struct msim_error *err)
{
    struct planned p = {plan, spec};

    return msim_plan_folder_fill(
        &(struct msim_plan_files){.ctx = &p,
                                  .points = put_points,
                                  .frontier = put_frontier,
                                  .json = put_json,
                                  .html = put_html,
                                  .draw = draw},
        folder, err);
}
