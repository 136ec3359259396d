/*
 * tests/unit/replay/program/test_choice.c - which part of a traced run is
 * asked for.
 */
#include "core/trace/trace_steps.h"

#include "tests/unit/made_et.h"

#include <stdlib.h>

#define ALL_REDUCE                                                             \
    "c10d::allreduce_(Tensor[] tensors, "                                      \
    "__torch__.torch.classes.c10d.ProcessGroup process_group) -> (Tensor[], "  \
    "__torch__.torch.classes.c10d.Work)"

/* A label around two operators, a copy, a collective. */
static void make(struct made_et *m)
{
    et_node(m, 100, 0, 1, "layer 1", "", "");
    et_node(m, 101, 100, 1, ET_MM, "1:2x2 2:2x2", "7:2x2");
    et_node(m, 102, 100, 1, ET_RELU, "7:2x2", "8:2x2");
    et_op(m, 110, "aten::clone(Tensor self) -> Tensor", "8:2x2", "9:2x2");
    et_op(m, 120, ALL_REDUCE, "(9:2x2) -", "");
}

/* Letters of the operators that were chosen: m, r, c, a. */
static void check_choice(struct msim_choice c, const char *want)
{
    static const unsigned ids[] = {101, 102, 110, 120};
    struct made_et m = {0};
    struct made_program x;
    char got[5] = "";
    size_t n = 0;

    make(&m);
    REQUIRE(program_of(&m, &x, NULL, false));
    for (size_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < x.job->ranks[0]->n_ops; i++)
            if (x.job->ranks[0]->ops[i].et_id == ids[k] &&
                msim_choice_has(&c, x.job->ranks[0], i))
                got[n++] = "mrca"[k];
    CHECK_STR(got, want);
    program_done(&x);
}

static void test_choice__everything(void)
{
    struct msim_choice c = {0};

    CHECK(msim_choice_is_all(&c));
    check_choice(c, "mrca");
}

static void test_choice__by_name(void)
{
    check_choice((struct msim_choice){.ops = "aten::*"}, "mrc");
    check_choice((struct msim_choice){.ops = "aten::mm"}, "m");
    check_choice((struct msim_choice){.exclude = "aten::*"}, "a");
    check_choice((struct msim_choice){.ops = "aten::*", .exclude = "*::relu"},
                 "mc");
    check_choice((struct msim_choice){.ops = "mm"}, "");
}

static void test_choice__by_place(void)
{
    check_choice((struct msim_choice){.subtree = "layer*"}, "mr");
    check_choice((struct msim_choice){.subtree = "aten::mm"}, "m");
    check_choice((struct msim_choice){.subtree = "layer"}, "");
    check_choice((struct msim_choice){.from = 102, .to = 110}, "rc");
    check_choice((struct msim_choice){.from = 110}, "ca");
    check_choice((struct msim_choice){.to = 102}, "mr");
}

static void test_choice__by_kind(void)
{
    check_choice((struct msim_choice){.kind = MSIM_CHOICE_COMPUTE}, "mr");
    check_choice((struct msim_choice){.kind = MSIM_CHOICE_COPIES}, "c");
    check_choice((struct msim_choice){.kind = MSIM_CHOICE_COMMUNICATION}, "a");
    check_choice((struct msim_choice){.kind = MSIM_CHOICE_COPIES, .to = 102},
                 "");
}

/* Letters of what has marks of the choice: l is the label. */
static void check_marks(struct msim_choice c, const char *want)
{
    static const unsigned ids[] = {100, 101, 102, 110, 120};
    struct made_et m = {0};
    struct made_program x;
    const struct msim_trace *t;
    uint8_t *marks;
    char got[6] = "";
    size_t n = 0;

    make(&m);
    REQUIRE(program_of(&m, &x, NULL, false));
    t = x.job->ranks[0];
    REQUIRE(msim_choice_marks(&marks, &c, t) == MSIM_OK);
    for (size_t k = 0; k < 5; k++)
        for (uint32_t i = 0; i < t->n_ops; i++)
            if (t->ops[i].et_id == ids[k] &&
                msim_choice_takes(&c, marks[i], msim_choice_kind_of(marks[i])))
                got[n++] = "lmrca"[k];
    CHECK_STR(got, want);
    free(marks);
    program_done(&x);
}

/* What is chosen or left out takes along what is nested in it. */
static void test_choice__nested(void)
{
    check_marks((struct msim_choice){.subtree = "layer*"}, "lmr");
    check_marks((struct msim_choice){.exclude = "layer*"}, "ca");
    check_marks((struct msim_choice){.ops = "layer*"}, "");
    check_marks((struct msim_choice){.ops = "aten::*"}, "mrc");
    check_marks((struct msim_choice){.from = 100, .to = 101}, "m");
    check_marks((struct msim_choice){.kind = MSIM_CHOICE_COMPUTE}, "lmr");
    check_marks((struct msim_choice){.kind = MSIM_CHOICE_COPIES}, "c");
    check_marks((struct msim_choice){.kind = MSIM_CHOICE_COMMUNICATION}, "a");
    check_marks((struct msim_choice){.subtree = "layer*", .exclude = "*mm"},
                "lr");
}

/* Each setting alone makes it a part. */
static void test_choice__is_a_part(void)
{
    struct msim_choice c[] = {{.subtree = "x"}, {.ops = "x"},
                              {.exclude = "x"}, {.from = 1},
                              {.to = 1},        {.kind = MSIM_CHOICE_COMPUTE}};

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++)
        CHECK(!msim_choice_is_all(&c[i]));
}

int main(void)
{
    RUN(test_choice__everything);
    RUN(test_choice__by_name);
    RUN(test_choice__by_place);
    RUN(test_choice__by_kind);
    RUN(test_choice__nested);
    RUN(test_choice__is_a_part);
    return check_summary();
}
