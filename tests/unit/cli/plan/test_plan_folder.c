/*
 * The folder that a plan fills, by parts that are made up; a shell script
 * stands in the place of the Python that makes the PDF.
 */
#include "cli/plan/cli_plan_internal.h"

#include "tests/unit/cli/said.h"

#include <dirent.h>
#include <sys/stat.h>

static char folder[] = P_tmpdir "/msim-plan-XXXXXX";
static char python[64], plan[64];

/* What parts and charts are to do. */
struct making {
    enum msim_status part, chart; /* MSIM_OK: there it is */
    int drawn;                    /* charts; the others are none */
};

/* ---- files --------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f != NULL);
    fputs(text, f);
    fclose(f);
    chmod(path, 0700);
}

/* A file of the plan; "" where there is none. */
static const char *text_of(const char *name)
{
    static char text[512];
    char path[320];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", plan, name);
    f = fopen(path, "r");
    n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

/* How many files are in the folder of the plan, which are removed. */
static int cleared(void)
{
    DIR *dir = opendir(plan);
    struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        char path[320];

        snprintf(path, sizeof(path), "%s/%s", plan, entry->d_name);
        if (entry->d_name[0] == '.' && unlink(path) == 0)
            continue; /* a lock */
        n += unlink(path) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* ---- parts --------------------------------------------------------------- */

static enum msim_status put(const struct making *m, const char *text, FILE *out)
{
    fputs(text, out);
    return m->part;
}

static enum msim_status put_points(const void *ctx, const char *const *charts,
                                   FILE *out)
{
    (void)charts;
    return put(ctx, "a" MSIM_PLAN_CSV_MARK "points\n", out);
}

static enum msim_status put_frontier(const void *ctx, const char *const *charts,
                                     FILE *out)
{
    (void)charts;
    return put(ctx, "a" MSIM_PLAN_CSV_MARK "frontier\n", out);
}

static enum msim_status put_json(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    (void)charts;
    return put(ctx, "{" MSIM_PLAN_JSON_MARK "1\"}\n", out);
}

static enum msim_status put_html(const void *ctx, const char *const *charts,
                                 FILE *out)
{
    for (int i = 0; i < MSIM_PLAN_CHARTS; i++)
        fprintf(out, "%s;", charts[i] ? charts[i] : "-");
    return put(ctx, MSIM_PLAN_HTML_MARK, out);
}

static enum msim_status draw(const void *ctx, uint32_t chart, char **svg,
                             struct msim_error *err)
{
    const struct making *m = ctx;
    char text[64];

    if (m->chart != MSIM_OK && chart == 1)
        return msim_fail(err, m->chart, "a.gp", 7, "no pen");
    if ((int)chart >= m->drawn)
        return MSIM_OK;
    snprintf(text, sizeof(text), "<svg></svg>%u</svg>\n", chart);
    *svg = strdup(text);
    return MSIM_OK;
}

static enum msim_status fill(const struct making *m, struct said *said,
                             struct msim_error *err)
{
    struct msim_plan_files files = {.ctx = m,
                                    .points = put_points,
                                    .frontier = put_frontier,
                                    .json = put_json,
                                    .html = put_html,
                                    .draw = draw};
    enum msim_status status;

    *err = (struct msim_error){0};
    said_begin();
    status = msim_plan_folder_fill(&files, plan, err);
    said_end(said);
    return status;
}

/* ---- tests --------------------------------------------------------------- */

#define SVG(n) "<svg></svg>" n "</svg>\n"

/* Marks stand before the last of what ends a file. */
static void test_fill__all(void)
{
    struct making m = {.drawn = 2};
    struct msim_error err;
    struct said s;

    write_file(python, "#!/bin/sh\nprintf '%%PDF startxref\\n1 startxref\\n2"
                       "\\n%%%%EOF'\n");
    CHECK_INT(fill(&m, &s, &err), MSIM_OK);
    CHECK_STR(s.err, "");
    CHECK_STR(text_of("points.csv"), "a" MSIM_PLAN_CSV_MARK "points\n");
    CHECK_STR(text_of("frontier.csv"), "a" MSIM_PLAN_CSV_MARK "frontier\n");
    CHECK_STR(text_of("plan.json"), "{" MSIM_PLAN_JSON_MARK "1\"}\n");
    CHECK_STR(text_of("report.html"),
              SVG("0") ";" SVG("1") ";-;-;" MSIM_PLAN_HTML_MARK);
    CHECK_STR(text_of("report.pdf"), "%PDF startxref\n1 %% mystique-sim plan\n"
                                     "startxref\n2\n%%EOF");
    CHECK_STR(text_of(msim_plan_charts[0].file),
              "<svg></svg>0<!-- mystique-sim plan --></svg>\n");
    CHECK_STR(text_of(msim_plan_charts[1].file),
              "<svg></svg>1<!-- mystique-sim plan --></svg>\n");
    CHECK_STR(text_of(msim_plan_charts[2].file), "");
    /* All of it is a plan's, and may be replaced; what is no more is gone. */
    CHECK_INT(msim_plan_folder_look(plan, &err), MSIM_OK);
    m.drawn = 1;
    write_file(python, "#!/bin/sh\necho no module >&2; exit 1\n");
    CHECK_INT(fill(&m, &s, &err), MSIM_OK);
    CHECK_STR(s.err, "mystique-sim: note: no report.pdf: WeasyPrint could not "
                     "make the PDF: no module; a browser prints report.html "
                     "alike\n");
    CHECK_STR(text_of(msim_plan_charts[1].file), "");
    CHECK_STR(text_of("report.pdf"), "");
    CHECK_INT(cleared(), 5);
}

/* Without gnuplot there are no charts, which is said once; what else goes wrong
 * with one leaves no file at all, and so does a part that fails. */
static void test_fill__not_all(void)
{
    struct making m = {.drawn = 4, .chart = MSIM_EIO};
    struct msim_error err;
    struct said s;

    CHECK_INT(fill(&m, &s, &err), MSIM_OK);
    CHECK(strncmp(s.err,
                  "mystique-sim: warning: no charts: no pen\n"
                  "mystique-sim: note: no report.pdf: ",
                  76) == 0);
    CHECK_STR(text_of("report.html"), SVG("0") ";-;-;-;" MSIM_PLAN_HTML_MARK);
    CHECK_INT(cleared(), 5);
    m.chart = MSIM_ELIMIT;
    CHECK_INT(fill(&m, &s, &err), MSIM_ELIMIT);
    CHECK_STR(err.text, "no pen");
    CHECK_STR(err.file, "a.gp");
    CHECK_INT(err.offset, 7);
    CHECK_INT(cleared(), 0);
    m = (struct making){.part = MSIM_ENOMODEL};
    CHECK_INT(fill(&m, &s, &err), MSIM_ENOMODEL);
    CHECK_INT(cleared(), 0);
}

/* A file of another one is not replaced. */
static void test_look__others(void)
{
    const char *names[] = {"points.csv",
                           "frontier.csv",
                           "plan.json",
                           "report.html",
                           "report.pdf",
                           msim_plan_charts[0].file,
                           msim_plan_charts[MSIM_PLAN_CHARTS - 1].file};
    struct making m = {.drawn = 0};
    struct msim_error err;
    struct said s;
    char path[128];

    CHECK_INT(msim_plan_folder_look("no/such/folder", NULL), MSIM_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", plan, names[i]);
        write_file(path, "mine");
        CHECK_INT(msim_plan_folder_look(plan, NULL), MSIM_EUSAGE);
        CHECK_INT(fill(&m, &s, &err), MSIM_EUSAGE);
        CHECK_STR(text_of(names[i]), "mine");
        CHECK_INT(cleared(), 1);
    }
    snprintf(path, sizeof(path), "%s/other.csv", plan);
    write_file(path, "mine");
    CHECK_INT(fill(&m, &s, &err), MSIM_OK);
    CHECK_STR(text_of("other.csv"), "mine");
    CHECK_INT(cleared(), 5);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(python, sizeof(python), "%s/python", folder);
    snprintf(plan, sizeof(plan), "%s/plan", folder);
    setenv("MSIM_PYTHON", python, 1);
    RUN(test_fill__all);
    RUN(test_fill__not_all);
    RUN(test_look__others);
    unlink(python);
    rmdir(plan);
    CHECK_INT(rmdir(folder), 0);
    return check_summary();
}
