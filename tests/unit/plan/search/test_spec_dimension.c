/* plan/search/spec_dimension.c: every dimension with its usual values, what a
 * spec may say of it, and what is refused. */
#include "plan/search/spec.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_error err;
static struct msim_spec_values values[MSIM_SPEC_DIMENSIONS];

/* Read a spec's members; "" or the message. */
static const char *read(bool traced, const char *text)
{
    struct msim_fields f;
    cJSON *json = cJSON_Parse(text);

    CHECK(json != NULL);
    err = (struct msim_error){0};
    f = msim_fields_of(json, "spec.json", &err);
    msim_spec_dimensions_read(values, traced, &f);
    cJSON_Delete(json);
    return f.status == MSIM_OK ? "" : err.text;
}

static uint32_t at(bool traced, const char *name)
{
    const struct msim_spec_dimension *d;
    uint32_t i = 0;

    while ((d = msim_spec_dimension_at(traced, i)) &&
           strcmp(d->name, name) != 0)
        i++;
    CHECK(d != NULL);
    return i;
}

/* "1 2 4", as the file may have them. */
static const char *shown(bool traced, const char *name)
{
    uint32_t i = at(traced, name);
    static char text[512];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t k = 0; k < values[i].n; k++) {
        char one[64];

        msim_spec_value_text(msim_spec_dimension_at(traced, i), values[i].v[k],
                             one, sizeof(one));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 k ? " " : "", one);
    }
    return text;
}

/* ---- what there is ------------------------------------------------------- */

static void test_spec_dimension__described(void)
{
    static const char *const USUAL[][2] = {{"nodes", "0"},
                                           {"tp", "1 2 4 8"},
                                           {"pp", "1 2 4 8 16"},
                                           {"vp", "1"},
                                           {"cp", "1"},
                                           {"ep", "1"},
                                           {"etp", "0"},
                                           {"zero", "1 3"},
                                           {"micro_batch", "1 2 4 8"},
                                           {"precision", "bf16"},
                                           {"recompute", "none full"},
                                           {"offload", "none"},
                                           {"gpus", "8"},
                                           {"lora_rank", ""},
                                           {"compile", ""},
                                           {"framework", ""}};

    CHECK_STR(read(false, "{\"gpus\": 8}"), "");
    CHECK_INT(msim_spec_dimension_count(false), MSIM_SPEC_DIMENSIONS);
    for (size_t i = 0; i < sizeof(USUAL) / sizeof(*USUAL); i++)
        CHECK_STR(shown(false, USUAL[i][0]), USUAL[i][1]);
    CHECK_INT(at(false, "gpus"), MSIM_SPEC_DIMENSIONS - 1);
    CHECK(!msim_spec_dimension_at(false, MSIM_SPEC_DIMENSIONS));
    for (uint32_t i = 0; i < MSIM_SPEC_DIMENSIONS; i++)
        CHECK(values[i].n > 0);
}

static void test_spec_dimension__traced(void)
{
    static const char *const USUAL[][2] = {{"shard", "ddp"},
                                           {"micro_batch", ""},
                                           {"grad_accum", ""},
                                           {"recompute", "none"},
                                           {"precision", "traced"},
                                           {"offload", "none"},
                                           {"optimizer_bits", ""},
                                           {"optimizer_in_backward", ""},
                                           {"tp", "1"},
                                           {"pp", "1"},
                                           {"layers", ""},
                                           {"hidden", ""},
                                           {"gpus", "8"}};

    CHECK_STR(read(true, "{\"gpus\": 8}"), "");
    CHECK_INT(msim_spec_dimension_count(true), 13);
    for (uint32_t i = 0; i < 13; i++) {
        CHECK_STR(msim_spec_dimension_at(true, i)->name, USUAL[i][0]);
        CHECK_INT(values[i].n, 1);
        if (strcmp(USUAL[i][0], "micro_batch") != 0 &&
            strcmp(USUAL[i][0], "grad_accum") != 0)
            CHECK_STR(shown(true, USUAL[i][0]), USUAL[i][1]);
        else
            CHECK_INT(values[i].v[0], 0); /* as traced */
    }
    CHECK(!msim_spec_dimension_at(true, 13));
}

/* ---- what a spec says ---------------------------------------------------- */

static void test_spec_dimension__values(void)
{
    CHECK_STR(read(false, "{\"gpus\": [8, 16], \"tp\": 2, \"pp\": [4, 1],"
                          "\"precision\": [\"fp8\", \"bf16\"],"
                          "\"compile\": [true, null, false],"
                          "\"lora_rank\": [null, 64], \"nodes\": null,"
                          "\"etp\": [1, null]}"),
              "");
    CHECK_STR(shown(false, "gpus"), "8 16");
    CHECK_STR(shown(false, "tp"), "2");
    CHECK_STR(shown(false, "pp"), "4 1");
    CHECK_STR(shown(false, "precision"), "fp8 bf16");
    CHECK_STR(shown(false, "compile"), "yes  no");
    CHECK_STR(shown(false, "lora_rank"), " 64");
    CHECK_STR(shown(false, "etp"), "1 0");
    CHECK_STR(read(true, "{\"gpus\": 1, \"shard\": [\"shard_grad_op\", "
                         "\"zero1\"], \"precision\": \"tf32\","
                         "\"optimizer_bits\": [32, null, \"8\"],"
                         "\"optimizer_in_backward\": [true, false],"
                         "\"offload\": [\"optimizer\", \"none\"],"
                         "\"recompute\": \"full\","
                         "\"layers\": [12, null], \"hidden\": 1000000000}"),
              "");
    CHECK_STR(shown(true, "shard"), "shard_grad_op zero1");
    CHECK_STR(shown(true, "precision"), "tf32");
    CHECK_STR(shown(true, "optimizer_bits"), "32  8");
    CHECK_STR(shown(true, "optimizer_in_backward"), "yes no");
    CHECK_STR(shown(true, "offload"), "optimizer none");
    CHECK_STR(shown(true, "recompute"), "full");
    CHECK_STR(shown(true, "layers"), "12 ");
    CHECK_STR(shown(true, "hidden"), "1000000000");
    CHECK_STR(read(true, "{\"gpus\": 1, \"hidden\": 1}"), "");
    CHECK_STR(shown(true, "hidden"), "1");
    CHECK_STR(read(true, "{\"gpus\": 1, \"recompute\": \"full\", "
                         "\"offload\": \"optimizer\", "
                         "\"optimizer_in_backward\": true}"),
              "");
    /* words are those of a strategy, in its order */
    CHECK_INT(values[at(true, "recompute")].v[0], MSIM_RECOMPUTE_FULL);
    CHECK_INT(values[at(true, "offload")].v[0], MSIM_OFFLOAD_OPTIMIZER);
    CHECK_INT(values[at(true, "optimizer_in_backward")].v[0], MSIM_STATED_YES);
}

/* ---- what is refused ----------------------------------------------------- */

static void test_spec_dimension__refuses(void)
{
    static const struct {
        bool traced;
        const char *member, *says;
    } CASES[] = {
        {false, "\"tp\": 0",
         "tp is 0, want a whole number from 1 to 1000000000, or an array of "
         "them"},
        {false, "\"tp\": [1, \"x\"]",
         "tp[1] is \"x\", want a whole number from 1 to 1000000000, or an "
         "array of them"},
        {false, "\"tp\": [2, 2]", "tp[1] is 2, want every value once"},
        {false, "\"tp\": []", "tp is [], want a value, or an array of values"},
        {false, "\"tp\": null",
         "tp is missing, want a whole number from 1 to 1000000000, or an array "
         "of them"},
        {false, "\"offload\": null",
         "offload is missing, want one of none activations optimizer weights, "
         "or an array of them"},
        {false, "\"compile\": \"maybe\"",
         "compile is \"maybe\", want one of no yes, null (not stated), or an "
         "array of them"},
        {true, "\"shard\": \"\"",
         "shard is \"\", want one of ddp zero1 zero2 zero3 no_shard "
         "shard_grad_op, or an array of them"},
        {true, "\"optimizer_bits\": 16",
         "optimizer_bits is 16, want one of 8 32, null (not stated), or an "
         "array of them"},
        {true, "\"optimizer_bits\": \"\"",
         "optimizer_bits is \"\", want one of 8 32, null (not stated), or an "
         "array of them"},
        {true, "\"precision\": null",
         "precision is missing, want one of traced fp16 bf16 amp_fp16 amp_bf16 "
         "fp8 amp_fp8 tf32, or an array of them"},
        {true, "\"layers\": 0",
         "layers is 0, want a whole number from 1 to 1,000,000,000, null (not "
         "stated), or an array of them"},
        {true, "\"layers\": 1000000001",
         "layers is 1000000001, want a whole number from 1 to 1,000,000,000, "
         "null (not stated), or an array of them"},
        {true, "\"hidden\": 1.5",
         "hidden is 1.5, want a whole number from 1 to 1,000,000,000, null "
         "(not stated), or an array of them"},
        {true, "\"hidden\": true",
         "hidden is true, want a whole number from 1 to 1,000,000,000, null "
         "(not stated), or an array of them"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char text[256];

        snprintf(text, sizeof(text), "{\"gpus\": 8, %s}", CASES[i].member);
        CHECK_STR(read(CASES[i].traced, text), CASES[i].says);
    }
    CHECK_STR(read(false, "{}"), "gpus is missing, want a whole number from 1 "
                                 "to 1000000000, or an array of them");
}

/* 24 values, and no more. */
static void test_spec_dimension__has_an_end(void)
{
    char text[256] = "{\"gpus\": [1";

    for (int i = 2; i <= 24; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %d", i);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
    CHECK_STR(read(false, text), "");
    CHECK_INT(values[at(false, "gpus")].n, 24);
    snprintf(text + strlen(text) - 2, sizeof(text) - strlen(text), "%s",
             ", 25]}");
    CHECK(strstr(read(false, text), "want at most 24 values") != NULL);
    CHECK(strncmp(err.text, "gpus is [1,2,3", 14) == 0);
}

int main(void)
{
    RUN(test_spec_dimension__described);
    RUN(test_spec_dimension__traced);
    RUN(test_spec_dimension__values);
    RUN(test_spec_dimension__refuses);
    RUN(test_spec_dimension__has_an_end);
    return check_summary();
}
