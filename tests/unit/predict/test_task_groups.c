/*
 * tests/unit/predict/test_task_groups.c - groups of work divide it: families
 * and streams the work of GPUs, links what is moved, parts the host.
 */
#include "predict/pipeline.h"

#include "tests/check.h"

static const char *const SMALL[] = {MSIM_DATA "/traces/dlrm-ddp-2ranks"};

struct made {
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_basis *basis;
};

static bool make(struct made *m, const char *const *path, const char *platform,
                 uint32_t nodes)
{
    struct msim_error err = {0};

    memset(m, 0, sizeof(*m));
    m->s = (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = path,
                                          .n_paths = 1,
                                          .load = {.threads = 1},
                                          .platform = platform,
                                          .nodes = nodes,
                                          .groups = true,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
    return CHECK_INT(msim_predict_load(&m->in, &m->to, &m->s, &err), MSIM_OK) &&
           CHECK_INT(msim_basis_new(&m->basis, &m->s, &m->in, &m->to, &err),
                     MSIM_OK);
}

static void done(struct made *m)
{
    msim_basis_free(m->basis);
    msim_target_release(&m->to);
    msim_inputs_release(&m->in);
}

static msim_ps time_of(const struct made *m, const char *kind, const char *word)
{
    struct msim_scale scale;
    char text[64];
    msim_ps time = -1;

    snprintf(text, sizeof(text), "%s%s=1", kind, word);
    if (CHECK_INT(msim_scale_parse(&scale, text, NULL), MSIM_OK))
        CHECK_INT(
            msim_scale_time(&time, &scale, m->basis->costs, m->basis->graph),
            MSIM_OK);
    return time;
}

static msim_ps links_of(const struct made *m)
{
    msim_ps sum = 0;

    for (int i = 0; i < MSIM_LINK_COUNT; i++)
        sum += time_of(m, "link:", msim_link_text((enum msim_link)i));
    return sum;
}

static msim_ps families_of(const struct made *m)
{
    msim_ps sum = 0;

    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        sum += time_of(m, "family:", msim_family_text((enum msim_family)i));
    return sum;
}

static msim_ps parts_of(const struct made *m)
{
    msim_ps sum = 0;

    for (int i = 0; i < MSIM_HOST_PART_COUNT; i++)
        sum += time_of(
            m, "host-part:", msim_host_part_text((enum msim_host_part)i));
    return sum;
}

/* No task is in two groups or in none: the sums are equal to the picosecond. */
static void check_sums(const struct made *m)
{
    msim_ps moved = time_of(m, "communication", "") + time_of(m, "copies", "");

    CHECK(moved > 0);
    CHECK_INT(links_of(m), moved);
    CHECK_INT(families_of(m), moved + time_of(m, "kernels", ""));
    CHECK_INT(time_of(m, "stream:", "*"), moved + time_of(m, "kernels", ""));
    CHECK_INT(parts_of(m), time_of(m, "host", ""));
}

static void test_task_groups__divide_the_work(void)
{
    struct made m;

    if (make(&m, SMALL, "a100", 0))
        check_sums(&m);
    done(&m);
}

/* As traced no law prices a kernel: families come from operators and names. */
static void test_task_groups__divide_traced_work(void)
{
    struct made m;

    SKIP_WITHOUT_TRACES();
    if (make(&m, (const char *const[]){MSIM_TRACES "/traces/torchrec-4xv100"},
             NULL, 0)) {
        check_sums(&m);
        CHECK(time_of(&m, "family:", "gemm") > 0);
        CHECK(time_of(&m, "host-part:", "allocation") > 0);
        CHECK(time_of(&m, "stream:", "7") > 0);
    }
    done(&m);
}

/* Two ranks on one node meet over its links, on two nodes over the network. */
static void test_task_groups__links_follow_nodes(void)
{
    struct made m;

    for (uint32_t nodes = 1; nodes <= 2; nodes++) {
        if (make(&m, SMALL, "a100", nodes)) {
            msim_ps all = time_of(&m, "communication", "");

            CHECK(all > 0);
            CHECK_INT(time_of(&m, "link:", "node"), nodes == 1 ? all : 0);
            CHECK_INT(time_of(&m, "link:", "network"), nodes == 1 ? 0 : all);
        }
        done(&m);
    }
}

/* One rank's share, and no more. */
static void test_task_groups__of_one_rank(void)
{
    struct made m;

    if (make(&m, SMALL, "a100", 0))
        CHECK_INT(time_of(&m, "family:gemm@", "0") +
                      time_of(&m, "family:gemm@", "1"),
                  time_of(&m, "family:", "gemm"));
    done(&m);
}

int main(void)
{
    RUN(test_task_groups__divide_the_work);
    RUN(test_task_groups__divide_traced_work);
    RUN(test_task_groups__links_follow_nodes);
    RUN(test_task_groups__of_one_rank);
    return check_summary();
}
