/*
 * models/platform/shared_laws.c: the file of laws that all GPUs share, and that
 * of facts of kernels, member by member.
 */
#include "models/platform/platform_data.h"

#include "tests/check.h"
#include "tests/unit/appended.h"

#include <stdlib.h>
#include <unistd.h>

/* A file with that text, until the next. */
static const char *file_of(const char *text)
{
    static const char path[] = "shared_laws_test.json";
    FILE *out = fopen(path, "w");

    if (CHECK(out != NULL)) {
        fputs(text, out);
        fclose(out);
    }
    return path;
}

static enum msim_status read_laws(struct msim_shared_laws *c, const char *text,
                                  struct msim_error *err)
{
    enum msim_status status;

    *err = (struct msim_error){0};
    status = msim_shared_laws_read(c, file_of(text), NULL, err);
    unlink("shared_laws_test.json");
    return status;
}

static enum msim_status read_facts(struct msim_library_facts *k,
                                   const char *text, struct msim_error *err)
{
    enum msim_status status;

    *err = (struct msim_error){0};
    status = msim_library_facts_read(k, file_of(text), err);
    unlink("shared_laws_test.json");
    return status;
}

static void test_shared_laws__spreads(void)
{
    struct msim_shared_laws c;
    struct msim_error err;
    struct msim_shared_sd sd;

    REQUIRE(read_laws(&c,
                      "{\"spreads\":{\"gemm\":{\"generation\":0.02,\"other\":"
                      "0.3,\"generation_error\":0.05,\"other_error\":0.2},"
                      "\"conv\":{},\"moe\":{\"generation\":0,\"other\":0}}}",
                      &err) == MSIM_OK);
    CHECK_UINT(c.n_sd, 3);
    CHECK_UINT(c.n_fits, 0);
    sd = msim_shared_laws_sd(&c, &MSIM_LAW_GEMM);
    CHECK(sd.law == &MSIM_LAW_GEMM);
    CHECK_REL(sd.generation, 0.02, 0);
    CHECK_REL(sd.other, 0.3, 0);
    CHECK_REL(sd.generation_error, 0.05, 0);
    CHECK_REL(sd.other_error, 0.2, 0);
    sd = msim_shared_laws_sd(&c, &MSIM_LAW_MOE);
    CHECK(sd.law == &MSIM_LAW_MOE && sd.generation == 0 && sd.other == 0);
    msim_shared_laws_release(&c);
    CHECK(!c.fits && !c.n_fits && !c.n_sd);
}

/* 10 % within a generation and 45 % between two, as the best public study saw;
 * nothing is known of the errors of a fit. */
static void check_typical(struct msim_shared_sd sd)
{
    CHECK_REL(sd.generation, 0.10, 0);
    CHECK_REL(sd.other, 0.45, 0);
    CHECK(isnan(sd.generation_error) && isnan(sd.other_error));
}

static void test_shared_laws__what_it_does_not_say_is_typical(void)
{
    struct msim_shared_laws c;
    struct msim_error err;
    struct msim_shared_sd sd;

    REQUIRE(read_laws(&c, "{\"spreads\":{\"conv\":{}}}", &err) == MSIM_OK);
    sd = msim_shared_laws_sd(&c, &MSIM_LAW_CONV);
    CHECK(sd.law == &MSIM_LAW_CONV);
    check_typical(sd);
    sd = msim_shared_laws_sd(&c, &MSIM_LAW_GEMM);
    CHECK(sd.law == NULL);
    check_typical(sd);
    msim_shared_laws_release(&c);
}

static void test_shared_laws__no_file_is_empty(void)
{
    struct msim_shared_laws c;
    struct msim_library_facts k;

    memset(&c, 0xff, sizeof(c));
    memset(&k, 0xff, sizeof(k));
    CHECK_INT(msim_shared_laws_read(&c, "no/such/file.json", NULL, NULL),
              MSIM_OK);
    CHECK(!c.fits && !c.n_fits && !c.n_sd);
    CHECK_INT(msim_library_facts_read(&k, "no/such/file.json", NULL), MSIM_OK);
    CHECK(k.graph_start_us == 0 && k.last_gradient == 0);
    CHECK_STR(k.generations, "");
    CHECK_STR(k.frameworks, "");
}

static void check_refused(const char *text, const char *why)
{
    struct msim_shared_laws c;
    struct msim_error err;

    CHECK_INT(read_laws(&c, text, &err), MSIM_EFORMAT);
    if (!CHECK(strstr(err.text, why) != NULL))
        fprintf(stderr, "%s\n", err.text);
    msim_shared_laws_release(&c);
}

static void test_shared_laws__refuses(void)
{
    static const char WANT[] = "'spreads' wants laws with figures from 0";

    check_refused("{\"spreads\":{\"gem\":{}}}", WANT);
    check_refused("{\"spreads\":{\"gemm\":{\"generation\":-0.01}}}", WANT);
    check_refused("{\"spreads\":{\"gemm\":{\"other\":-0.01}}}", WANT);
    check_refused("{\"spreads\":[{}]}", WANT);
    check_refused("{\"cells\":[{\"law\":\"gem\"}]}", "is no law");
}

/* 16 have room. */
static void test_shared_laws__room(void)
{
    for (int n = MSIM_SHARED_LAWS; n <= MSIM_SHARED_LAWS + 1; n++) {
        char text[1024] = "{\"spreads\":{";
        struct msim_shared_laws c;
        struct msim_error err;

        for (int i = 0; i < n; i++)
            APPEND(text, "%s\"gemm\":{\"other\":%d}", i ? "," : "", i);
        APPEND(text, "%s", "}}");
        if (n > MSIM_SHARED_LAWS) {
            check_refused(text, "more 'spreads' than laws");
            continue;
        }
        CHECK_INT(read_laws(&c, text, &err), MSIM_OK);
        CHECK_UINT(c.n_sd, MSIM_SHARED_LAWS);
        CHECK_REL(c.sd[MSIM_SHARED_LAWS - 1].other, MSIM_SHARED_LAWS - 1, 0);
        msim_shared_laws_release(&c);
    }
}

/* What the product ships: its fits have no trees, and each one a law. */
static void test_shared_laws__fits(void)
{
    struct msim_shared_laws c;
    struct msim_error err = {0};

    REQUIRE(msim_shared_laws_read(&c, MSIM_DATA "/laws/common.json", NULL,
                                  &err) == MSIM_OK);
    CHECK(c.n_fits > 10);
    for (uint32_t i = 0; i < c.n_fits; i++) {
        CHECK(c.fits[i].law != NULL && c.fits[i].params[0] > 0);
        CHECK(c.fits[i].framework[0] != '\0');
        CHECK(!c.fits[i].forest.n_trees);
    }
    msim_shared_laws_release(&c);
}

static void test_library_facts__are_read(void)
{
    struct msim_library_facts k;
    struct msim_error err;

    CHECK_INT(read_facts(&k,
                         "{\"graph_start\":{\"value\":2.5,\"generations\":"
                         "[\"hopper\",\"blackwell\"],\"frameworks\":[]},"
                         "\"channels_last_gradient\":{\"value\":5.5}}",
                         &err),
              MSIM_OK);
    CHECK_REL(k.graph_start_us, 2.5, 0);
    CHECK_STR(k.generations, " hopper blackwell ");
    CHECK_STR(k.frameworks, " ");
    CHECK_REL(k.last_gradient, 5.5, 0);
    CHECK_INT(read_facts(&k, "{}", &err), MSIM_OK);
    CHECK(k.graph_start_us == 0 && k.last_gradient == 0);
}

/* The words that 128 bytes hold, the last one cut. */
static void test_library_facts__words_that_are_too_many(void)
{
    char text[1024] = "{\"graph_start\":{\"generations\":[";
    struct msim_library_facts k;
    struct msim_error err;

    for (int i = 0; i < 40; i++)
        APPEND(text, "%s\"word%02d\"", i ? "," : "", i);
    APPEND(text, "%s", "]}}");
    memset(&k, 0, sizeof(k));
    CHECK_INT(read_facts(&k, text, &err), MSIM_OK);
    CHECK_UINT(strlen(k.generations), sizeof(k.generations) - 1);
    CHECK(strstr(k.generations, " word00 word01 word02 ") == k.generations);
    CHECK_STR(k.frameworks, " ");
}

static void check_fact(const char *text, const char *want)
{
    struct msim_library_facts k;
    struct msim_error err;

    CHECK_INT(read_facts(&k, text, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, want);
}

static void test_library_facts__refuses(void)
{
    struct msim_library_facts k;
    struct msim_error err;

    check_fact("{\"graph_start\":2}", "graph_start is 2, want an object");
    check_fact("{\"graph_start\":{\"value\":-1}}",
               "graph_start.value is -1, want a number from 0");
    check_fact("{\"graph_start\":{\"frameworks\":\"vllm\"}}",
               "graph_start.frameworks is \"vllm\", want an array");
    check_fact("{\"channels_last_gradient\":{\"value\":-0.5}}",
               "channels_last_gradient.value is -0.5, want a number from 0");
    CHECK_INT(read_facts(&k, "{\"graph_start\":{\"frameworks\":[1]}}", &err),
              MSIM_EFORMAT);
    CHECK(strstr(err.text, "want texts") != NULL);
}

int main(void)
{
    RUN(test_library_facts__are_read);
    RUN(test_library_facts__refuses);
    RUN(test_library_facts__words_that_are_too_many);
    RUN(test_shared_laws__fits);
    RUN(test_shared_laws__no_file_is_empty);
    RUN(test_shared_laws__refuses);
    RUN(test_shared_laws__room);
    RUN(test_shared_laws__spreads);
    RUN(test_shared_laws__what_it_does_not_say_is_typical);
    return check_summary();
}
