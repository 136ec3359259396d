/*
 * tests/unit/core/rewrite/test_anatomy.c - statements and passes of a recorded
 * training.
 *
 * A training is written as its statements: f1 is of forward with number 1, n of
 * none, b1 of backward with number 1, b of none, o a step of the optimizer.
 * What was found is a letter of each, F, B, T for what is behind backward, or
 * O, and its pass.
 */
#include "core/rewrite/weave/weave.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define MOST 64 /* statements */

static struct made_node nodes[2 * MOST];
static size_t n_nodes;
static struct msim_job *job;
static struct msim_lives lives;
static struct msim_anatomy a;

static void add(const char *name, unsigned parent, int scope, int seq,
                const char *in, const char *out)
{
    nodes[n_nodes] = (struct made_node){
        (unsigned)n_nodes + 10, parent, name, scope, seq, in, out};
    n_nodes++;
}

static bool find(void)
{
    job = made_nodes(nodes, n_nodes);
    n_nodes = 0;
    return CHECK(job != NULL) &&
           CHECK(msim_lives_find(&lives, job->ranks[0]) == MSIM_OK) &&
           CHECK(msim_anatomy_find(&a, job->ranks[0], &lives) == MSIM_OK);
}

static void done(void)
{
    msim_anatomy_release(&a);
    msim_lives_release(&lives);
    msim_job_free(job);
}

static bool make(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool numbered = at[1] >= '0' && at[1] <= '9';
        unsigned node = (unsigned)n_nodes + 10;
        int seq = numbered ? at[1] - '0' : -1;

        if (*at == 'b') {
            add("autograd::engine::evaluate_function: B", 0, 0, -1, "", "");
            add("BBackward", node, 1, seq, "", "");
        } else if (*at == 'o') {
            add("Optimizer.step#Adam.step", 0, 7, -1, "", "");
            add("aten::add_", node, 0, -1, "1:5", "");
        } else {
            add(*at == 'f' ? "aten::linear" : "aten::neg", 0, 0, seq, "1:5",
                "");
        }
        at += numbered;
    }
    return find();
}

static void check_roles(const char *text, const char *want)
{
    struct spelled got = {"", 0};

    REQUIRE(make(text));
    for (uint32_t s = 0; s < a.n; s++) {
        spell(&got, "%c", "-FBTO"[a.rows[s].role]);
        if (a.rows[s].pass == MSIM_NONE)
            spell(&got, "-");
        else
            spell(&got, "%u", a.rows[s].pass);
    }
    if (!CHECK_STR(got.text, want))
        fprintf(stderr, "of '%s'\n", text);
    done();
}

static void test_anatomy__passes(void)
{
    static const char *const cases[][2] = {
        {"f1f2b2b1", "F0F0B0B0"},
        {"f1f2b2b1o", "F0F0B0B0O-"},
        /* behind backward: up to the step, or to the end */
        {"f1b1no", "F0B0T0O-"},
        {"f1b1n", "F0B0T0"},
        {"f1b1nonf2b2", "F0B0T0O-F1F1B1"},
        /* hooks are backward, eight of them */
        {"f1bnb", "F0B0B0B0"},
        {"f1bnnnnnnnnb", "F0B0B0B0B0B0B0B0B0B0B0"},
        {"f1bnnnnnnnnnb", "F0B0F1F1F1F1F1F1F1F1F1B1"},
        /* what is numbered is a pass of its own */
        {"f1b1f2b2", "F0B0F1B1"},
        {"f1b1nf2b2", "F0B0F1F1B1"},
        {"f1b1of2b2o", "F0B0O-F1B1O-"},
        /* a pass begins behind a step */
        {"of1b1", "O-F0B0"},
        {"f1of2b2", "F-O-F0B0"},
        {"f1b1nobf2b2", "F0B0T0O-B-F1B1"},
        {"f1f2", "F-F-"},
        {"b1o", "B-O-"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_roles(cases[i][0], cases[i][1]);
}

/* A trace of forward alone is one pass, if anything is in it. */
static void test_anatomy__forward_alone(void)
{
    REQUIRE(make("f1nf2"));
    CHECK_UINT(a.n_passes, 0);
    CHECK_INT(msim_anatomy_forward_pass(&a), MSIM_OK);
    REQUIRE(a.n_passes == 1);
    CHECK_UINT(a.passes[0].forward, 0);
    CHECK_UINT(a.passes[0].backward, 3);
    CHECK_UINT(a.passes[0].tail, 3);
    CHECK_UINT(a.passes[0].end, 3);
    CHECK_UINT(a.rows[2].pass, 0);
    done();
    a = (struct msim_anatomy){0};
    CHECK_INT(msim_anatomy_forward_pass(&a), MSIM_OK);
    CHECK_UINT(a.n_passes, 0);
}

static void test_anatomy__steps(void)
{
    REQUIRE(make("f1b1of2b2f3b3no"));
    CHECK_UINT(a.n_passes, 3);
    CHECK(msim_anatomy_steps_before(&a, 1));
    CHECK(!msim_anatomy_steps_before(&a, 2));
    CHECK(msim_anatomy_steps_before(&a, 3));
    done();
    REQUIRE(make("f1b1"));
    CHECK(!msim_anatomy_steps_before(&a, 1));
    done();
}

/* Backward with a number is of the last forward one whose own is not above. */
static void test_anatomy__numbers(void)
{
    static const uint32_t want[] = {MSIM_NONE, MSIM_NONE, MSIM_NONE, 2,
                                    0,         MSIM_NONE, MSIM_NONE, 0};
    static const int32_t seq[] = {-1, -1, -1, 9, 3, 0, -1, 2};
    static const int32_t least[] = {2, INT32_MAX, 4, 9, 3, 0, INT32_MAX, 2};
    uint32_t forward[8];

    REQUIRE(make("f2nf4b9b3b0bb2"));
    REQUIRE(a.n == 8);
    CHECK_INT(msim_anatomy_forward(&a, forward), MSIM_OK);
    for (uint32_t s = 0; s < 8; s++) {
        CHECK_UINT(forward[s], want[s]);
        CHECK_INT(msim_anatomy_sequence(&a, s), seq[s]);
        CHECK_INT(msim_anatomy_least_sequence(&a, s), least[s]);
        CHECK_UINT(a.statement[a.rows[s].op], s);
    }
    done();
}

/* ---- forward that runs again --------------------------------------------- */

static char texts[4 * MOST][24];
static size_t n_texts;

static const char *tensor(unsigned storage)
{
    char *to = texts[n_texts++];

    snprintf(to, sizeof(texts[0]), "%u:5", storage);
    return to;
}

static const char *name(unsigned i)
{
    char *to = texts[n_texts++];

    snprintf(to, sizeof(texts[0]), "aten::op%u", i);
    return to;
}

/* Twenty statements, each of which reads what the one before made; in backward
 * `n` of them once more, from `first` on, beginning with `given`. */
static bool make_again(unsigned first, unsigned n, unsigned given, bool empty)
{
    n_texts = 0;
    for (unsigned i = 0; i < 20; i++)
        add(name(i), 0, 0, (int)i, tensor(100 + i), tensor(101 + i));
    add("BBackward", 0, 1, 19, "", "");
    if (empty)
        add("aten::empty", 0, 0, -1, "", "300:5");
    for (unsigned i = first; i < first + n; i++)
        add(name(i), 0, 0, (int)(20 + i), tensor(i == first ? given : 200 + i),
            tensor(201 + i));
    add("BBackward", 0, 1, 9, "", "");
    return find();
}

/* A stretch from the middle, of more than eight and not nearly all, that reads
 * what forward has made. */
static void test_anatomy__again(void)
{
    static const struct {
        unsigned first, n, given;
        bool empty;
        uint32_t passes;
    } cases[] = {
        {4, 11, 104, false, 1}, {4, 12, 104, false, 2}, {4, 9, 104, false, 1},
        {4, 8, 104, false, 2},  {4, 11, 100, false, 2}, {0, 11, 104, false, 2},
        {1, 11, 104, false, 1}, {4, 11, 104, true, 1},  {9, 11, 109, false, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        REQUIRE(make_again(cases[i].first, cases[i].n, cases[i].given,
                           cases[i].empty));
        if (!CHECK_UINT(a.n_passes, cases[i].passes))
            fprintf(stderr, "case %zu\n", i);
        CHECK_INT(a.rows[25].role, cases[i].passes == 1 ? MSIM_ANATOMY_BACKWARD
                                                        : MSIM_ANATOMY_FORWARD);
        CHECK_UINT(a.rows[a.n - 1].pass, cases[i].passes - 1);
        CHECK_UINT(a.passes[a.n_passes - 1].tail, a.n);
        done();
    }
}

int main(void)
{
    RUN(test_anatomy__passes);
    RUN(test_anatomy__forward_alone);
    RUN(test_anatomy__steps);
    RUN(test_anatomy__numbers);
    RUN(test_anatomy__again);
    return check_summary();
}
