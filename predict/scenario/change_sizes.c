/*
 * predict/scenario/change_sizes.c - changes of what operators are given.
 */
#include "predict/scenario/scenario.h"

#include <string.h>

#define AXIS_MOST 1000000000

/* A size, or from which to which: `number` where a size alone will do, and
 * `whole` where it must say from which. */
static struct msim_axis read_from_to(struct msim_change_reader *r,
                                     const char *key, bool number, bool whole)
{
    static const char *const KEYS[] = {"from", "to", NULL};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_axis axis = {0};
    struct msim_fields in;

    if (cJSON_IsNumber(item) && number) {
        axis.to = msim_field_int(r->f, key, 1, 1);
    } else if (!cJSON_IsObject(item)) {
        msim_field_refuse(r->f, key,
                          number ? "a number, or {\"from\": 8, \"to\": 64}"
                                 : "{\"from\": 512, \"to\": 1024}");
    } else {
        in = msim_fields_open(r->f, key);
        msim_fields_only(&in, KEYS);
        axis.from =
            msim_field_int(&in, "from", 1, whole ? MSIM_FIELD_WANTED : 0);
        axis.to = msim_field_int(&in, "to", 1, MSIM_FIELD_WANTED);
        msim_fields_close(r->f, &in);
    }
    if (axis.to > AXIS_MOST || axis.from > AXIS_MOST)
        msim_field_refuse(r->f, key, "sizes of at most 1,000,000,000");
    return axis;
}

static void read_axis(struct msim_change_reader *r, const char *key, bool every)
{
    struct msim_reshape *reshape = &r->row->settings.reshape;
    struct msim_axis axis = read_from_to(r, key, !every, every);

    axis.every = every;
    if (reshape->n_axes == MSIM_RESHAPE_AXES)
        msim_field_refuse(r->f, key, "at most 16 such changes a scenario");
    else if (axis.from != axis.to)
        reshape->axes[reshape->n_axes++] = axis;
    r->row->other_target |= reshape->n_axes > 0;
}

void msim_change_read_batch(struct msim_change_reader *r, const char *key)
{
    read_axis(r, key, false);
}

void msim_change_read_reshape(struct msim_change_reader *r, const char *key)
{
    read_axis(r, key, true);
}

/* A size of the model: its name, and its role in the trace. */
static const struct {
    const char *key;
    enum msim_size_role role;
} MODEL_SIZES[] = {{"hidden", MSIM_SIZE_HIDDEN},
                   {"heads", MSIM_SIZE_HEADS},
                   {"ffn", MSIM_SIZE_FFN},
                   {"vocab", MSIM_SIZE_VOCAB}};

/* Is the same size asked for already? Two of one kind are told apart by what
 * they are from. */
static bool asked_already(const struct msim_reshape *r,
                          const struct msim_model_size *size)
{
    for (uint32_t i = 0; i < r->n_sizes; i++) {
        const struct msim_model_size *other = &r->sizes[i];

        if (other->role == size->role &&
            (!other->from || !size->from || other->from == size->from))
            return true;
    }
    return false;
}

void msim_change_read_model_size(struct msim_change_reader *r, const char *key)
{
    struct msim_reshape *reshape = &r->row->settings.reshape;
    struct msim_model_size size = {0};
    struct msim_axis axis = read_from_to(r, key, true, false);

    for (size_t i = 0; i < sizeof(MODEL_SIZES) / sizeof(*MODEL_SIZES); i++)
        if (strcmp(MODEL_SIZES[i].key, key) == 0)
            size.role = (uint8_t)MODEL_SIZES[i].role;
    size.from = axis.from;
    size.to = axis.to;
    if (asked_already(reshape, &size))
        msim_field_refuse(r->f, key, "each size once a scenario");
    else if (reshape->n_sizes == MSIM_RESHAPE_SIZES)
        msim_field_refuse(r->f, key, "at most 8 such changes a scenario");
    else
        reshape->sizes[reshape->n_sizes++] = size;
    r->row->other_target = true;
}

void msim_change_read_dtype(struct msim_change_reader *r, const char *key)
{
    static const char *const WORDS[] = {
        "bf16", "fp16", "amp_bf16", "amp_fp16", "fp8", "amp_fp8", "tf32", NULL};
    int word = msim_field_word(r->f, key, WORDS, -1);
    enum msim_dtype dtype = word % 2 ? MSIM_DT_F16 : MSIM_DT_BF16;
    struct msim_predict_settings *s = &r->row->settings;

    r->row->other_target = true;
    if (word < 0)
        return;
    if (word < 2)
        s->reshape.dtype = dtype;
    else if (word < 4)
        s->rewrite.autocast = (uint8_t)dtype;
    else if (word == 5)
        s->rewrite.autocast = MSIM_DT_BF16;
    s->reshape.tf32 |= word == 6;
    s->rewrite.fp8 |= word == 4 || word == 5;
}
