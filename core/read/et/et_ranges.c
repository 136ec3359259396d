/*
 * core/read/et/et_ranges.c - the attribute `tensor_range`: least and greatest
 * value of the integral inputs of a node.
 *
 * It is a JSON object in a string, {"0":[1,7],"2":[0,3]}. Keys count the
 * node's input tensors in preorder, undefined and empty ones too. Numbers that
 * are not whole are left out; text that is none of this ends the list.
 */
#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/read/et/read_et.h"

struct scan {
    const char *at, *end;
};

static bool take(struct scan *s, char c)
{
    while (s->at < s->end && *s->at == ' ')
        s->at++;
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* Past the text before `stop`, whatever it is; whether it is a whole number. */
static bool take_int(struct scan *s, char stop, int64_t *value)
{
    const char *from = s->at, *to;

    while (s->at < s->end && *s->at != stop)
        s->at++;
    for (to = s->at; to > from && to[-1] == ' ';)
        to--;
    while (from < to && *from == ' ')
        from++;
    return msim_decimal_int(from, (size_t)(to - from), value);
}

/* "0":[1,7]; false where the text is something else. */
static bool take_range(struct scan *s, struct msim_vec *inputs)
{
    struct msim_et_input *all = inputs->data;
    int64_t key, low, high;
    bool whole;

    if (!take(s, '"'))
        return false;
    whole = take_int(s, '"', &key);
    if (!take(s, '"') || !take(s, ':') || !take(s, '['))
        return false;
    whole &= take_int(s, ',', &low);
    if (!take(s, ','))
        return false;
    whole &= take_int(s, ']', &high);
    if (!take(s, ']'))
        return false;
    if (whole && key >= 0 && key < inputs->n && low <= high)
        all[key] = (struct msim_et_input){all[key].id, true, low, high};
    return true;
}

static enum msim_status add_range(struct msim_trace *t,
                                  const struct msim_et_input *in)
{
    if (!in->has_range || in->id == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&t->ranges, &t->cap_ranges, t->n_ranges,
                       sizeof(*t->ranges)));
    t->ranges[t->n_ranges++] =
        (struct msim_tensor_range){in->id, in->low, in->high};
    return MSIM_OK;
}

enum msim_status msim_et_ranges(struct msim_reader *r)
{
    struct msim_et *e = msim_et_of(r);
    const char *text = (const char *)e->text.data + e->node.ranges.at;
    struct scan s = {text, text + e->node.ranges.len};
    const struct msim_et_input *inputs = e->inputs.data;

    if (!take(&s, '{'))
        return MSIM_OK;
    while (take_range(&s, &e->inputs) && take(&s, ','))
        ;
    for (uint32_t i = 0; i < e->inputs.n; i++)
        MSIM_TRY(add_range(r->trace, &inputs[i]));
    return MSIM_OK;
}
