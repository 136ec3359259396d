/*
 * A backend as a program: answers, dry runs, and a device that dies. The
 * backend is made up: "us" of an experiment is its time, half of it without
 * what runs "beside" it; without a time it fails as "fails" says.
 */
#include "profilers/serve.h"

#include "tests/check.h"

#include <stdlib.h>

struct made_up {
    double us;
    bool dead;
    char counts[16];
};

static enum msim_status open_it(void **self, struct msim_error *err)
{
    struct made_up *m = calloc(1, sizeof(*m));

    (void)err;
    *self = m;
    return m ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status open_none(void **self, struct msim_error *err)
{
    (void)self;
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE, "no device");
}

static void describe(void *self, struct msim_json *out)
{
    (void)self;
    msim_json_text(out, "device", "made up");
}

static enum msim_status time_it(void *state, double *us, struct msim_error *err)
{
    (void)err;
    *us = ((struct made_up *)state)->us;
    return MSIM_OK;
}

static enum msim_status time_alone(void *state, double *us,
                                   struct msim_error *err)
{
    MSIM_TRY(time_it(state, us, err));
    *us /= 2;
    return MSIM_OK;
}

static enum msim_status check(const cJSON *experiment, double *bytes,
                              struct msim_error *err)
{
    *bytes = 8;
    if (msim_json_get_number(experiment, "us", 0) > 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE, "no 'us'");
}

/* "counts": "well", or why not; "for good" where that kills the device. */
static enum msim_status count(void *self, const struct msim_case *c,
                              struct msim_counts *out, struct msim_error *err)
{
    struct made_up *m = c->state;

    CHECK(self == m);
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        out->of[f] = f + 1;
    out->passes = 2;
    if (strcmp(m->counts, "well") == 0)
        return MSIM_OK;
    m->dead = strcmp(m->counts, "for good") == 0;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "not %s",
                     m->counts);
}

static enum msim_status prepare(void *self, const cJSON *experiment,
                                struct msim_case *out, struct msim_error *err)
{
    struct made_up *m = self;
    const char *fails = msim_json_get_text(experiment, "fails");
    const char *counts = msim_json_get_text(experiment, "counts");

    m->us = msim_json_get_number(experiment, "us", 0);
    snprintf(m->counts, sizeof(m->counts), "%s", counts ? counts : "");
    *out = (struct msim_case){.state = m, .time = time_it};
    if (cJSON_HasObjectItem(experiment, "beside"))
        out->alone = time_alone;
    if (!fails)
        return MSIM_OK;
    m->dead = strcmp(fails, "for good") == 0;
    return msim_fail(err, strcmp(fails, "here") == 0 ? MSIM_ENOMODEL : MSIM_EIO,
                     NULL, MSIM_OFFSET_NONE, "fails %s", fails);
}

static bool usable(void *self)
{
    return !((struct made_up *)self)->dead;
}

static const struct msim_backend MADE_UP = {
    .name = "made up",
    .open = open_it,
    .close = free,
    .describe = describe,
    .prepare = prepare,
    .check = check,
    .count = count,
    .usable = usable,
};

struct served {
    enum msim_status status;
    struct msim_error err;
    char out[4096];
    cJSON *lines[8];
    int n;
};

static struct served serve(const struct msim_backend *b, const char *in,
                           bool dry)
{
    struct served s = {0};
    FILE *from = fmemopen((void *)(uintptr_t)in, strlen(in), "r");
    FILE *to = fmemopen(s.out, sizeof(s.out) - 1, "w");

    if (from && to)
        s.status = dry ? msim_serve_dry(b, from, to, &s.err)
                       : msim_serve(b, from, to, &s.err);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    for (char *at = s.out; *at && s.n < 8; at = strchr(at, '\n') + 1)
        s.lines[s.n++] = cJSON_Parse(at);
    return s;
}

static void done(struct served *s)
{
    for (int i = 0; i < s->n; i++)
        cJSON_Delete(s->lines[i]);
}

static void test_serve__answers(void)
{
    struct served s =
        serve(&MADE_UP,
              "{\"id\":1,\"us\":2.5,\"raw\":true}\n\n"
              "{\"id\":2,\"fails\":\"here\"}\n"
              "{\"id\":3,\"fails\":\"once\"}\n{\"id\":4,\"us\":1}\n",
              false);

    CHECK_INT(s.status, MSIM_OK);
    REQUIRE(s.n == 5);
    CHECK_STR(msim_json_get_text(s.lines[0], "schema"), MSIM_PROFILER_SCHEMA);
    CHECK_STR(msim_json_get_text(s.lines[0], "device"), "made up");
    CHECK_REL(msim_json_get_number(s.lines[1], "time_us", 0), 2.5, 1e-12);
    CHECK_INT(cJSON_GetArraySize(
                  cJSON_GetObjectItemCaseSensitive(s.lines[1], "samples")),
              (int)msim_json_get_number(s.lines[1], "runs", -1));
    CHECK_STR(msim_json_get_text(s.lines[2], "error"), "fails here");
    CHECK(cJSON_IsTrue(
        cJSON_GetObjectItemCaseSensitive(s.lines[2], "unsupported")));
    CHECK_STR(msim_json_get_text(s.lines[3], "error"), "fails once");
    CHECK(cJSON_IsFalse(
        cJSON_GetObjectItemCaseSensitive(s.lines[3], "unsupported")));
    CHECK_REL(msim_json_get_number(s.lines[4], "time_us", 0), 1, 1e-12);
    done(&s);
}

static void test_serve__concurrent(void)
{
    struct served s = serve(
        &MADE_UP, "{\"id\":1,\"us\":3,\"beside\":{}}\n{\"id\":2,\"us\":3}\n",
        false);

    REQUIRE(s.n == 3);
    CHECK_REL(msim_json_get_number(s.lines[1], "time_us", 0), 3, 1e-12);
    CHECK_REL(msim_json_get_number(s.lines[1], "alone_us", 0), 1.5, 1e-12);
    CHECK(!cJSON_HasObjectItem(s.lines[2], "alone_us"));
    done(&s);
}

/* Counters are beside the times, and so is why they could not be read. */
static void test_serve__counters(void)
{
    struct served s =
        serve(&MADE_UP,
              "{\"id\":1,\"us\":1,\"counts\":\"well\",\"counters\":true}\n"
              "{\"id\":2,\"us\":1,\"counts\":\"now\",\"counters\":true}\n"
              "{\"id\":3,\"us\":1,\"counts\":\"well\"}\n"
              "{\"id\":5,\"us\":1,\"counts\":\"for good\","
              "\"counters\":true}\n{\"id\":6,\"us\":1}\n",
              false);
    const cJSON *counters;

    CHECK_INT(s.status, MSIM_EINTERNAL);
    REQUIRE(s.n == 5); /* the last one's device is dead */
    counters = cJSON_GetObjectItemCaseSensitive(s.lines[1], "counters");
    CHECK_REL(msim_json_get_number(counters, "dram_write_bytes", 0), 2, 0);
    CHECK_REL(msim_json_get_number(counters, "passes", 0), 2, 0);
    CHECK_STR(msim_json_get_text(s.lines[2], "counters_error"), "not now");
    CHECK(!cJSON_GetObjectItemCaseSensitive(s.lines[3], "counters") &&
          !cJSON_GetObjectItemCaseSensitive(s.lines[3], "counters_error"));
    for (int i = 1; i < 5; i++)
        CHECK_REL(msim_json_get_number(s.lines[i], "time_us", 0), 1, 0);
    CHECK_STR(msim_json_get_text(s.lines[4], "counters_error"), "not for good");
    done(&s);
}

static void test_serve__no_counters(void)
{
    struct msim_backend b = MADE_UP;
    struct served s;

    b.count = NULL;
    s = serve(&b, "{\"id\":1,\"us\":1,\"counters\":true}\n", false);
    CHECK_INT(s.status, MSIM_OK);
    REQUIRE(s.n == 2);
    CHECK_REL(msim_json_get_number(s.lines[1], "time_us", 0), 1, 0);
    CHECK_STR(msim_json_get_text(s.lines[1], "counters_error"),
              "backend 'made up' reads none");
    done(&s);
}

/* What killed the device is answered; what would come next is not. */
static void test_serve__device_dies(void)
{
    struct served s = serve(&MADE_UP,
                            "{\"id\":1,\"us\":1}\n"
                            "{\"id\":2,\"fails\":\"for good\"}\n"
                            "{\"id\":3,\"us\":1}\n",
                            false);

    CHECK_INT(s.status, MSIM_EINTERNAL);
    CHECK_STR(s.err.text, "the device cannot be used any more: fails for good");
    REQUIRE(s.n == 3);
    CHECK_STR(msim_json_get_text(s.lines[2], "error"), "fails for good");
    done(&s);
}

static void test_serve__dry(void)
{
    struct msim_backend b = MADE_UP;
    struct served s;

    b.open = open_none; /* a dry run wants no device */
    s = serve(&b, "{\"id\":7,\"us\":1}\n{\"id\":8}\n", true);
    CHECK_INT(s.status, MSIM_OK);
    REQUIRE(s.n == 3);
    CHECK(
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(s.lines[0], "dry_run")));
    CHECK(!cJSON_GetObjectItemCaseSensitive(s.lines[0], "device"));
    CHECK(cJSON_IsTrue(
        cJSON_GetObjectItemCaseSensitive(s.lines[1], "would_run")));
    CHECK_REL(msim_json_get_number(s.lines[1], "bytes", 0), 8, 1e-12);
    CHECK_STR(msim_json_get_text(s.lines[2], "error"), "no 'us'");
    done(&s);
    b.check = NULL;
    s = serve(&b, "", true);
    CHECK_INT(s.status, MSIM_EUSAGE);
    CHECK_INT(s.n, 0);
    done(&s);
}

static void test_serve__no_device(void)
{
    struct msim_backend b = MADE_UP;
    struct served s;

    b.open = open_none;
    s = serve(&b, "{\"id\":7,\"us\":1}\n", false);
    CHECK_INT(s.status, MSIM_EUNKNOWN);
    CHECK_STR(s.err.text, "no device");
    CHECK_INT(s.n, 0);
    done(&s);
}

static double number_at(const cJSON *line, const char *list, int i)
{
    const cJSON *item =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(line, list), i);

    return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

/* Cases of one made-up device share its time: that of the last one. */
static void test_serve__sequence(void)
{
    struct msim_backend b = MADE_UP;
    struct served s;

    b.apart = true;
    s = serve(&b,
              "{\"id\":3,\"sequence\":{\"experiments\":[{\"us\":2},"
              "{\"us\":4}],\"order\":[0,1,0],\"warm_up\":1,"
              "\"iterations\":2}}\n{\"id\":4,\"us\":7}\n",
              false);
    CHECK_INT(s.status, MSIM_OK);
    REQUIRE(s.n == 5);
    CHECK(msim_json_get_true(s.lines[0], "sequences"));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(msim_json_get_number(s.lines[1 + i], "id", 0), 3);
        CHECK_INT(msim_json_get_number(s.lines[1 + i], "iteration", -1), i);
        CHECK_REL(msim_json_get_number(s.lines[1 + i], "us", 0), 12, 1e-12);
        CHECK_REL(number_at(s.lines[1 + i], "time_us", 2), 4, 1e-12);
        CHECK_REL(number_at(s.lines[1 + i], "at_us", 2), 8, 1e-12);
        CHECK(number_at(s.lines[1 + i], "time_us", 3) < 0);
        CHECK(msim_json_get_number(s.lines[1 + i], "cpu_us", -1) >= 0);
        CHECK(msim_json_get_number(s.lines[1 + i], "rss_bytes", 0) > 1e5);
    }
    CHECK(msim_json_get_true(s.lines[3], "done"));
    CHECK_INT(msim_json_get_number(s.lines[3], "iterations", 0), 2);
    CHECK_REL(msim_json_get_number(s.lines[4], "time_us", 0), 7, 1e-12);
    done(&s);
}

/* By the clock around them, and from when it was. */
static void test_serve__sequence_clock(void)
{
    struct served s = serve(&MADE_UP,
                            "{\"id\":3,\"sequence\":{\"experiments\":["
                            "{\"us\":0}],\"order\":[0,0],\"iterations\":1}}\n",
                            false);
    double us;

    REQUIRE(s.n == 3);
    us = msim_json_get_number(s.lines[1], "us", -1);
    CHECK(us > 0 && us < 1e6);
    CHECK(number_at(s.lines[1], "at_us", 0) <=
          number_at(s.lines[1], "at_us", 1));
    CHECK(number_at(s.lines[1], "at_us", 1) <= us);
    done(&s);
}

static void refuses(const char *sequence, const char *why)
{
    char line[512];
    struct served s;

    snprintf(line, sizeof(line), "{\"id\":3,\"sequence\":%s}\n", sequence);
    s = serve(&MADE_UP, line, false);
    CHECK_INT(s.status, MSIM_OK);
    REQUIRE(s.n == 2);
    CHECK_STR(msim_json_get_text(s.lines[1], "error"), why);
    done(&s);
}

static void test_serve__wrong_sequence(void)
{
    refuses("{}", "'sequence' has no 'experiments', or too many");
    refuses("{\"experiments\":[{\"us\":1}]}",
            "'sequence' has no 'order', or one that is too long");
    refuses("{\"experiments\":[{\"us\":1}],\"order\":[1]}",
            "'sequence' has an 'order' with a number of no experiment");
    refuses("{\"experiments\":[{\"us\":1}],\"order\":[0],\"iterations\":0}",
            "'iterations' is 0, want a whole number from 1 to 100000");
    refuses("{\"experiments\":[{\"us\":1},{\"us\":1,\"fails\":\"again\"}],"
            "\"order\":[0]}",
            "experiment 1: fails again");
}

/* All that cannot be done is named, and nothing runs. */
static void test_serve__refused_sequence(void)
{
    struct served s =
        serve(&MADE_UP,
              "{\"id\":3,\"sequence\":{\"experiments\":[{\"us\":1,\"fails\":"
              "\"here\"},{\"us\":1},{\"us\":1,\"fails\":\"here\"}],"
              "\"order\":[0,1]}}\n",
              false);
    const cJSON *refused;

    REQUIRE(s.n == 2);
    CHECK_STR(msim_json_get_text(s.lines[1], "error"),
              "experiment 0: fails here");
    CHECK(msim_json_get_true(s.lines[1], "unsupported"));
    refused = cJSON_GetObjectItemCaseSensitive(s.lines[1], "refused");
    REQUIRE(cJSON_GetArraySize(refused) == 2);
    CHECK_INT(
        msim_json_get_number(cJSON_GetArrayItem(refused, 1), "experiment", -1),
        2);
    done(&s);
}

static void test_serve__bad_line(void)
{
    struct served s = serve(&MADE_UP, "{\"id\":1,\"us\":1}\nnot JSON\n", false);

    CHECK_INT(s.status, MSIM_ESYNTAX);
    CHECK_STR(s.err.text, "line 2 is no JSON object, want an experiment");
    CHECK_INT(s.n, 2);
    done(&s);
}

int main(void)
{
    RUN(test_serve__answers);
    RUN(test_serve__concurrent);
    RUN(test_serve__counters);
    RUN(test_serve__no_counters);
    RUN(test_serve__device_dies);
    RUN(test_serve__dry);
    RUN(test_serve__no_device);
    RUN(test_serve__sequence);
    RUN(test_serve__sequence_clock);
    RUN(test_serve__wrong_sequence);
    RUN(test_serve__refused_sequence);
    RUN(test_serve__bad_line);
    return check_summary();
}
