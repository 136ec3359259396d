/*
 * `plan` of a served model: what is printed, what is written, and where nothing
 * keeps the promises.
 */
#include "cli/plan/cli_plan_internal.h"

#include "tests/unit/cli/said.h"

#include <sys/stat.h>

static char folder[] = P_tmpdir "/msim-served-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* The lines of a file, which goes; -1: there is none. */
static int taken(const char *name)
{
    FILE *f = fopen(path_of(name), "r");
    int lines = 0;

    if (!f)
        return -1;
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    fclose(f);
    unlink(path_of(name));
    return lines;
}

/* Two GPUs, of which one costs more than it brings, and a limit. */
static cJSON *spec(double limit_ms)
{
    char text[700];

    snprintf(text, sizeof(text),
             "{\"workload\":\"serving\",\"model\":\"llama3-8b\",\"rate\":4,"
             "\"requests\":100,\"input_tokens\":100,\"output_tokens\":20,"
             "\"slo\":[{\"metric\":\"ttft\",\"percentile\":90,\"limit_ms\":%g}"
             "],\"platforms\":[{\"name\":\"h100\",\"price_per_gpu_hour\":2},"
             "{\"name\":\"a100\",\"price_per_gpu_hour\":9}],\"tp\":[1],"
             "\"max_num_seqs\":[16]}",
             limit_ms);
    return cJSON_Parse(text);
}

static enum msim_status planned(double limit_ms, const char *to, bool json,
                                struct said *s, struct msim_error *err)
{
    struct msim_plan_serving_how how = {
        .folder = to, .threads = 1, .json = json};
    enum msim_status status;

    *err = (struct msim_error){0};
    said_begin();
    status =
        msim_plan_serving(spec(limit_ms), "spec.json", MSIM_DATA, &how, err);
    said_end(s);
    return status;
}

static void test_plan__printed(void)
{
    struct msim_error err;
    struct said s;

    CHECK_INT(planned(1e5, NULL, false, &s, &err), MSIM_OK);
    CHECK(strstr(s.out, "h100") != NULL);
    CHECK(strstr(s.out, "written:") == NULL);
    CHECK_STR(s.err, "");
    CHECK_INT(planned(1e5, NULL, true, &s, &err), MSIM_OK);
    CHECK(strncmp(s.out, "{\n  \"schema\": \"mystique-sim/plan/serving/1\"",
                  43) == 0);
}

/* All points are written, and those of the frontier, which are fewer. */
static void test_plan__written(void)
{
    for (int json = 0; json < 2; json++) {
        struct msim_error err;
        struct said s;
        char line[160];
        int points, frontier;

        CHECK_INT(planned(1e5, folder, json, &s, &err), MSIM_OK);
        snprintf(line, sizeof(line),
                 "\nwritten: %s/report.html, points.csv, frontier.csv, "
                 "plan.json\n",
                 folder);
        CHECK_INT(strstr(s.out, line) != NULL, !json);
        points = taken("points.csv");
        frontier = taken("frontier.csv");
        CHECK(frontier >= 2 && points > frontier);
        CHECK(taken("plan.json") > 0);
        CHECK(taken("report.html") > 0);
        CHECK(strstr(s.err, "warning: no charts: ")); /* there is no gnuplot */
    }
}

/* The report is there all the same, and the reason is the error. */
static void test_plan__not_kept(void)
{
    struct msim_error err;
    struct said s;

    CHECK_INT(planned(1e-3, folder, false, &s, &err), MSIM_ECHECK);
    CHECK_STR(err.file, "spec.json");
    CHECK(err.text[0] != '\0');
    CHECK(s.out[0] != '\0');
    CHECK(strstr(s.err, "no charts") == NULL); /* none is drawn of nothing */
    CHECK(taken("points.csv") > 0);
    CHECK(taken("frontier.csv") >= 0);
    CHECK(taken("plan.json") > 0);
    CHECK(taken("report.html") > 0);
}

/* Before it takes time: what the spec says wrong, and files of others. */
static void test_plan__refused(void)
{
    struct msim_plan_serving_how how = {.threads = 1};
    struct msim_error err = {0};
    struct said s;
    FILE *f = fopen(path_of("plan.json"), "w");

    REQUIRE(f != NULL);
    fputs("mine", f);
    fclose(f);
    CHECK_INT(planned(1e5, folder, false, &s, &err), MSIM_EUSAGE);
    CHECK_STR(s.out, "");
    CHECK_INT(taken("plan.json"), 0);
    err = (struct msim_error){0};
    CHECK_INT(msim_plan_serving(cJSON_Parse("{\"workload\":\"serving\"}"),
                                "spec.json", MSIM_DATA, &how, &err),
              MSIM_EFORMAT);
    CHECK_STR(err.file, "spec.json");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("MSIM_DATA", MSIM_DATA, 1);
    setenv("MSIM_PYTHON", "/no/such/python", 1);
    setenv("PATH", "/no/such/folder", 1);
    RUN(test_plan__printed);
    RUN(test_plan__written);
    RUN(test_plan__not_kept);
    RUN(test_plan__refused);
    CHECK_INT(rmdir(folder), 0);
    return check_summary();
}
