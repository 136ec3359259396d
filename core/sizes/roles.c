/*
 * core/sizes/roles.c - what operators mean names their sizes: attention has
 * heads, a normalisation the width, a loss the vocabulary.
 */
#include "core/sizes/sizes_internal.h"

#include <stdlib.h>
#include <string.h>

/* Of sizes: a layer makes them; they are as wide as a table, whatever layers
 * are; a layer takes them, or what they are a part of. */
enum { MADE = 1, LOOKED_UP = 2, TAKEN = 4 };

struct finding {
    struct msim_sizes *s;
    uint32_t *normed;   /* by class: normalisations of it */
    uint8_t *activated; /* by class: it is the last size of what is activated */
    uint8_t *back;      /* by class: a layer takes it to the width */
    uint8_t *from;      /* by class: a layer makes it of the width */
    uint8_t *onward;    /* by class: a layer takes it, to whatever */
    uint8_t *layered;   /* by class: MADE, LOOKED_UP, TAKEN */
    uint32_t op, end;   /* where the backward pass of an operator ends */
    bool forward;       /* the operator is outside */
};

/* ---- tensors by their place ---- */

struct seen {
    const int64_t *dims;
    uint32_t n, id;
};

/* Tensor `i` of a list whose tensors have ids from `id` on. */
static bool tensor_of(const struct msim_sizes *s, uint32_t block, uint32_t id,
                      uint32_t i, struct seen *out)
{
    const struct msim_trace *t = s->t;
    const struct msim_arg *want = msim_args_get(t, block, i), *a;

    if (!want || want->kind != MSIM_ARG_TENSOR || id == MSIM_NONE)
        return false;
    for (a = t->args + t->blocks[block].first; a < want; a++)
        id += a->kind == MSIM_ARG_TENSOR;
    *out = (struct seen){msim_arg_dims(t, want), want->n, id};
    return true;
}

/* Argument `i` of operator `op`, if it is a tensor with an id. */
static bool argument(const struct msim_sizes *s, uint32_t op, uint32_t i,
                     struct seen *out)
{
    const struct msim_op *o = &s->t->ops[op];

    return tensor_of(s, o->args, o->ids, i, out);
}

/* The class of dimension `dim` of it; from the last one on where negative. */
static uint32_t class_at(const struct msim_sizes *s, const struct seen *x,
                         int dim)
{
    if (dim < 0)
        dim += (int)x->n;
    return dim >= 0 && dim < (int)x->n
               ? msim_size_class_of(s, x->id, (uint32_t)dim)
               : MSIM_NONE;
}

/* ---- naming ---- */

/* The first role stays; another one that cannot be is kept beside it. One head
 * alone is as wide as the model. */
static void name_class(struct finding *f, uint32_t c, enum msim_size_role role)
{
    struct msim_size_class *k = c == MSIM_NONE ? NULL : &f->s->classes[c];

    if (!k || k->role == role)
        return;
    if (k->role == MSIM_SIZE_NONE ||
        (k->role == MSIM_SIZE_HEAD_SIZE && role == MSIM_SIZE_HIDDEN)) {
        k->role = (uint8_t)role;
        k->op = f->op;
    } else if (!(k->role == MSIM_SIZE_HEADS && role == MSIM_SIZE_KV_HEADS) &&
               !(k->role == MSIM_SIZE_HIDDEN && role == MSIM_SIZE_HEAD_SIZE)) {
        k->also = (uint8_t)role;
    }
}

static void name_free(struct finding *f, uint32_t c, enum msim_size_role role)
{
    if (c != MSIM_NONE && f->s->classes[c].role == MSIM_SIZE_NONE)
        name_class(f, c, role);
}

static bool has_role(const struct finding *f, uint32_t c,
                     enum msim_size_role role)
{
    return c != MSIM_NONE && f->s->classes[c].role == role;
}

/* ---- attention ---- */

/* Samples, heads, tokens, channels; or tokens before heads. */
static void name_attention(struct finding *f, bool tokens_first)
{
    const int h = tokens_first ? 2 : 1, t = tokens_first ? 1 : 2;
    struct seen q, k, v;

    if (!argument(f->s, f->op, 0, &q) || !argument(f->s, f->op, 1, &k) ||
        !argument(f->s, f->op, 2, &v) || q.n != 4 || k.n != 4 || v.n != 4)
        return;
    name_class(f, class_at(f->s, &q, h), MSIM_SIZE_HEADS);
    name_class(f, class_at(f->s, &k, h), MSIM_SIZE_KV_HEADS);
    name_class(f, class_at(f->s, &v, h), MSIM_SIZE_KV_HEADS);
    name_class(f, class_at(f->s, &q, 3), MSIM_SIZE_HEAD_SIZE);
    name_class(f, class_at(f->s, &v, 3), MSIM_SIZE_HEAD_SIZE);
    name_class(f, class_at(f->s, &q, 0), MSIM_SIZE_BATCH);
    name_class(f, class_at(f->s, &q, t), MSIM_SIZE_SEQUENCE);
    name_class(f, class_at(f->s, &k, t), MSIM_SIZE_SEQUENCE);
}

/* Scores of attention that is made of products: [samples, heads, tokens,
 * tokens]. */
static void name_scores(struct finding *f)
{
    struct seen x;

    if (!argument(f->s, f->op, 0, &x) || x.n != 4)
        return;
    name_free(f, class_at(f->s, &x, 1), MSIM_SIZE_HEADS);
    name_free(f, class_at(f->s, &x, 0), MSIM_SIZE_BATCH);
    name_free(f, class_at(f->s, &x, 2), MSIM_SIZE_SEQUENCE);
    name_free(f, class_at(f->s, &x, 3), MSIM_SIZE_SEQUENCE);
}

static bool is_attention(const char *name)
{
    return strstr(name, "scaled_dot_product") && !strstr(name, "backward");
}

static void find_attention(struct finding *f, const char *name)
{
    if (is_attention(name))
        name_attention(f, false);
    else if (strstr(name, "flash_attention_forward"))
        name_attention(f, true);
    else if (!strcmp(name, "aten::softmax") || !strcmp(name, "aten::_softmax"))
        name_scores(f);
}

/* Products of queries and keys have the size of a head inside; those of scores
 * and values make it. */
static void find_head_size(struct finding *f, const char *name)
{
    struct seen a, b;
    uint32_t inner;

    if (strcmp(name, "aten::matmul") != 0 || !argument(f->s, f->op, 0, &a) ||
        !argument(f->s, f->op, 1, &b) || a.n != 4 || b.n != 4 ||
        !has_role(f, class_at(f->s, &a, 1), MSIM_SIZE_HEADS))
        return;
    inner = class_at(f->s, &a, 3);
    if (has_role(f, inner, MSIM_SIZE_SEQUENCE))
        inner = class_at(f->s, &b, 3);
    name_free(f, inner, MSIM_SIZE_HEAD_SIZE);
}

/* Is class `c` in a product with one that has `role`? */
static bool goes_with(const struct finding *f, uint32_t c,
                      enum msim_size_role role)
{
    const struct msim_sizes *s = f->s;

    for (uint32_t i = 0; i < s->n_ties; i++) {
        const struct msim_size_tie *tie = &s->ties[i];
        bool has = false, with = false;

        for (uint32_t k = 0; k < tie->n_left + tie->n_right && !tie->sum; k++) {
            has |= s->terms[tie->first + k] == c;
            with |= has_role(f, s->terms[tie->first + k], role);
        }
        if (has && with)
            return true;
    }
    return false;
}

/* Heads of keys that are repeated for those of queries: what a layer makes of
 * them is a head's size times their number. */
static void name_repeated(struct finding *f)
{
    const struct msim_sizes *s = f->s;

    for (uint32_t i = 0; i < s->n_ties; i++) {
        const struct msim_size_tie *tie = &s->ties[i];
        const uint32_t *left = s->terms + tie->first;
        const uint32_t *two = tie->n_left == 2 ? left : left + tie->n_left;
        uint32_t one = tie->n_left == 2 ? left[2] : left[0];

        if (tie->sum || tie->n_left + tie->n_right != 3 || !tie->n_right ||
            !has_role(f, one, MSIM_SIZE_HEADS))
            continue;
        f->op = tie->op;
        for (int k = 0; k < 2; k++)
            if (s->classes[two[k]].role == MSIM_SIZE_NONE &&
                goes_with(f, two[k], MSIM_SIZE_HEAD_SIZE))
                name_class(f, two[k], MSIM_SIZE_KV_HEADS);
    }
}

/* ---- width and vocabulary ---- */

static bool is_norm(const char *name)
{
    static const char *const NAMES[] = {"aten::native_layer_norm",
                                        "aten::rms_norm",
                                        "aten::_fused_rms_norm", NULL};

    for (const char *const *n = NAMES; *n; n++)
        if (!strcmp(*n, name))
            return true;
    return false;
}

static void count_norms(struct finding *f, const char *name)
{
    struct seen x;
    uint32_t c;

    if (!is_norm(name) || !argument(f->s, f->op, 0, &x))
        return;
    c = class_at(f->s, &x, -1);
    if (c != MSIM_NONE && f->s->classes[c].role != MSIM_SIZE_HEAD_SIZE)
        f->normed[c]++;
}

static bool is_table(const struct msim_sizes *s, uint32_t op, const char *name,
                     struct seen *x)
{
    return !strcmp(name, "aten::embedding") && argument(s, op, 0, x) &&
           x->n == 2;
}

/* How wide the model is: what is normalised most often, else what the largest
 * table has. */
static uint32_t main_width(const struct finding *f)
{
    const struct msim_sizes *s = f->s;
    uint32_t best = MSIM_NONE;
    int64_t rows = 0;
    bool normed;

    for (uint32_t c = 0; c < s->n_classes; c++)
        if (f->normed[c] &&
            (best == MSIM_NONE || f->normed[c] > f->normed[best]))
            best = c;
    normed = best != MSIM_NONE;
    for (uint32_t i = 0; !normed && i < s->t->n_ops; i++) {
        const char *name = msim_trace_text(s->t, s->t->ops[i].name);
        struct seen x;

        if (is_table(s, i, name, &x) && x.dims[0] > rows &&
            class_at(s, &x, 1) != MSIM_NONE) {
            rows = x.dims[0];
            best = class_at(s, &x, 1);
        }
    }
    return best;
}

/* What a table is asked for: samples and their tokens, or all in a row. */
static void find_tokens(struct finding *f, const char *name)
{
    struct seen x;

    if (strstr(name, "convolution") && !strstr(name, "backward") &&
        argument(f->s, f->op, 0, &x))
        name_free(f, class_at(f->s, &x, 0), MSIM_SIZE_BATCH);
    if (strcmp(name, "aten::embedding") != 0 || !argument(f->s, f->op, 1, &x))
        return;
    if (x.n == 1)
        name_free(f, class_at(f->s, &x, 0), MSIM_SIZE_TOKENS);
    if (x.n != 2)
        return;
    name_free(f, class_at(f->s, &x, 0), MSIM_SIZE_BATCH);
    name_free(f, class_at(f->s, &x, 1), MSIM_SIZE_SEQUENCE);
}

/* The classes of a loss, if it is one. */
static bool loss_classes(const struct msim_sizes *s, uint32_t op,
                         const char *name, uint32_t *c)
{
    struct seen x;

    if ((strcmp(name, "aten::nll_loss_forward") != 0 &&
         strcmp(name, "aten::nll_loss") != 0 &&
         strcmp(name, "aten::_log_softmax") != 0) ||
        !argument(s, op, 0, &x) || x.n < 2)
        return false;
    *c = class_at(s, &x, 1);
    if (!strcmp(name, "aten::_log_softmax"))
        *c = class_at(s, &x, -1);
    return *c != MSIM_NONE;
}

/* Others that are as wide, in an encoder beside a decoder, are so for the same
 * reason. False: neither norms nor tables say it. */
static bool name_width(struct finding *f)
{
    struct msim_sizes *s = f->s;
    uint32_t width = main_width(f);

    if (width == MSIM_NONE)
        return false;
    name_class(f, width, MSIM_SIZE_HIDDEN);
    for (uint32_t c = 0; c < s->n_classes; c++)
        if (f->normed[c] && s->classes[c].size == s->classes[width].size)
            name_free(f, c, MSIM_SIZE_HIDDEN);
    for (uint32_t i = 0; i < s->t->n_ops; i++) {
        struct seen x;

        if (is_table(s, i, msim_trace_text(s->t, s->t->ops[i].name), &x) &&
            x.dims[1] == s->classes[width].size)
            name_free(f, class_at(s, &x, 1), MSIM_SIZE_HIDDEN);
    }
    return true;
}

/* Rows of a table that are as many as a loss tells apart; of the largest where
 * no loss has as many. */
static void name_vocabulary(struct finding *f)
{
    struct msim_sizes *s = f->s;
    uint32_t largest = MSIM_NONE, loss = MSIM_NONE;
    int64_t rows = 0;

    for (uint32_t i = 0; i < s->t->n_ops; i++)
        if (loss_classes(s, i, msim_trace_text(s->t, s->t->ops[i].name), &loss))
            break;
    for (uint32_t i = 0; i < s->t->n_ops; i++) {
        struct seen x;

        if (!is_table(s, i, msim_trace_text(s->t, s->t->ops[i].name), &x))
            continue;
        f->op = i;
        if (loss != MSIM_NONE && x.dims[0] == s->classes[loss].size) {
            name_class(f, class_at(s, &x, 0), MSIM_SIZE_VOCAB);
            name_class(f, loss, MSIM_SIZE_VOCAB);
            largest = MSIM_NONE;
            rows = INT64_MAX;
        } else if (x.dims[0] > rows) {
            rows = x.dims[0];
            largest = class_at(s, &x, 0);
        }
    }
    name_free(f, largest, MSIM_SIZE_VOCAB);
}

/* ---- what is between linear layers ---- */

static void find_activated(struct finding *f, const char *name)
{
    static const char *const NAMES[] = {
        "aten::gelu",     "aten::silu",      "aten::silu_",
        "aten::relu",     "aten::relu_",     "aten::tanh",
        "aten::elu",      "aten::mish",      "aten::leaky_relu",
        "aten::gelu_",    "aten::hardswish", "aten::sigmoid",
        "aten::softplus", "aten::glu",       NULL};
    const struct msim_op *op = &f->s->t->ops[f->op];
    struct seen x;
    uint32_t c;

    for (const char *const *n = NAMES; *n; n++)
        if (!strcmp(*n, name) &&
            tensor_of(f->s, op->outs, op->out_ids, 0, &x)) {
            c = class_at(f->s, &x, -1);
            if (c != MSIM_NONE)
                f->activated[c] = 1;
        }
}

/* A layer, from `in` to `out`: products of the forward pass. NONE: a size of
 * one. */
static bool is_layer(const struct finding *f, const char *name, uint32_t *in,
                     uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t a, b;
        int in, out;
    } LAYERS[] = {{"aten::linear", 0, 1, -1, 0},
                  {"aten::mm", 0, 1, -1, -1},
                  {"aten::addmm", 1, 2, -1, -1},
                  {"aten::bmm", 0, 1, -1, -1},
                  {"aten::_grouped_mm", 0, 1, -1, -1},
                  {"aten::_scaled_mm", 0, 1, -1, -1},
                  {"aten::_scaled_grouped_mm", 0, 1, -1, -1},
                  {"aten::conv1d", 0, 1, 1, 0},
                  {"aten::conv2d", 0, 1, 1, 0},
                  {"aten::conv3d", 0, 1, 1, 0},
                  {"aten::conv_transpose1d", 0, 1, 1, 1},
                  {"aten::conv_transpose2d", 0, 1, 1, 1},
                  {"aten::conv_transpose3d", 0, 1, 1, 1}};

    for (size_t i = 0; i < sizeof(LAYERS) / sizeof(*LAYERS); i++) {
        struct seen a, b;

        if (strcmp(LAYERS[i].name, name) != 0 ||
            !argument(f->s, f->op, LAYERS[i].a, &a) ||
            !argument(f->s, f->op, LAYERS[i].b, &b))
            continue;
        *in = class_at(f->s, &a, LAYERS[i].in);
        *out = class_at(f->s, &b, LAYERS[i].out);
        return true;
    }
    return false;
}

static void note_layer(struct finding *f, uint32_t c)
{
    struct msim_size_class *k = &f->s->classes[c];

    if (!k->layer && !k->role)
        k->op = f->op;
    k->layer = 1;
}

static void find_layer(struct finding *f, const char *name)
{
    uint32_t in, out;

    if (!f->forward || !is_layer(f, name, &in, &out) || in == MSIM_NONE ||
        out == MSIM_NONE)
        return;
    note_layer(f, in);
    note_layer(f, out);
    f->onward[in] = 1;
    if (has_role(f, in, MSIM_SIZE_HIDDEN))
        f->from[out] = 1;
    if (has_role(f, out, MSIM_SIZE_HIDDEN))
        f->back[in] = 1;
}

static bool are_multiples(int64_t a, int64_t b)
{
    return a > 1 && b > 1 && (a % b == 0 || b % a == 0);
}

/* An MLP goes from the width, is activated, and comes back to it. What goes
 * elsewhere (a pooler) is of the width's making where it is a multiple. */
static void name_layers(struct finding *f)
{
    const struct msim_sizes *s = f->s;
    int64_t width = 0;

    for (uint32_t c = 0; c < s->n_classes; c++)
        if (s->classes[c].role == MSIM_SIZE_HIDDEN)
            width = s->classes[c].size;
    for (uint32_t c = 0; c < s->n_classes; c++) {
        if (!f->activated[c] || f->layered[c] & LOOKED_UP)
            continue;
        f->op = s->classes[c].op;
        if (f->back[c])
            name_free(f, c, MSIM_SIZE_FFN);
        else if (f->from[c] && f->onward[c] &&
                 are_multiples(s->classes[c].size, width))
            name_free(f, c, MSIM_SIZE_INNER);
    }
}

static bool is_backward(const struct msim_op *op, const char *name)
{
    return op->scope == 1 || strstr(name, "Backward");
}

static void each(struct finding *f,
                 void (*find)(struct finding *, const char *))
{
    const struct msim_trace *t = f->s->t;

    f->end = 0;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const char *name = msim_trace_text(t, t->ops[i].name);

        if (i >= f->end && is_backward(&t->ops[i], name))
            f->end = t->ops[i].end;
        f->forward = i >= f->end;
        f->op = i;
        find(f, name);
    }
}

static void mark(struct finding *f, uint32_t c, uint8_t how)
{
    if (c != MSIM_NONE)
        f->layered[c] |= how;
}

/* What layers make and take, and how often they take as much as they make. */
static void count_squares(struct finding *f, const char *name)
{
    const struct msim_size_class *k = f->s->classes;
    uint32_t in, out;
    struct seen x;

    if (strstr(name, "embedding_bag") && argument(f->s, f->op, 0, &x))
        mark(f, class_at(f->s, &x, -1), LOOKED_UP);
    if (!f->forward || !is_layer(f, name, &in, &out))
        return;
    mark(f, out, MADE);
    mark(f, in, TAKEN);
    if (in != MSIM_NONE && out != MSIM_NONE)
        f->normed[in] += k[in].size == k[out].size;
}

/* A layer takes what it is a part of: channels of two beside each other, or of
 * pictures in a row. */
static void pass_taken(struct finding *f, const struct msim_size_tie *tie)
{
    const uint32_t *terms = f->s->terms + tie->first;
    uint32_t n = tie->n_left + tie->n_right, one = tie->n_left == 1 ? 0 : n - 1;

    for (uint32_t k = 0; k < n && (!one || tie->n_right == 1); k++)
        mark(f, terms[k], f->layered[terms[one]] & TAKEN);
}

/* The size that most layers take and give, of as many the smallest; 0: none. */
static int64_t square_size(const struct finding *f)
{
    const struct msim_size_class *k = f->s->classes;
    uint64_t most = 0, n;
    int64_t best = 0;

    for (uint32_t c = 0; c < f->s->n_classes; c++) {
        n = 0;
        for (uint32_t d = 0; d < f->s->n_classes && f->normed[c]; d++)
            n += k[d].size == k[c].size ? f->normed[d] : 0;
        if (n > most || (n && n == most && k[c].size < best))
            best = k[c].size;
        most = n > most ? n : most;
    }
    return best;
}

/* MLPs and convolutions without norms and tables are as wide as most of their
 * layers, which take and give one size. What another one makes and another one
 * takes is so, or is of the width's making. */
static void name_layered(struct finding *f)
{
    const struct msim_size_class *k = f->s->classes;
    int64_t width;

    each(f, count_squares);
    for (uint32_t i = 0; i < f->s->n_ties; i++)
        pass_taken(f, &f->s->ties[i]);
    width = square_size(f);
    for (uint32_t c = 0; c < f->s->n_classes; c++) {
        f->op = k[c].op;
        if (f->layered[c] == (MADE | TAKEN) && are_multiples(k[c].size, width))
            name_free(f, c,
                      k[c].size == width ? MSIM_SIZE_HIDDEN : MSIM_SIZE_INNER);
    }
}

static void name_all(struct finding *f)
{
    each(f, find_attention);
    each(f, find_head_size);
    name_repeated(f);
    each(f, find_tokens);
    msim_size_name_tokens(f->s);
    each(f, count_norms);
    f->op = 0;
    if (!name_width(f))
        name_layered(f);
    name_vocabulary(f);
    each(f, find_activated);
    each(f, find_layer);
    name_layers(f);
}

enum msim_status msim_size_roles(struct msim_sizes *s)
{
    size_t n = (size_t)s->n_classes + 1;
    struct finding f = {.s = s,
                        .normed = calloc(n, sizeof(*f.normed)),
                        .activated = calloc(n, 5)};
    enum msim_status status = MSIM_ENOMEM;

    if (f.normed && f.activated) {
        f.back = f.activated + n;
        f.from = f.back + n;
        f.onward = f.from + n;
        f.layered = f.onward + n;
        name_all(&f);
        status = MSIM_OK;
    }
    free(f.normed);
    free(f.activated);
    return status;
}
