/*
 * plan/describe/describe_check.c - what sizes of a model must be of one
 * another.
 */
#include "plan/describe/describe_internal.h"

/* The member's name in this file: the first of `keys` that it has, else the
 * last. */
static const char *key_of(const struct msim_fields *f, const char *const *keys)
{
    while (keys[1] && !msim_field_json(f, *keys))
        keys++;
    return *keys;
}
#define KEY_OF(f, ...) key_of(f, (const char *const[]){__VA_ARGS__, NULL})

#define MOST_PIXELS 65536

static void check_image(const struct msim_described *m, struct msim_fields *f)
{
    if (m->image.size > MOST_PIXELS)
        msim_field_refuse(f, KEY_OF(f, "image_size", "image"),
                          "at most 65536 pixels a side");
    if (m->image.patch > m->image.size || m->image.size % m->image.patch != 0)
        msim_field_refuse(f, KEY_OF(f, "patch_size", "patch"),
                          "a divisor of the image's side");
}

void msim_described_check(struct msim_described *m, struct msim_fields *f)
{
    if (m->type == MSIM_MODEL_DLRM)
        return;
    if (m->type == MSIM_MODEL_VIT)
        check_image(m, f);
    if (m->head_dim == 0 && !m->mla.kv_rank) {
        m->head_dim = m->hidden / m->heads;
        if (m->hidden % m->heads != 0)
            msim_field_refuse(
                f,
                KEY_OF(f, "num_attention_heads", "n_head", "n_heads",
                       "num_heads", "heads"),
                "a divisor of the model's width, or \"head_dim\"");
    }
    if (m->kv_heads > 0 && m->heads % m->kv_heads != 0)
        msim_field_refuse(
            f, KEY_OF(f, "num_key_value_heads", "num_kv_heads", "kv_heads"),
            "a divisor of the number of heads");
}
