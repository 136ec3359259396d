/*
 * tests/unit/predict/test_cost_choice.c - parts of a job add up to it.
 */
#include "predict/pipeline.h"

#include "tests/check.h"

static const char *const PATHS[] = {MSIM_DATA "/traces/dlrm-ddp-2ranks"};

struct made {
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_basis *basis;
};

static bool make(struct made *m, enum msim_cost_mode costs)
{
    struct msim_error err = {0};

    memset(m, 0, sizeof(*m));
    m->s = (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = PATHS,
                                          .n_paths = 1,
                                          .load = {.threads = 1},
                                          .costs = costs,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
    if (costs == MSIM_COSTS_MODEL)
        m->s.platform = "a100";
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

static struct msim_costs *part(const struct made *m,
                               const struct msim_choice *choice)
{
    const struct msim_graph *g = m->basis->graph;
    struct msim_costs *c;

    if (!CHECK_INT(msim_costs_scaled(&c, m->basis->costs, g, NULL, 0), MSIM_OK))
        return NULL;
    CHECK_INT(msim_costs_choose(c, g, choice), MSIM_OK);
    return c;
}

/* Every activity of a GPU is in one part, whole; the host's time is in all of
 * them together at least what it was, and a picosecond for each at most more.
 */
static void check_sum(const struct made *m, const struct msim_choice *choices,
                      uint32_t n)
{
    const struct msim_graph *g = m->basis->graph;
    const struct msim_costs *whole = m->basis->costs;
    struct msim_costs *parts[4];
    uint32_t wrong = 0, removed = 0;

    for (uint32_t p = 0; p < n; p++)
        REQUIRE((parts[p] = part(m, &choices[p])) != NULL);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps sum = 0;
        uint32_t in = 0;
        bool host = g->kind[t] < MSIM_TASK_KERNEL;

        for (uint32_t p = 0; p < n; p++) {
            sum += parts[p]->mid[t];
            in += !parts[p]->removed[t];
            removed += parts[p]->removed[t];
        }
        wrong += g->kind[t] != MSIM_TASK_JOIN &&
                 (!in || (!host && in != 1) || sum < whole->mid[t] ||
                  sum > whole->mid[t] + (host ? (msim_ps)n : 0));
    }
    CHECK_INT(wrong, 0);
    CHECK(removed > 0);
    for (uint32_t p = 0; p < n; p++)
        msim_costs_free(parts[p]);
}

static void test_cost_choice__parts_add_up(void)
{
    const struct msim_choice kinds[] = {{.kind = MSIM_CHOICE_COMPUTE},
                                        {.kind = MSIM_CHOICE_COMMUNICATION},
                                        {.kind = MSIM_CHOICE_COPIES}},
                             places[] = {{.subtree = "aten::linear"},
                                         {.exclude = "aten::linear"}};
    struct made m;

    if (make(&m, MSIM_COSTS_MODEL)) {
        check_sum(&m, kinds, 3);
        check_sum(&m, places, 2);
    }
    done(&m);
}

static void test_cost_choice__counts(void)
{
    const struct msim_choice all = {0}, none = {.ops = "nothing"};
    struct made m;
    uint32_t n;

    if (make(&m, MSIM_COSTS_MODEL)) {
        const struct msim_graph *g = m.basis->graph;
        uint32_t joins = 0;

        for (uint32_t t = 0; t < g->n_tasks; t++)
            joins += g->kind[t] == MSIM_TASK_JOIN;
        CHECK_INT(msim_choice_count(&n, &all, g), MSIM_OK);
        CHECK_INT(n, g->n_tasks - joins);
        CHECK_INT(msim_choice_count(&n, &none, g), MSIM_OK);
        CHECK_INT(n, 0);
    }
    done(&m);
}

/* Nothing is left but when the first rank begins, which the other follows. */
static void test_cost_choice__begins(void)
{
    const struct msim_choice none = {.ops = "nothing"};
    struct msim_costs *c;
    uint32_t left[2] = {0, 0};
    struct made m;

    if (make(&m, MSIM_COSTS_MEASURED) && (c = part(&m, &none))) {
        const struct msim_graph *g = m.basis->graph;
        msim_ps sum = 0;

        for (uint32_t i = 0; i < g->n_releases; i++)
            left[g->refs[g->releases[i].task].rank] +=
                !c->removed[g->releases[i].task];
        for (uint32_t t = 0; t < g->n_tasks; t++)
            sum += c->mid[t];
        CHECK_INT(sum, 0);
        CHECK_INT(left[0] + left[1], 1);
        msim_costs_free(c);
    }
    done(&m);
}

int main(void)
{
    RUN(test_cost_choice__parts_add_up);
    RUN(test_cost_choice__counts);
    RUN(test_cost_choice__begins);
    return check_summary();
}
