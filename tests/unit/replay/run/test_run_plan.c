/*
 * What a backend is asked, and each answer that is not understood.
 */
#include "tests/unit/replay/run/planned_step.h"

/* ---- the question -------------------------------------------------------- */

/* A backend that keeps what it was asked, and then does `command`. */
static void keeping(char *to, size_t size, const char *file,
                    const char *command)
{
    snprintf(to, size, "read -r line; printf '%%s' \"$line\" >%s; %s", file,
             command);
}

static cJSON *kept(const char *file)
{
    char text[8192] = "";
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    unlink(file);
    return cJSON_Parse(text);
}

/* Experiments once each, their order, how often and which question it is. */
static void test_question__members(void)
{
    char file[] = P_tmpdir "/msim-asked-XXXXXX", command[2048];
    struct planned p = plan(step(), NULL);
    int fd = mkstemp(file);
    struct msim_replay_runs runs;
    cJSON *asked;
    char *text;

    REQUIRE(fd >= 0);
    close(fd);
    keeping(command, sizeof(command), file,
            "echo '{\"id\":1,\"error\":\"enough\"}'; read -r line");
    CHECK_INT(run(&p, command, &runs), MSIM_ENOMODEL);
    CHECK_STR(p.err.text, "the backend says: enough");
    asked = kept(file);
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(
                  cJSON_GetObjectItem(asked, "sequence"), "experiments")),
              3);
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(asked, "sequence"),
                               "experiments");
    text = cJSON_PrintUnformatted(asked);
    CHECK_STR(text, "{\"sequence\":{\"order\":[0,1,0,2],\"warm_up\":1,"
                    "\"iterations\":2},\"id\":1}");
    free(text);
    cJSON_Delete(asked);
    msim_replay_runs_release(&runs);
    CHECK(runs.rounds == NULL && runs.n == 0);
    done(&p);
}

/* ---- answers ------------------------------------------------------------- */

#define TIMES "\"at_us\":[0,1,2,3],\"time_us\":[1,0,1,1]"
#define NONE  "the backend's answer has no "
#define EACH  " for every element"

/* Answers, a line each, of which the last but one thing is wrong. */
static void test_answers__refused(void)
{
    static const struct {
        const char *lines[4];
        enum msim_status status;
        const char *why;
    } ROWS[] = {
        {{"{\"id\":1,\"us\":0," TIMES "}", "{\"id\":1,\"us\":2," TIMES "}",
          "{\"id\":1,\"done\":true}"},
         MSIM_OK,
         ""},
        {{"{\"id\":1," TIMES "}"}, MSIM_EFORMAT, NONE "us" EACH},
        {{"{\"id\":1,\"us\":-1," TIMES "}"}, MSIM_EFORMAT, NONE "us" EACH},
        {{"{\"id\":1,\"us\":1,\"time_us\":[1,1,1,1]}"},
         MSIM_EFORMAT,
         NONE "at_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":4,\"time_us\":[1,1,1,1]}"},
         MSIM_EFORMAT,
         NONE "at_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":[0,1,2,3,4],\"time_us\":[1,1,1,1]}"},
         MSIM_EFORMAT,
         NONE "at_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":[0,1,2],\"time_us\":[1,1,1,1]}"},
         MSIM_EFORMAT,
         NONE "at_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":[0,1,2,3],\"time_us\":[1,1,-1,1]}"},
         MSIM_EFORMAT,
         NONE "time_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":[0,1,2,3],\"time_us\":[1,1,1,\"1\"]}"},
         MSIM_EFORMAT,
         NONE "time_us" EACH},
        {{"{\"id\":1,\"us\":1,\"at_us\":[0,1,2,1e999],\"time_us\":[1,1,1,1]}"},
         MSIM_EFORMAT,
         NONE "at_us" EACH},
        /* one too few, one too many */
        {{"{\"id\":1,\"us\":1," TIMES "}", "{\"id\":1,\"done\":true}"},
         MSIM_EFORMAT,
         NONE "time" EACH},
        {{"{\"id\":1,\"us\":1," TIMES "}", "{\"id\":1,\"us\":1," TIMES "}",
          "{\"id\":1,\"us\":1," TIMES "}"},
         MSIM_EFORMAT,
         NONE "end" EACH},
        /* none of what was asked */
        {{"{\"id\":1,\"error\":\"no\",\"refused\":[{\"experiment\":3,"
          "\"error\":\"a\"},{\"experiment\":-1},{}]}"},
         MSIM_ENOMODEL,
         "the backend says: no"},
        {{"{\"id\":1,\"error\":\"no\",\"refused\":[]}"},
         MSIM_ENOMODEL,
         "the backend says: no"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct planned p = plan(step(), NULL);
        struct msim_replay_runs runs;
        char command[2048];
        size_t n = (size_t)snprintf(command, sizeof(command), "read -r line");

        for (int k = 0; k < 4 && ROWS[i].lines[k]; k++)
            n += (size_t)snprintf(command + n, sizeof(command) - n,
                                  "; echo '%s'", ROWS[i].lines[k]);
        snprintf(command + n, sizeof(command) - n, "; read -r line");
        CHECK_INT(run(&p, command, &runs), ROWS[i].status);
        CHECK_STR(p.err.text, ROWS[i].why);
        msim_replay_runs_release(&runs);
        done(&p);
    }
}

/* Every row of times, and the answer without them. */
static void test_answers__rounds(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    char *line;

    CHECK_INT(run(&p,
                  "read -r line; echo '{\"id\":1,\"us\":5,\"at_us\":[0,1,2,3],"
                  "\"time_us\":[4,5,6,7],\"busy\":1}'; echo '{\"id\":1,\"us\":"
                  "9,\"at_us\":[8,9,10,11],\"time_us\":[12,13,14,15]}'; echo "
                  "'{\"id\":1,\"done\":true}'",
                  &runs),
              MSIM_OK);
    REQUIRE(runs.n == 2);
    CHECK_REL(runs.rounds[0].us, 5, 1e-12);
    CHECK_REL(runs.rounds[1].us, 9, 1e-12);
    for (int i = 0; i < 16; i++)
        CHECK_REL(runs.times[i] + 1, i + 1, 1e-12);
    for (int i = 0; i < 2; i++) {
        CHECK(runs.rounds[i].at_us == runs.times + 8 * i);
        CHECK(runs.rounds[i].time_us == runs.times + 8 * i + 4);
    }
    line = cJSON_PrintUnformatted(runs.rounds[0].line);
    CHECK_STR(line, "{\"id\":1,\"us\":5,\"busy\":1}");
    free(line);
    CHECK_INT(runs.n_elements, 4);
    CHECK_INT(runs.warm_up, 1);
    CHECK_STR(runs.counters_error, "");
    msim_replay_runs_release(&runs);
    done(&p);
}

/* What runs as bytes already cannot be refused once more. */
static void test_answers__refused_twice(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;

    CHECK_INT(run(&p,
                  "read -r line; echo '{\"id\":1,\"error\":\"a\",\"refused\":"
                  "[{\"experiment\":2},{\"experiment\":0,\"error\":\"large\"}]"
                  "}'; read -r line; echo '{\"id\":2,\"error\":\"still\","
                  "\"refused\":[{\"experiment\":2}]}'; read -r line",
                  &runs),
              MSIM_ENOMODEL);
    CHECK_STR(p.err.text, "the backend says: still");
    CHECK_STR(msim_plan_op(&p.plan, 3)->why, "refused");
    CHECK_STR(msim_plan_op(&p.plan, 0)->why, "large");
    CHECK(msim_plan_op(&p.plan, 1)->why == NULL);
    msim_replay_runs_release(&runs);
    done(&p);
}

/* A backend without a name is one all the same. */
static void test_greeting__no_sequences(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    cJSON *greeting = cJSON_Parse("{\"sequences\":false}");

    CHECK_INT(msim_replay_run(&runs, &p.plan, NULL, greeting,
                              &(struct msim_replay_how){1, 2, 10}, &p.err),
              MSIM_ENOMODEL);
    CHECK_STR(p.err.text, "backend '' runs no sequences, want cpu or cuda");
    msim_replay_runs_release(&runs);
    cJSON_Delete(greeting);
    done(&p);
}

int main(void)
{
    RUN(test_question__members);
    RUN(test_answers__refused);
    RUN(test_answers__rounds);
    RUN(test_answers__refused_twice);
    RUN(test_greeting__no_sequences);
    return check_summary();
}
