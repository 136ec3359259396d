/*
 * predict/whatif/select.c and sweep.c: selections that select nothing, and
 * lists of platforms that are none.
 */
#include "predict/whatif/whatif.h"

#include "tests/unit/made_job.h"

#include <stdlib.h>

static const char *const PATHS[] = {"made"};

/* Two operators on two streams, a label, and one that launches nothing. */
static struct made two_operators(void)
{
    struct made m = made_trace(0, 1);

    made_event(&m, "user_annotation", "forward", MADE_HOST, 1, 0, 100);
    made_add(&m, "}},");
    made_op(&m, 1, "aten::mm", 10, 20);
    made_call(&m, 1, "cudaLaunchKernel", 12, 2, 1);
    made_op(&m, 1, "aten::relu", 40, 20);
    made_call(&m, 1, "cudaLaunchKernel", 42, 2, 2);
    made_op(&m, 1, "aten::view", 70, 5);
    made_kernel(&m, 7, "gemm", 15, 20, 1);
    made_kernel(&m, 12, "relu_kernel", 45, 10, 2);
    return m;
}

struct asked {
    struct made_job j;
    struct msim_inputs in;
    struct msim_predict_settings s;
    struct msim_scale scale;
    struct msim_error err;
};

static bool begin(struct asked *a)
{
    struct made m = two_operators();

    memset(a, 0, sizeof(*a));
    if (!made_load(&a->j, &m, 1))
        return false;
    made_run(&a->j, (struct made_what){0});
    a->in.job = a->j.job;
    a->s.paths = PATHS;
    a->s.n_paths = 1;
    return true;
}

static enum msim_status check(struct asked *a)
{
    a->err = (struct msim_error){0};
    return msim_select_check(&a->s, &a->in, a->j.costs, a->j.graph, &a->err);
}

static enum msim_status check_scale(struct asked *a, const char *text)
{
    CHECK_INT(msim_scale_parse(&a->scale, text, NULL), MSIM_OK);
    a->s.scales = &a->scale;
    a->s.n_scales = 1;
    return check(a);
}

/* The nearest names come first, each once. */
static void test_select__patterns(void)
{
    struct asked a;

    REQUIRE(begin(&a));
    CHECK_INT(check_scale(&a, "op:aten::m*=0.5"), MSIM_OK);
    CHECK_INT(check_scale(&a, "host:aten::view=0.5"), MSIM_OK);
    CHECK_INT(check_scale(&a, "op:rel*=0.5"), MSIM_EUSAGE);
    CHECK_STR(a.err.text,
              "'op:rel*=0.5' selects nothing: no topmost operator with GPU "
              "work has a name that matches 'rel*'; near it are 'aten::relu', "
              "'aten::mm'");
    CHECK_STR(a.err.file, "made");
    CHECK_INT(check_scale(&a, "op:aten::view=0.5"), MSIM_EUSAGE);
    CHECK_INT(check_scale(&a, "host:vie?=0.5"), MSIM_EUSAGE);
    CHECK(strstr(a.err.text,
                 "no topmost operator with time on the host has a name that "
                 "matches 'vie?'; near it are 'aten::view'") != NULL);
    CHECK_UINT(a.j.job->n_warnings, 0);
    made_unload(&a.j);
}

static void test_select__streams(void)
{
    struct asked a;

    REQUIRE(begin(&a));
    CHECK_INT(check_scale(&a, "stream:7=0.5"), MSIM_OK);
    CHECK_INT(check_scale(&a, "stream:1=0.5"), MSIM_EUSAGE);
    CHECK_STR(a.err.text, "'stream:1=0.5' selects nothing: no stream '1' has "
                          "GPU work; there are 7 12");
    CHECK_INT(check_scale(&a, "stream:7@3=0.5"), MSIM_EUSAGE);
    CHECK_STR(a.err.text, "'stream:7@3=0.5' selects nothing: no stream '7' of "
                          "that rank has GPU work; there are 7 12");
    made_unload(&a.j);
}

/* A class of work that is not there is a warning; a rank that is not, an
 * error. */
static void test_select__classes(void)
{
    struct asked a;

    REQUIRE(begin(&a));
    CHECK_INT(check_scale(&a, "kernels=0.5"), MSIM_OK);
    CHECK_INT(check_scale(&a, "kernels@0=0.5"), MSIM_OK);
    CHECK_UINT(a.j.job->n_warnings, 0);
    CHECK_INT(check_scale(&a, "communication=0.5"), MSIM_OK);
    if (CHECK_UINT(a.j.job->n_warnings, 1))
        CHECK_STR(a.j.job->warnings[0],
                  "'--scale communication=0.5' has no effect: the job has none "
                  "of that work");
    CHECK_INT(check_scale(&a, "kernels@1=0.5"), MSIM_EUSAGE);
    CHECK_STR(a.err.text, "'kernels@1=0.5' selects nothing: no trace is of "
                          "rank 1, want one of those that 'info' lists");
    CHECK_INT(check_scale(&a, "copies@0=0.5"), MSIM_OK);
    CHECK_UINT(a.j.job->n_warnings, 2);
    made_unload(&a.j);
}

/* ---- a part -------------------------------------------------------------- */

static void test_select__parts(void)
{
    struct asked a;

    REQUIRE(begin(&a));
    a.s.choice.subtree = "forward";
    CHECK_INT(check(&a), MSIM_OK);
    a.s.choice.subtree = "forwards";
    CHECK_INT(check(&a), MSIM_EUSAGE);
    CHECK(strstr(a.err.text,
                 "'--subtree forwards' selects nothing: no operator or label "
                 "has a name that matches; near it are 'forward'") ==
          a.err.text);
    a.s.choice = (struct msim_choice){.ops = "aten::rel?"};
    CHECK_INT(check(&a), MSIM_OK);
    a.s.choice.ops = "forward"; /* labels are no operators */
    CHECK_INT(check(&a), MSIM_EUSAGE);
    CHECK(strstr(a.err.text,
                 "'--ops forward' selects nothing: there is no file (a table) "
                 "of that name, and no operator has a name that matches; near "
                 "it are ") == a.err.text);
    CHECK(strstr(a.err.text, "'forward'") == NULL);
    a.s.choice = (struct msim_choice){.ops = "aten::mm", .exclude = "aten::m*"};
    CHECK_INT(check(&a), MSIM_EUSAGE);
    CHECK_STR(a.err.text,
              "the options choose no operator of the job, together");
    a.s.choice = (struct msim_choice){.exclude = "backward"};
    CHECK_INT(check(&a), MSIM_EUSAGE);
    CHECK(strstr(a.err.text,
                 "'--exclude backward' selects nothing: no "
                 "operator or label has a name that matches; ") == a.err.text);
    made_unload(&a.j);
}

/* ---- sweeps -------------------------------------------------------------- */

/* Names are looked at before any trace: there is none here. */
static void test_sweep__names(void)
{
    static const struct {
        const char *list, *what;
    } ROWS[] = {
        {"", "an empty name"},         {"a100,", "an empty name"},
        {",a100", "an empty name"},    {"a100,,h100", "an empty name"},
        {"a100,a100", "a name twice"}, {"a100,h100,a100", "a name twice"}};
    struct msim_predict_settings s = {
        .data = MSIM_DATA, .paths = PATHS, .n_paths = 1};
    struct msim_error err = {0};
    struct msim_sweep w = {.n = 0};
    char want[256];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        err = (struct msim_error){0};
        snprintf(want, sizeof(want),
                 "option '--platform' is '%s', which has %s; want NAME or "
                 "NAME,NAME,...",
                 ROWS[i].list, ROWS[i].what);
        CHECK_INT(msim_sweep_run(&w, ROWS[i].list, &s, &err), MSIM_EUSAGE);
        CHECK_STR(err.text, want);
        msim_sweep_release(&w);
    }
    err = (struct msim_error){0};
    CHECK_INT(msim_sweep_run(&w, "a100,a1000", &s, &err), MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "a1000") != NULL);
    msim_sweep_release(&w);
}

int main(void)
{
    RUN(test_select__classes);
    RUN(test_select__parts);
    RUN(test_select__patterns);
    RUN(test_select__streams);
    RUN(test_sweep__names);
    return check_summary();
}
