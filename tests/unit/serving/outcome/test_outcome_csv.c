/* serving/outcome/outcome_csv.c: requests and windows of a run that is made up,
 * as whole files. */
#include "serving/outcome/serving_outcome.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MS INT64_C(1000000000)

static struct msim_stage stages[] = {{.name = "web"}, {.name = "db,1"}};
static struct msim_app app = {.stages = stages, .n_stages = 2};
static struct msim_class_outcome classes[] = {{.name = "read"},
                                              {.name = "write"}};
static char text[2048];

/* With tokens, without, and one that never ends. */
static void test_outcome_csv__requests(void)
{
    const struct msim_served rows[] = {
        {.arrived = 1500 * MS,
         .ended = 1600 * MS,
         .first = 1510 * MS,
         .queued = 3 * MS,
         .cls = 1,
         .input_tokens = 100,
         .output_tokens = 10},
        {.arrived = 0, .ended = 2 * MS + MS / 2, .first = MSIM_TIME_NONE},
        {.arrived = 7,
         .ended = MSIM_TIME_NONE,
         .first = 9 * MS,
         .queued = MS,
         .input_tokens = 1,
         .output_tokens = 1}};
    struct msim_serving_outcome o = {
        .app = &app,
        .classes = classes,
        .run = {.requests = rows, .n_requests = 3}};
    FILE *out = fmemopen(text, sizeof(text), "w");

    REQUIRE(out != NULL);
    msim_serving_csv(&o, out);
    fclose(out);
    CHECK_STR(text,
              "t_s,class,input_tokens,output_tokens,queued_ms,ttft_ms,tpot_ms,"
              "e2e_ms\n"
              "1.500000000,write,100,10,3,10,10,100\n"
              "0.000000000,read,,,0,,,2.5\n"
              "0.000000000,read,1,1,,,,\n");
}

/* Windows of 0.2 s, a row a stage and one for all; what is not known is empty,
 * as is the pressure of a machine that there is none of. */
static void test_outcome_csv__windows(void)
{
    const struct msim_window_row rows[] = {
        {5, 1, 2, 0.5, 10, 20, 7, 3, 0.25},
        {4, 0, 0, 1, NAN, NAN, 8, 2, NAN},
        {6, 9, 0, NAN, 1234567.8, 30, NAN, NAN, NAN},
        {0, 0, 1, 0, NAN, NAN, NAN, NAN, NAN},
        {0, 0, 1, 0, NAN, NAN, NAN, NAN, NAN},
        {0, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN}};
    struct msim_serving_outcome o = {.app = &app,
                                     .run = {.windows = rows, .n_windows = 2}};
    char path[] = P_tmpdir "/msim-counters-XXXXXX";
    struct msim_error err = {0};
    int fd = mkstemp(path);
    FILE *f;

    REQUIRE(fd >= 0);
    close(fd);
    CHECK_INT(msim_serving_counters(&o, path, &err), MSIM_OK);
    memset(text, 0, sizeof(text));
    f = fopen(path, "r");
    REQUIRE(f != NULL);
    CHECK(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    CHECK_STR(text,
              "t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,"
              "wait_ms,psi_cpu,psi_mem,psi_io,net_ms\n"
              "0.2,web,5,1,0.5,2,10,20,7,3,,,,0.25\n"
              "0.2,\"db,1\",4,0,1,,,,8,2,,,,\n"
              "0.2,e2e,6,9,,,1.23457e+06,30,,,,,,\n"
              "0.4,web,0,0,0,1,,,,,,,,\n"
              "0.4,\"db,1\",0,0,0,1,,,,,,,,\n"
              "0.4,e2e,0,0,,,,,,,,,,\n");
    CHECK_INT(unlink(path), 0);
    CHECK_INT(msim_serving_counters(&o, "no/such/folder/x", &err), MSIM_EIO);
}

int main(void)
{
    RUN(test_outcome_csv__requests);
    RUN(test_outcome_csv__windows);
    return check_summary();
}
