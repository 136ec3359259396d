/*
 * Traces loaded for a verb, as the library loads them; patterns of kernels that
 * are communication.
 */
#include "cli/cmd.h"

#include "tests/unit/cli/said.h"

static void test_communication__most(void)
{
    struct msim_load_options o = {.n_communication = 0};
    struct msim_error err = {0};

    CHECK_INT(msim_communication_parse(&o, "", &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--communication' is empty, want a name or a "
                        "pattern of kernels, such as 'mylib::exchange*'");
    for (uint32_t i = 0; i < MSIM_OWN_COMMS_MAX; i++)
        CHECK_INT(msim_communication_parse(&o, i ? "b" : "a", NULL), MSIM_OK);
    CHECK_INT(o.n_communication, 32);
    CHECK_STR(o.communication[0], "a");
    CHECK_STR(o.communication[31], "b");
    err = (struct msim_error){0};
    CHECK_INT(msim_communication_parse(&o, "c", &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "got more than 32 options '--communication'");
    CHECK_INT(o.n_communication, 32);
}

#define TRACES MSIM_DATA "/traces/"

/* All operands are read, and options are obeyed. */
static void test_job__of_operands(void)
{
    char one[] = TRACES "dlrm-ddp-2ranks", none[] = "no/such/trace";
    char *items[] = {one, none};
    struct msim_cli_operands files = {items, 1};
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *job = NULL;

    CHECK_INT(msim_load_job(&job, &files, &opt, &err), MSIM_OK);
    CHECK(job && job->n_ranks == 2);
    msim_job_free(job);
    opt.memory = 1;
    CHECK_INT(msim_load_job(&job, &files, &opt, &err), MSIM_ELIMIT);
    opt.memory = 0;
    err = (struct msim_error){0};
    files.n = 2;
    CHECK_INT(msim_load_job(&job, &files, &opt, &err), MSIM_EIO);
    CHECK_STR(err.file, none);
}

/* The data are the program's, whatever the settings say. */
static void test_prediction__of_the_data(void)
{
    const char *paths[] = {TRACES "resnet"};
    struct msim_predict_settings s = {.data = "no/such/folder",
                                      .paths = paths,
                                      .n_paths = 1,
                                      .load = {.threads = 1},
                                      .platform = "a100"};
    struct msim_error err = {0};
    struct msim_inputs in;
    struct msim_target to;

    setenv("MSIM_DATA", MSIM_DATA, 1);
    CHECK_INT(msim_load_prediction(&in, &to, &s, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK(in.job && in.job->n_ranks == 1);
    msim_target_release(&to);
    msim_inputs_release(&in);
    setenv("MSIM_DATA", "no/such/folder", 1);
    memset(&in, 1, sizeof(in));
    memset(&to, 1, sizeof(to));
    CHECK_INT(msim_load_prediction(&in, &to, &s, &err), MSIM_EUNKNOWN);
    CHECK_STR(err.text, "the environment's MSIM_DATA is 'no/such/folder', want "
                        "a folder that holds platforms/");
    msim_target_release(&to); /* of what was not loaded, too */
    msim_inputs_release(&in);
}

int main(void)
{
    RUN(test_communication__most);
    RUN(test_job__of_operands);
    RUN(test_prediction__of_the_data);
    return check_summary();
}
