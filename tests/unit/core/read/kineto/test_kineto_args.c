/*
 * tests/unit/core/read/kineto/test_kineto_args.c - the inputs of operators out
 * of lists of sizes, types and values.
 */
#include "tests/unit/loaded_kineto.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

/* An operator that says `args`. */
static struct msim_job *load_op(const char *args)
{
    struct made m = made_trace(0, 1);

    made_event(&m, "cpu_op", "op", 1, 1, 0, 9);
    made_add(&m, "%s}},", args);
    return load_made(&m);
}

/* One input of each type, with sizes and a value. */
static void test_kineto_args__types(void)
{
    static const struct {
        const char *type, *sizes, *value, *want;
    } ROWS[] = {
        {"", "[]", "5", "5"},
        {"", "[]", "", "-"},
        {"Scalar", "[]", "2.5", "2.5r"},
        {"Int", "[]", "-7", "-7"},
        {"Bool", "[]", "False", "false"},
        {"Double", "[]", "0.5", "0.5r"},
        {"String", "[]", "mean", "'mean'"},
        {"Device", "[]", "cuda:0", "'cuda:0'"},
        {"None", "[]", "None", "-"},
        {"Generator", "[]", "", "-"},
        {"Object", "[]", "", "-"},
        {"ScalarList", "[]", "[1, 2]", "L2:2 1 2"},
        {"GenericList", "[]", "[]", "L0:0"},
        {"TensorList", "[[2,3],[4]]", "", "L2:2 unknown[2,3] unknown[4]"},
        {"TensorList", "[]", "", "L0:0"},
        {"float", "[2]", "", "fp32[2]"},
        {"double", "[2]", "", "fp64[2]"},
        {"c10::Half", "[2]", "", "fp16[2]"},
        {"c10::BFloat16", "[2]", "", "bfloat16[2]"},
        {"long int", "[2]", "", "int64[2]"},
        {"long", "[2]", "", "int64[2]"},
        {"int", "[2]", "", "int32[2]"},
        {"bool", "[2]", "", "bool[2]"},
        {"unsigned char", "[2]", "", "uint8[2]"},
        {"c10::complex<float>", "[2]", "", "complex64[2]"},
        {"float", "[]", "", "fp32[]"},
        {"float", "[-1,2]", "", "fp32[0,2]"}, /* no size is below 0 */
        {"float", "[[1],[2]]", "", "L2:2 unknown[1] unknown[2]"},
        /* what nobody knows is of an element where it has sizes */
        {"my::type", "[4]", "", "odd[4]"},
        {"my::type", "[]", "", "unknown[]"},
        /* a list where a scalar is said is one value */
        {"Scalar", "[]", "[1, 2]", "'[1, 2]'"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_job *job;
        char args[256];

        snprintf(args, sizeof(args),
                 "\"Input Dims\":[%s],\"Input type\":[\"%s\"],\"Concrete "
                 "Inputs\":[\"%s\"]",
                 ROWS[i].sizes, ROWS[i].type, ROWS[i].value);
        job = load_op(args);
        REQUIRE(job);
        CHECK_ARGS(job->ranks[0], job->ranks[0]->ops[0].args, ROWS[i].want);
        CHECK_INT(warned(job, "my::type"), !strcmp(ROWS[i].sizes, "[4]"));
        msim_job_free(job);
    }
}

/* Values are written in Python's way. */
static void test_kineto_args__values(void)
{
    static const struct {
        const char *value, *want;
    } ROWS[] = {
        {"None", "-"},
        {"True", "true"},
        {"False", "false"},
        {"Nones", "'Nones'"},
        {"Tru", "'Tru'"},
        {"12", "12"},
        {"1e3", "1000r"},
        {"inf", "infr"},
        {"nan", "nanr"},
        {"\\\"a\\\"", "'a'"},
        {"'a'", "'a'"},
        {"\\\"\\\"", "''"},
        {"'a\\\"", "''a\"'"},
        {"'", "'''"},
        {"xax", "'xax'"},
        {"[]", "L0:0"},
        {"[7]", "L1:1 7"},
        {"[ 7 , True,None , x]", "L4:4 7 true - 'x'"},
        {"[1,]", "L1:1 1"},
        {"[,1]", "L2:2 - 1"},
        {"[1, [2]]", "'[1, [2]]'"},
        {"[", "'['"},
        {"[1", "'[1'"},
        {"1]", "'1]'"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_job *job;
        char args[128];

        snprintf(args, sizeof(args),
                 "\"Input type\":[\"ScalarList\"],\"Concrete Inputs\":[\"%s\"]",
                 ROWS[i].value);
        job = load_op(args);
        REQUIRE(job);
        CHECK_ARGS(job->ranks[0], job->ranks[0]->ops[0].args, ROWS[i].want);
        msim_job_free(job);
    }
}

/* Lists of other lengths: as many inputs as the longest has. */
static void test_kineto_args__lists_side_by_side(void)
{
#define DIMS(list)   "\"Input Dims\":" list
#define TYPES(list)  ",\"Input type\":" list
#define VALUES(list) ",\"Concrete Inputs\":" list
    static const struct {
        const char *args, *want;
        int untyped;
    } ROWS[] = {
        {DIMS("[]"), "", 0},
        {DIMS("[[1],[2,3]]"), "unknown[1] unknown[2,3]", 2},
        {DIMS("[[1],[]]") TYPES("[\"float\"]"), "fp32[1] -", 0},
        {DIMS("[[1]]") TYPES("[\"float\",\"int\",\"Int\"]"),
         "fp32[1] int32[] -", 0},
        {DIMS("[[]]") VALUES("[\"3\",\"[4]\"]"), "3 L1:1 4", 0},
        {DIMS("[[5]]") VALUES("[\"3\"]"), "unknown[5]", 1},
        {DIMS("[[[6],[7]]]"), "L2:2 unknown[6] unknown[7]", 1},
        {DIMS("[[[],[7]]]") TYPES("[\"TensorList\"]"),
         "L2:2 unknown[] unknown[7]", 0},
        {DIMS("[[[[6]],[7,8]]]") TYPES("[\"TensorList\"]"),
         "L2:2 unknown[6] unknown[7,8]", 0},
        {DIMS("[7,[2]]") TYPES("[\"float\",\"float\"]"), "fp32[] fp32[2]", 0},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_job *job = load_op(ROWS[i].args);

        REQUIRE(job);
        CHECK_ARGS(job->ranks[0], job->ranks[0]->ops[0].args, ROWS[i].want);
        CHECK_INT(warned(job, "type"), ROWS[i].untyped > 0);
        msim_job_free(job);
    }
}

/* Numbers in strings, and texts that only tell threads apart. */
static void test_kineto_args__numbers_in_strings(void)
{
    static const struct {
        const char *tid;
        int64_t want;
    } ROWS[] = {
        {"7", 7},
        {"\"7\"", 7},
        {"\"\"", 0},
        {"\"stream 8\"", 8},
        {"\"stream -8\"", -8},
        {"7.9", 7},
        {"-7.9", -7},
        {"1e3", 1000},
        {"8999999999999998976.0", INT64_C(8999999999999998976)},
        {"-8999999999999998976.0", -INT64_C(8999999999999998976)},
    };
    /* No numbers: below 0, and each its own. */
    static const char *const TEXTS[] = {
        "\"stream \"", "\"stream x\"", "\"main\"",   "1e300",
        "-1e300",      "9e18",         "\"stream\"", "\"streams 9\""};
    int64_t got[LENGTH(TEXTS)];

    for (size_t i = 0; i < LENGTH(ROWS) + LENGTH(TEXTS); i++) {
        const char *tid =
            i < LENGTH(ROWS) ? ROWS[i].tid : TEXTS[i - LENGTH(ROWS)];
        struct made m = made_trace(0, 1);
        struct msim_job *job;

        made_add(&m,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,"
                 "\"ts\":1,\"dur\":2,\"tid\":%s},",
                 tid);
        job = load_made(&m);
        REQUIRE(job && job->ranks[0]->n_threads == 1);
        if (i < LENGTH(ROWS))
            CHECK_INT(job->ranks[0]->threads[0].tid, ROWS[i].want);
        else
            got[i - LENGTH(ROWS)] = job->ranks[0]->threads[0].tid;
        msim_job_free(job);
    }
    for (size_t i = 0; i < LENGTH(TEXTS); i++) {
        CHECK(got[i] < -100);
        for (size_t k = 0; k < i; k++)
            CHECK(got[i] != got[k]);
    }
}

int main(void)
{
    RUN(test_kineto_args__types);
    RUN(test_kineto_args__values);
    RUN(test_kineto_args__lists_side_by_side);
    RUN(test_kineto_args__numbers_in_strings);
    return check_summary();
}
