/*
 * tests/unit/replay/fleet/test_report_selection.c - a selection made up, as
 * text and CSV: every word and figure.
 */
#include "replay/fleet/fleet.h"

#include "tests/check.h"

#include <stdlib.h>

#define GEMM MSIM_FAMILY_GEMM
#define CONV MSIM_FAMILY_CONV
#define NORM MSIM_FAMILY_NORM
#define COPY MSIM_FAMILY_COPY
#define IDLE MSIM_FAMILY_COUNT

/* Three jobs, of which the first and the last are chosen. */
struct made {
    struct msim_fleet fleet;
    struct msim_fleet_job jobs[3];
    struct msim_fleet_left left;
    struct msim_selection s;
    struct msim_chosen chosen[2];
    uint32_t by[3];
    double distance[3];
};

static void share(double *of, double gemm, double conv, double norm,
                  double copy, double idle)
{
    of[GEMM] = gemm;
    of[CONV] = conv;
    of[NORM] = norm;
    of[COPY] = copy;
    of[IDLE] = idle;
}

static void fill(struct made *m)
{
    static const char *const paths[] = {"runs/one/a.json", "runs/one/b.json",
                                        "runs/two.json", "runs/on cpu.json"};

    memset(m, 0, sizeof(*m));
    m->jobs[0] = (struct msim_fleet_job){.name = "runs/one",
                                         .paths = paths,
                                         .n_paths = 2,
                                         .ranks = 2,
                                         .gpu = "NVIDIA A100",
                                         .time = {.gpus = 2},
                                         .total_us = 6000,
                                         .weight = 0.5};
    m->jobs[1] = (struct msim_fleet_job){.name = "runs/two.json",
                                         .paths = paths + 2,
                                         .n_paths = 1,
                                         .ranks = 1,
                                         .gpu = "",
                                         .time = {.gpus = 1},
                                         .total_us = 3500,
                                         .weight = 0.3};
    m->jobs[2] = (struct msim_fleet_job){.name = "runs/on cpu.json",
                                         .paths = paths + 3,
                                         .n_paths = 1,
                                         .ranks = 1,
                                         .gpu = "",
                                         .time = {.cpus = 1},
                                         .total_us = 2500,
                                         .weight = 0.2};
    share(m->jobs[0].share, 0.4, 0.4, 0, 0.15, 0.05);
    share(m->jobs[1].share, 0.1, 0.1, 0.75, 0.05, 0);
    share(m->jobs[2].share, 0, 0.95, 0, 0.05, 0);
    m->left = (struct msim_fleet_left){"runs/bad.json", "it is none"};
    m->fleet = (struct msim_fleet){.jobs = m->jobs,
                                   .n_jobs = 3,
                                   .left_out = &m->left,
                                   .n_left_out = 1,
                                   .weighed_by = "traced time"};
    share(m->fleet.share, 0.25, 0.25, 0.25, 0.25, 0);
    m->chosen[0] = (struct msim_chosen){0, 0.75, 0.8, 2};
    m->chosen[1] = (struct msim_chosen){2, 0.25, 0.2, 1};
    m->by[1] = 0;
    m->by[2] = 1;
    m->distance[1] = 0.125;
    m->s = (struct msim_selection){.fleet = &m->fleet,
                                   .chosen = m->chosen,
                                   .n = 2,
                                   .stood_for_by = m->by,
                                   .distance = m->distance,
                                   .worst = CONV,
                                   .largest = 0.128};
    share(m->s.share, 0.25, 0.378, 0.222, 0, 0.15);
}

static void
check_written(const struct msim_selection *s,
              enum msim_status (*write)(const struct msim_selection *, FILE *),
              const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    CHECK_INT(write(s, out), MSIM_OK);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

/* Of kinds with one share the first is named first; the names are as many as
 * fit. */
static void test_selection__text(void)
{
    struct made m;

    fill(&m);
    check_written(&m.s, msim_selection_text,
                  "these 2 of 3 jobs stand for the fleet: shares of its time "
                  "within 12.8 points (conv)\n"
                  "\n"
                  "  job                                      weight  stands "
                  "for  jobs  its time\n"
                  "  one                                      75.0 %      80.0 "
                  "%     2  gemm 40 %, conv 40 %, copy 15 %\n"
                  "  on cpu.json                              25.0 %      20.0 "
                  "%     1  conv 95 %, copy 5 %\n"
                  "\n"
                  "  time of          fleet   selection  difference\n"
                  "  gemm            25.0 %      25.0 %        +0.0\n"
                  "  conv            25.0 %      37.8 %       +12.8\n"
                  "  norm            25.0 %      22.2 %        -2.8\n"
                  "  copy            25.0 %       0.0 %       -25.0\n"
                  "  idle             0.0 %      15.0 %       +15.0\n"
                  "\n"
                  "Jobs weigh their traced time; of 1 the device is the CPU; 1 "
                  "left out.\n"
                  "Their names go on from runs/.\n");
}

/* One of one; what a table says they weigh; no folder in common; a kind of less
 * than 5 % is not worth a word. */
static void test_selection__text_of_one(void)
{
    struct made m;

    fill(&m);
    m.fleet.n_jobs = m.s.n = 1;
    m.fleet.n_left_out = 0;
    m.fleet.weighed_by = "mine.csv";
    m.jobs[0].name = "a-name-of-a-job-that-is-longer-than-its-column-is";
    share(m.jobs[0].share, 0, 0, 0.6, 0, 0.0499);
    check_written(&m.s, msim_selection_text,
                  "this 1 of 1 job stands for the fleet: shares of its time "
                  "within 12.8 points (conv)\n"
                  "\n"
                  "  job                                      weight  stands "
                  "for  jobs  its time\n"
                  "  a-name-of-a-job-that-is-...s-column-is   75.0 %      80.0 "
                  "%     2  norm 60 %\n"
                  "\n"
                  "  time of          fleet   selection  difference\n"
                  "  gemm            25.0 %      25.0 %        +0.0\n"
                  "  conv            25.0 %      37.8 %       +12.8\n"
                  "  norm            25.0 %      22.2 %        -2.8\n"
                  "  copy            25.0 %       0.0 %       -25.0\n"
                  "  idle             0.0 %      15.0 %       +15.0\n"
                  "\n"
                  "Jobs weigh what 'mine.csv' says.\n");
    m.fleet.weighed_by = "job";
    check_written(&m.s, msim_selection_text,
                  "this 1 of 1 job stands for the fleet: shares of its time "
                  "within 12.8 points (conv)\n"
                  "\n"
                  "  job                                      weight  stands "
                  "for  jobs  its time\n"
                  "  a-name-of-a-job-that-is-...s-column-is   75.0 %      80.0 "
                  "%     2  norm 60 %\n"
                  "\n"
                  "  time of          fleet   selection  difference\n"
                  "  gemm            25.0 %      25.0 %        +0.0\n"
                  "  conv            25.0 %      37.8 %       +12.8\n"
                  "  norm            25.0 %      22.2 %        -2.8\n"
                  "  copy            25.0 %       0.0 %       -25.0\n"
                  "  idle             0.0 %      15.0 %       +15.0\n"
                  "\n"
                  "Every job weighs the same.\n");
}

static void test_selection__csv(void)
{
    struct made m;

    fill(&m);
    check_written(&m.s, msim_selection_csv,
                  "job,weight,selected_weight,stands_for_share,stood_for_by,"
                  "distance,device_time_us,gemm_share,attention_share,conv_"
                  "share,pointwise_share,reduction_share,softmax_share,norm_"
                  "share,embedding_share,copy_share,optimizer_share,moe_share,"
                  "collective_share,dispatch_share,other_share,idle_share\n"
                  "runs/one,0.5,0.75,0.8,runs/"
                  "one,0,6000,0.4,0,0.4,0,0,0,0,0,0.15,0,0,0,0,0,0.05\n"
                  "runs/two.json,0.3,0,0,runs/"
                  "one,0.125,3500,0.1,0,0.1,0,0,0,0.75,0,0.05,0,0,0,0,0,0\n"
                  "runs/on cpu.json,0.2,0.25,0.2,runs/on "
                  "cpu.json,0,2500,0,0,0.95,0,0,0,0,0,0.05,0,0,0,0,0,0\n");
}

int main(void)
{
    RUN(test_selection__text);
    RUN(test_selection__text_of_one);
    RUN(test_selection__csv);
    return check_summary();
}
