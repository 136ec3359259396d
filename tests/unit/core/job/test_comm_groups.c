/*
 * tests/unit/core/job/test_comm_groups.c - the ranks of process groups in a
 * file beside the traces, and kernels that are communication by their names.
 */
#include "core/job/job_internal.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-groups-XXXXXX";

static const char *at(const char *name)
{
    static char path[200];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");

    if (!CHECK(f != NULL))
        return;
    fputs(text, f);
    fclose(f);
}

static void check_is(const char *text, bool want)
{
    put("x.json", text);
    CHECK_INT(msim_comm_groups_is(at("x.json")), want);
    unlink(at("x.json"));
}

/* An object of lists of whole numbers from 0, of which none is empty. */
static void test_comm_groups__is(void)
{
    check_is("{\"0\": [0, 1], \"1\": [2]}", true);
    check_is("{\"0\": [2147483647]}", true);
    check_is("{\"0\": [2147483648]}", false);
    check_is("{\"0\": [0, -1]}", false);
    check_is("{\"0\": [0.5]}", false);
    check_is("{\"0\": [\"0\"]}", false);
    check_is("{\"0\": []}", false);
    check_is("{\"0\": [1], \"1\": []}", false);
    check_is("{\"0\": 1}", false);
    check_is("{}", false);
    check_is("[[0, 1]]", false);
    check_is("{\"0\": [0, 1]", false);
    check_is("", false);
    CHECK(!msim_comm_groups_is(at("none.json")));
    CHECK(!msim_comm_groups_is(folder));
}

/* 4 MiB and no more. */
static void test_comm_groups__size(void)
{
    for (size_t more = 0; more < 2; more++) {
        size_t size = ((size_t)4 << 20) + more;
        char *text = malloc(size + 1);

        REQUIRE(text != NULL);
        memset(text, ' ', size);
        memcpy(text, "{\"0\": [7]}", 10);
        text[size] = '\0';
        check_is(text, more == 0);
        free(text);
    }
}

/* ---- beside traces ------------------------------------------------------- */

struct made {
    struct msim_job *job;
    struct msim_trace *t;
};

/* A Chakra trace "DIR/et.0.et" with groups "0", "1" and "x", of which "1" lists
 * its ranks. */
static struct made make(enum msim_format format, const char *dir)
{
    static const char *const NAMES[] = {"0", "1", "x"};
    struct msim_job *job = calloc(1, sizeof(*job));
    struct msim_trace *t = calloc(1, sizeof(*t));
    struct msim_file_info *files = calloc(2, sizeof(*files));
    static char path[220];

    if (!CHECK(job && t && files))
        abort();
    snprintf(path, sizeof(path), "%s%set.0.et", dir, *dir ? "/" : "");
    msim_arena_init(&job->arena);
    CHECK_INT(msim_strtab_new(&job->strings), MSIM_OK);
    job->ranks = calloc(1, sizeof(t));
    if (!CHECK(job->ranks != NULL))
        abort();
    job->ranks[0] = t;
    job->n_ranks = 1;
    files[0] = (struct msim_file_info){.path = "no/k.json",
                                       .format = MSIM_FORMAT_KINETO};
    files[1] = (struct msim_file_info){.path = path, .format = format};
    job->files = files;
    job->n_files = 2;
    t->strings = job->strings;
    t->groups = calloc(3, sizeof(*t->groups));
    t->group_ranks = calloc(1, sizeof(*t->group_ranks));
    if (!CHECK(t->groups && t->group_ranks))
        abort();
    t->n_groups = 3;
    t->n_group_ranks = t->cap_group_ranks = 1;
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(msim_strtab_add(job->strings, NAMES[i], strlen(NAMES[i]),
                                  &t->groups[i].name),
                  MSIM_OK);
    t->group_ranks[0] = 9;
    t->groups[1].count = t->groups[1].size = 1;
    return (struct made){job, t};
}

static void check_taken(const struct made *m, bool taken)
{
    const struct msim_group *g = m->t->groups;

    CHECK_UINT(g[0].count, taken ? 3 : 0);
    CHECK_UINT(g[0].size, taken ? 3 : 0);
    CHECK_UINT(m->t->n_group_ranks, taken ? 4 : 1);
    if (taken && m->t->n_group_ranks == 4) {
        CHECK_UINT(g[0].first, 1);
        for (int i = 0; i < 3; i++)
            CHECK_INT(m->t->group_ranks[1 + i], 4 + i);
    }
    /* What lists its ranks keeps them; of "x" nothing is said. */
    CHECK_UINT(g[1].count, 1);
    CHECK_UINT(g[1].first, 0);
    CHECK_UINT(g[2].count, 0);
    CHECK_UINT(g[2].size, 0);
}

#define GROUPS "{\"0\": [4, 5, 6], \"1\": [1, 2]}"

static void test_comm_groups__beside(void)
{
    struct made m = make(MSIM_FORMAT_CHAKRA, folder);

    put("groups.json", GROUPS);
    put(".hidden.json", GROUPS);
    put("groups.txt", GROUPS);
    put("report.json", "{\"version\": 1}");
    put(".json", GROUPS);
    CHECK_INT(msim_comm_groups_take(m.job, NULL), MSIM_OK);
    check_taken(&m, true);
    CHECK_UINT(m.job->n_warnings, 0);
    msim_job_free(m.job);
    unlink(at(".hidden.json"));
    unlink(at("groups.txt"));
    unlink(at("report.json"));
    unlink(at(".json"));
}

/* A trace without a folder lies in the working directory. */
static void test_comm_groups__in_the_working_directory(void)
{
    struct made m = make(MSIM_FORMAT_CHAKRA, "");
    char *before = getcwd(NULL, 0);

    REQUIRE(before != NULL && chdir(folder) == 0);
    CHECK_INT(msim_comm_groups_take(m.job, NULL), MSIM_OK);
    check_taken(&m, true);
    msim_job_free(m.job);
    CHECK_INT(chdir(before), 0);
    free(before);
}

/* Other formats list their groups themselves. */
static void test_comm_groups__of_chakra_alone(void)
{
    struct made m = make(MSIM_FORMAT_ET, folder);

    CHECK_INT(msim_comm_groups_take(m.job, NULL), MSIM_OK);
    CHECK_INT(msim_comm_groups_take(m.job, at("groups.json")), MSIM_OK);
    check_taken(&m, false);
    msim_job_free(m.job);
}

/* Of several none is read, and it is said; but one may be named. */
static void test_comm_groups__several(void)
{
    struct made m = make(MSIM_FORMAT_CHAKRA, folder);
    char want[400];

    put("others.json", "{\"0\": [1]}");
    put("z.json", "{\"0\": [1]}");
    snprintf(want, sizeof(want),
             "3 files beside '%s' list process groups: name the one of this "
             "job with the traces, none is read",
             m.job->files[1].path);
    CHECK_INT(msim_comm_groups_take(m.job, NULL), MSIM_OK);
    check_taken(&m, false);
    if (CHECK_UINT(m.job->n_warnings, 1))
        CHECK_STR(m.job->warnings[0], want);
    CHECK_INT(msim_comm_groups_take(m.job, at("groups.json")), MSIM_OK);
    check_taken(&m, true);
    CHECK_UINT(m.job->n_warnings, 1);
    msim_job_free(m.job);
    unlink(at("others.json"));
    unlink(at("z.json"));
}

static void test_comm_groups__none(void)
{
    struct made m = make(MSIM_FORMAT_CHAKRA, folder);

    unlink(at("groups.json"));
    CHECK_INT(msim_comm_groups_take(m.job, NULL), MSIM_OK);
    check_taken(&m, false);
    CHECK_UINT(m.job->n_warnings, 0);
    msim_job_free(m.job);
}

/* ---- kernels that a pattern names ---------------------------------------- */

static void check_own(const char *pattern, const char *kinds,
                      const char *warning)
{
    static const char *const NAMES[] = {"mine_a", "gemm", "mine_b", "mine_a",
                                        "mine_c"};
    static const uint8_t KINDS[] = {MSIM_GPU_KERNEL, MSIM_GPU_KERNEL,
                                    MSIM_GPU_COMM, MSIM_GPU_KERNEL,
                                    MSIM_GPU_MEMCPY};
    struct made m = make(MSIM_FORMAT_KINETO, folder);
    struct msim_load_options opt = {.communication = {pattern},
                                    .n_communication = 1};

    m.t->gpu = calloc(5, sizeof(*m.t->gpu));
    REQUIRE(m.t->gpu != NULL);
    m.t->n_gpu = 5;
    for (uint32_t i = 0; i < 5; i++) {
        m.t->gpu[i].kind = KINDS[i];
        CHECK_INT(msim_strtab_add(m.job->strings, NAMES[i], strlen(NAMES[i]),
                                  &m.t->gpu[i].name),
                  MSIM_OK);
    }
    CHECK_INT(msim_job_own_comms(m.job, &opt), MSIM_OK);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(m.t->gpu[i].kind, kinds[i] - '0');
    CHECK_UINT(m.job->n_warnings, warning != NULL);
    if (m.job->n_warnings)
        CHECK_STR(m.job->warnings[0], warning);
    msim_job_free(m.job);
}

/* Kernels become communication (1), copies (2) stay what they are. */
static void test_own_comms__patterns(void)
{
    check_own("mine_*", "10112", NULL);
    check_own("*mm", "01102", NULL);
    check_own("mine_[ac]", "10112", NULL);
    check_own("mine_b", "00102", NULL); /* it was one before: found */
    check_own("mine", "00102",
              "option '--communication' is 'mine', which matches the name of "
              "no kernel");
    check_own("mine_c", "00102",
              "option '--communication' is 'mine_c', which matches the name "
              "of no kernel");
}

static void test_own_comms__no_pattern(void)
{
    struct made m = make(MSIM_FORMAT_KINETO, folder);
    struct msim_load_options opt = {.n_communication = 0};

    CHECK_INT(msim_job_own_comms(m.job, &opt), MSIM_OK);
    CHECK_UINT(m.job->n_warnings, 0);
    msim_job_free(m.job);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_summary();
    RUN(test_comm_groups__is);
    RUN(test_comm_groups__size);
    RUN(test_comm_groups__beside);
    RUN(test_comm_groups__in_the_working_directory);
    RUN(test_comm_groups__of_chakra_alone);
    RUN(test_comm_groups__several);
    RUN(test_comm_groups__none);
    RUN(test_own_comms__patterns);
    RUN(test_own_comms__no_pattern);
    rmdir(folder);
    return check_summary();
}
