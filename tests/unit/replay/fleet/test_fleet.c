/*
 * What jobs of a fleet weigh, and which files are jobs.
 */
#include "replay/fleet/fleet.h"

#include "tests/unit/made_kineto.h"
#include "tests/unit/replay/run/made_step.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-fleet-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][96];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");

    REQUIRE(f != NULL);
    fputs(text, f);
    fclose(f);
}

/* ---- weights ------------------------------------------------------------- */

/* Three jobs, of one kind of work each. */
static struct msim_fleet made(struct msim_fleet_job jobs[3])
{
    static const char *const NAMES[] = {"run/a.json", "run/b.json", "other"};
    struct msim_fleet fleet = {.jobs = jobs, .n_jobs = 3};

    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct msim_fleet_job){.name = NAMES[i], .weight = 7};
        jobs[i].share[i] = 1;
    }
    fleet.share[5] = 9; /* of an earlier weighing */
    msim_arena_init(&fleet.arena);
    return fleet;
}

static void check_weights(const struct msim_fleet *fleet, double a, double b,
                          double c)
{
    const double want[] = {a, b, c};

    for (int i = 0; i < 3; i++) {
        CHECK_REL(1 + fleet->jobs[i].weight, 1 + want[i], 1e-12);
        CHECK_REL(1 + fleet->share[i], 1 + want[i], 1e-12);
    }
    CHECK_REL(1 + fleet->share[5], 1, 1e-12);
}

static void test_weights__alike(void)
{
    struct msim_fleet_job jobs[3];
    struct msim_fleet fleet = made(jobs);

    msim_fleet_weigh_alike(&fleet);
    CHECK_STR(fleet.weighed_by, "job");
    check_weights(&fleet, 1.0 / 3, 1.0 / 3, 1.0 / 3);
    msim_arena_release(&fleet.arena);
}

static void test_weights__of_a_table(void)
{
    static const struct {
        const char *table;
        double a, b, c;
    } ROWS[] = {
        {"job,weight\nrun/a.json,3\nrun/b.json,1\n", 0.75, 0.25, 0},
        {"more,weight,job\nx,0,run/a.json\nx,5e2,other\n", 0, 0, 1},
        {"weight,job\n0.25,run/b.json\n0.25,other\n", 0, 0.5, 0.5},
        /* below 1, and of no row: nothing is added to them */
        {"weight,job\n0.5,run/a.json\n0.125,other\n", 0.8, 0, 0.2},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_fleet_job jobs[3];
        struct msim_fleet fleet = made(jobs);
        const char *path = path_of("weights.csv");

        write_file("weights.csv", ROWS[i].table);
        CHECK_INT(msim_fleet_weigh_by(&fleet, path, NULL), MSIM_OK);
        CHECK_STR(fleet.weighed_by, path);
        check_weights(&fleet, ROWS[i].a, ROWS[i].b, ROWS[i].c);
        msim_arena_release(&fleet.arena);
    }
    unlink(path_of("weights.csv"));
}

#define NO_NUMBER "the weight is no number from 0 on"
#define AGAIN     "the job has a weight already"

static void test_weights__refused(void)
{
    static const char *const ROWS[][2] = {
        {"name,weight\n", "has no column 'job'; want the columns job and "
                          "weight"},
        {"job,mass\n", "has no column 'weight'; want the columns job and "
                       "weight"},
        {"job,weight\nrun/c.json,1\n",
         "line 2: no job is called 'run/c.json', did you mean 'run/a.json'?"},
        {"job,weight\nother,1\nnothing like it,1\n",
         "line 3: no job is called 'nothing like it'; --csv lists their "
         "names"},
        {"job,weight\nother,1\nother,2\n", "line 3: " AGAIN},
        {"job,weight\nother,0\nother,2\n", "line 3: " AGAIN},
        {"job,weight\nother,x\n", "line 2: " NO_NUMBER},
        {"job,weight\nother,\n", "line 2: " NO_NUMBER},
        {"job,weight\nother,1x\n", "line 2: " NO_NUMBER},
        {"job,weight\nother,-1\n", "line 2: " NO_NUMBER},
        {"job,weight\nother,nan\n", "line 2: " NO_NUMBER},
        {"job,weight\nother,inf\n", "line 2: " NO_NUMBER},
        {"job,weight\n", "the weights sum to 0, want more than 0"},
        {"job,weight\nother,0\n", "the weights sum to 0, want more than 0"},
        {"job,weight\nother,1e308\nrun/a.json,1e308\n",
         "the weights sum to inf, want more than 0"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_fleet_job jobs[3];
        struct msim_fleet fleet = made(jobs);
        struct msim_error err = {0};

        write_file("weights.csv", ROWS[i][0]);
        CHECK_INT(msim_fleet_weigh_by(&fleet, path_of("weights.csv"), &err),
                  MSIM_EFORMAT);
        CHECK_STR(err.text, ROWS[i][1]);
        msim_arena_release(&fleet.arena);
    }
    unlink(path_of("weights.csv"));
}

/* ---- files --------------------------------------------------------------- */

/* A product whose kernel takes so long. */
static void write_rank(const char *name, int rank, int world, int us)
{
    struct made m = made_trace(rank, world);
    char *text;

    made_op(&m, 1, "aten::mm", 10, 20);
    made_call(&m, 1, "cudaLaunchKernel", 12, 2, 1);
    made_kernel(&m, 7, "gemm", 60, us, 1);
    text = made_text(&m);
    write_file(name, text);
    free(text);
    made_free(&m);
}

static void write_trace(const char *name, int us)
{
    write_rank(name, 0, 1, us);
}

static uint32_t seen, of, threads;

static void before(void *ctx, uint32_t i, uint32_t n)
{
    CHECK(ctx == &seen);
    CHECK_INT(i, seen++);
    of = n;
}

static enum msim_status load(struct msim_fleet **fleet,
                             const char *const *paths, uint32_t n,
                             struct msim_error *err)
{
    struct msim_fleet_options opt = {
        .load = {.threads = threads}, .before = before, .ctx = &seen};

    seen = of = 0;
    *err = (struct msim_error){0};
    return msim_fleet_load(fleet, paths, n, &opt, err);
}

/* Longest first; what is broken is left out, what is no trace or the same file
 * is not even that. */
static void test_load__a_folder(void)
{
    const char *paths[] = {folder, NULL};
    struct msim_error err;
    struct msim_fleet *fleet;

    write_trace("one.json", 100);
    write_trace("two.json", 300);
    write_file("broken.json", "{\"traceEvents\": [");
    write_file("note.json", "{\"by\": \"hand\"}");
    write_file("read.me", "{\"traceEvents\": []}");
    CHECK_INT(link(path_of("one.json"), path_of("same.json")), 0);
    paths[1] = path_of("two.json"); /* named, and found */
    for (uint32_t n = 1; n <= 2; n++) {
        CHECK_INT(load(&fleet, paths, n, &err), MSIM_OK);
        REQUIRE(fleet != NULL);
        CHECK_INT(seen, 4);
        CHECK_INT(of, 4);
        REQUIRE(fleet->n_jobs == 2 && fleet->n_left_out == 1);
        CHECK_STR(fleet->jobs[0].name, path_of("two.json"));
        CHECK_STR(fleet->jobs[1].name, path_of("one.json"));
        CHECK_REL(fleet->jobs[0].total_us, 300, 1e-12);
        CHECK_REL(fleet->jobs[0].weight, 0.75, 1e-12);
        CHECK_INT(fleet->jobs[0].ranks, 1);
        CHECK_INT(fleet->jobs[0].n_paths, 1);
        CHECK_INT(fleet->jobs[0].time.gpus, 1);
        CHECK_INT(fleet->n_files, 2);
        CHECK_STR(fleet->left_out[0].path, path_of("broken.json"));
        CHECK_STR(fleet->weighed_by, "traced time");
        msim_fleet_free(fleet);
    }
    msim_fleet_free(NULL);
    unlink(path_of("same.json"));
    unlink(path_of("read.me"));
    unlink(path_of("note.json"));
}

/* Ranks of one job, in the order of their numbers. */
static void test_load__ranks(void)
{
    const char *paths[] = {folder};
    struct msim_error err;
    struct msim_fleet *fleet;

    write_rank("a.json", 1, 2, 100);
    write_rank("b.json", 0, 2, 300);
    CHECK_INT(load(&fleet, paths, 1, &err), MSIM_OK);
    REQUIRE(fleet != NULL);
    CHECK_INT(fleet->n_jobs, 1);
    CHECK_STR(fleet->jobs[0].name, folder);
    CHECK_INT(fleet->jobs[0].ranks, 2);
    CHECK_INT(fleet->jobs[0].time.gpus, 2);
    CHECK_REL(fleet->jobs[0].total_us, 100 + 300, 1e-12);
    REQUIRE(fleet->jobs[0].n_paths == 2);
    CHECK_STR(fleet->jobs[0].paths[0], path_of("b.json"));
    CHECK_STR(fleet->jobs[0].paths[1], path_of("a.json"));
    msim_fleet_free(fleet);
    unlink(path_of("a.json"));
    unlink(path_of("b.json"));
}

/* The execution trace of a rank is of its job, behind what has times. */
static void test_load__execution_trace(void)
{
    const char *paths[] = {folder};
    char nodes[2048], text[4096];
    struct msim_error err;
    struct msim_fleet *fleet;

    made_node(nodes, sizeof(nodes), 2, 1, "aten::mm", 8, 16, 32);
    made_file(text, sizeof(text), nodes);
    write_file("a_et.json", text);
    write_trace("b_kineto.json", 100);
    CHECK_INT(load(&fleet, paths, 1, &err), MSIM_OK);
    REQUIRE(fleet != NULL);
    CHECK_INT(fleet->n_jobs, 1);
    CHECK_INT(fleet->n_left_out, 0);
    REQUIRE(fleet->jobs[0].n_paths == 2);
    CHECK_STR(fleet->jobs[0].paths[0], path_of("b_kineto.json"));
    CHECK_STR(fleet->jobs[0].paths[1], path_of("a_et.json"));
    CHECK_INT(fleet->jobs[0].ranks, 1);
    msim_fleet_free(fleet);
    unlink(path_of("b_kineto.json"));
    CHECK_INT(load(&fleet, paths, 1, &err), MSIM_EFORMAT); /* no times */
    unlink(path_of("a_et.json"));
}

/* A broken file of several is left out, as where a shell spelled them; one that
 * is alone, or not there, is an error. */
static void test_load__named(void)
{
    const char *paths[] = {path_of("broken.json"), path_of("one.json"),
                           path_of("none.json")};
    struct msim_error err;
    struct msim_fleet *fleet;

    CHECK_INT(load(&fleet, paths, 2, &err), MSIM_OK);
    REQUIRE(fleet != NULL);
    CHECK_INT(fleet->n_jobs, 1);
    CHECK_INT(fleet->n_left_out, 1);
    msim_fleet_free(fleet);
    CHECK(load(&fleet, paths, 1, &err) != MSIM_OK);
    CHECK(fleet == NULL && err.text[0]);
    CHECK_STR(err.file, paths[0]);
    CHECK_INT(load(&fleet, paths + 1, 2, &err), MSIM_EIO);
    CHECK(fleet == NULL);
}

/* Without a job the reason is that of the first file. */
static void test_load__nothing(void)
{
    const char *paths[] = {folder};
    struct msim_error err;
    struct msim_fleet *fleet;

    unlink(path_of("one.json"));
    unlink(path_of("two.json"));
    CHECK_INT(load(&fleet, paths, 1, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "no job with times: 1 left out, such as '"));
    CHECK(strstr(err.text, "broken.json': "));
    CHECK_STR(err.file, folder);
    unlink(path_of("broken.json"));
    write_file("note.json", "{\"by\": \"hand\"}");
    CHECK_INT(load(&fleet, paths, 1, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "no trace in 1 files, want Kineto (.json, .json.gz) or "
                        "Chakra (.et) with times");
    unlink(path_of("note.json"));
}

/* What finds no room beside others is read again alone, before it is left out:
 * in the order of paths. */
static void test_load__no_room(void)
{
    const char *paths[] = {folder};
    struct msim_fleet_options opt = {.load = {.threads = threads, .memory = 1}};
    struct msim_error err = {0};
    struct msim_fleet *fleet;

    write_trace("a.json", 100);
    write_trace("b.json", 100);
    CHECK_INT(msim_fleet_load(&fleet, paths, 1, &opt, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "no job with times: 2 left out, such as '"));
    CHECK(strstr(err.text, "a.json': the traces take more than"));
    unlink(path_of("a.json"));
    unlink(path_of("b.json"));
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    RUN(test_weights__alike);
    RUN(test_weights__of_a_table);
    RUN(test_weights__refused);
    for (threads = 1; threads < 4; threads++) {
        RUN(test_load__ranks);
        RUN(test_load__execution_trace);
        RUN(test_load__a_folder);
        RUN(test_load__named);
        RUN(test_load__nothing);
        RUN(test_load__no_room);
    }
    CHECK_INT(rmdir(folder), 0);
    return check_summary();
}
