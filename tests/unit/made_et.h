/*
 * tests/unit/made_et.h - an execution trace in the making, the program of it
 * and its text in Python, for the tests of replay.
 *
 * An operator's tensors and numbers are written as
 *
 *     7:2x3      storage 7, sizes 2 and 3, fp32, its rows one behind the other
 *     12#7:6     the same storage, but tensor 12 (else its number is the
 *                storage's)
 *     8:         without sizes; 8:d fp64, 8:l int64, 8:b bool, 8:h fp16
 *     7:2x2@1/3/1  from element 1 on, with strides 3 and 1
 *     =5 =0.5 =true 'text  - !       numbers, words, None, no tensor
 *     (7:2 8:2)  a list
 *
 * Tensor ids and node ids are of one counter in PyTorch: nodes begin at 100.
 */
#ifndef MSIM_TESTS_UNIT_MADE_ET_H
#define MSIM_TESTS_UNIT_MADE_ET_H
#include "replay/emit/emit_python_internal.h"
#include "replay/program/program.h"

#include "tests/unit/loaded.h"

struct made_et {
    char *text;
    size_t len, cap;
    int seq;            /* of the next operator, once; 0: none */
    const char *device; /* NULL: cpu */
    const char *ranges; /* tensor_range of the next operator, once */
};

MSIM_PRINTF(2, 3)
static inline void et_put(struct made_et *m, const char *fmt, ...)
{
    va_list ap;

    if (m->cap - m->len < 1024) {
        m->cap = m->cap * 2 + 4096;
        m->text = realloc(m->text, m->cap);
        if (!m->text)
            abort();
    }
    va_start(ap, fmt);
    m->len += (size_t)vsnprintf(m->text + m->len, m->cap - m->len, fmt, ap);
    va_end(ap);
}

/* ---- tensors ------------------------------------------------------------- */

struct et_tensor {
    unsigned long id, storage;
    long long offset, dims[8], strides[8], elements;
    unsigned n, bytes;
    const char *dtype;
};

static inline const char *et_read_dtype(struct et_tensor *x, const char *s)
{
    static const struct {
        char letter;
        unsigned char bytes;
        const char *name;
    } types[] = {{'d', 8, "double"},
                 {'l', 8, "long int"},
                 {'b', 1, "bool"},
                 {'h', 2, "c10::Half"},
                 {'i', 4, "int"}};

    x->dtype = "float";
    x->bytes = 4;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (*s == types[i].letter) {
            x->dtype = types[i].name;
            x->bytes = types[i].bytes;
            return s + 1;
        }
    return s;
}

static inline const char *et_read_tensor(struct et_tensor *x, const char *s)
{
    char *end;
    long long size = 1;

    *x = (struct et_tensor){0};
    x->id = x->storage = strtoul(s, &end, 10);
    if (*end == '#')
        x->storage = strtoul(end + 1, &end, 10);
    for (s = end + (*end == ':'); *s >= '0' && *s <= '9' && x->n < 8;
         s = end + (*end == 'x'))
        x->dims[x->n++] = strtoll(s, &end, 10);
    s = et_read_dtype(x, s);
    if (*s == '@') {
        x->offset = strtoll(s + 1, &end, 10);
        s = end;
    }
    /* Tests make sizes whose product no number holds: it wraps. */
    for (unsigned i = x->n; i-- > 0;) {
        x->strides[i] = size;
        if (__builtin_mul_overflow(size, x->dims[i], &size))
            continue;
    }
    x->elements = size;
    for (unsigned i = 0; *s == '/' && i < 8; i++) {
        x->strides[i] = strtoll(s + 1, &end, 10);
        s = end;
    }
    return s;
}

/* ---- one side of an operator --------------------------------------------- */

enum et_part { ET_VALUES, ET_SHAPES, ET_TYPES, ET_STRIDES };

static inline void et_put_sizes(struct made_et *m, const long long *sizes,
                                unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        et_put(m, "%s%lld", i ? "," : "", sizes[i]);
}

static inline const char *et_put_tensor(struct made_et *m, const char *s,
                                        enum et_part part)
{
    struct et_tensor x;

    s = et_read_tensor(&x, s);
    if (part == ET_TYPES) {
        et_put(m, "Tensor(%s)", x.dtype);
        return s;
    }
    et_put(m, "[");
    if (part == ET_VALUES)
        et_put(m, "%lu,%lu,%lld,%lld,%u,\"%s\"", x.id, x.storage, x.offset,
               x.elements, x.bytes, m->device ? m->device : "cpu");
    else
        et_put_sizes(m, part == ET_SHAPES ? x.dims : x.strides, x.n);
    et_put(m, "]");
    return s;
}

static inline const char *et_put_scalar(struct made_et *m, const char *s,
                                        enum et_part part)
{
    size_t n = strcspn(s, " )");
    bool real = n && (memchr(s, '.', n) || memchr(s, 'e', n));

    if (part == ET_SHAPES || part == ET_STRIDES)
        et_put(m, "[]");
    else if (part == ET_TYPES)
        et_put(m, "%s",
               *s == '-'                    ? "None"
               : *s == '!'                  ? "Tensor(nullptr (uninitialized))"
               : *s == '\''                 ? "String"
               : s[1] == 't' || s[1] == 'f' ? "Bool"
               : real                       ? "Double"
                                            : "Int");
    else if (*s == '-')
        et_put(m, "\"<None>\"");
    else if (*s == '!')
        et_put(m, "[0,0,0,0,0,\"\"]");
    else if (*s == '\'')
        et_put(m, "\"%.*s\"", (int)n - 1, s + 1);
    else
        et_put(m, "%.*s", (int)n - 1, s + 1);
    return s + n;
}

static inline void et_put_part(struct made_et *m, const char *s,
                               enum et_part part)
{
    bool first = true;
    unsigned depth = 0;

    for (; *s; s += *s == ' ') {
        const char *quote = part == ET_TYPES && depth == 0 ? "\"" : "";

        if (*s == ')') {
            et_put(m, "]%s", part == ET_TYPES && --depth == 0 ? "\"" : "");
            first = false;
            s++;
            continue;
        }
        et_put(m, "%s%s", first ? "" : ",", quote);
        first = *s == '(';
        if (*s == '(') {
            et_put(m, "%s[", part == ET_TYPES ? "GenericList" : "");
            depth++;
            s++;
            continue;
        }
        s = *s >= '0' && *s <= '9' ? et_put_tensor(m, s, part)
                                   : et_put_scalar(m, s, part);
        et_put(m, "%s", quote);
    }
}

static inline void et_put_side(struct made_et *m, const char *name,
                               const char *s)
{
    static const char *const parts[] = {"values", "shapes", "types", "strides"};

    et_put(m, ",\"%s\":{", name);
    for (int part = ET_VALUES; part <= ET_STRIDES; part++) {
        et_put(m, "%s\"%s\":[", part ? "," : "", parts[part]);
        et_put_part(m, s, (enum et_part)part);
        et_put(m, "]");
    }
    et_put(m, "}");
}

static inline bool et_is_label(const char *name)
{
    return !strstr(name, "::") &&
           (strchr(name, ' ') || !strncmp(name, "ProfilerStep", 12));
}

/* Node `id`, below `parent` (0: none), on a thread. `what` is a signature, or
 * the name of a label, in which a blank stands or which marks a step. */
static inline void et_node(struct made_et *m, unsigned id, unsigned parent,
                           unsigned thread, const char *what, const char *in,
                           const char *out)
{
    const char *open = strstr(what, "::") ? strchr(what, '(') : NULL;
    size_t name = strcspn(what, open ? ".(" : "");

    et_put(m, "%s{\"id\":%u,\"name\":\"%.*s\",\"ctrl_deps\":%u",
           m->len ? "," : "{\"schema\":\"1.1.1\",\"nodes\":[", id, (int)name,
           what, parent);
    et_put_side(m, "inputs", in);
    et_put_side(m, "outputs", out);
    et_put(m,
           ",\"attrs\":[{\"name\":\"tid\",\"value\":%u},{\"name\":\"scope\","
           "\"value\":%d},{\"name\":\"seq_id\","
           "\"value\":%d},{\"name\":\"op_schema\",\"value\":\"%s\"},{\"name\":"
           "\"tensor_range\",\"value\":\"%s\"}]}",
           thread, et_is_label(what) ? 7 : 0, m->seq ? m->seq : -1,
           open ? what : "", m->ranges ? m->ranges : "");
    m->seq = 0;
    m->ranges = NULL;
}

/* An outermost operator of thread 1. */
static inline void et_op(struct made_et *m, unsigned id, const char *schema,
                         const char *in, const char *out)
{
    et_node(m, id, 0, 1, schema, in, out);
}

/* ---- its program --------------------------------------------------------- */

struct made_program {
    struct msim_job *job;
    struct msim_program *p;
    struct msim_loops fold;
    struct msim_body body;
    struct msim_error err;
    enum msim_status status;
    const char *text; /* of step() */
};

static inline void program_done(struct made_program *x)
{
    if (x->p) {
        msim_body_release(&x->body);
        msim_loops_release(&x->fold);
    }
    msim_program_free(x->p);
    msim_job_free(x->job);
    *x = (struct made_program){0};
}

/* The program of what was made, and its text; false (and x->err) without one.
 * What was made is gone then. */
static inline bool program_of(struct made_et *m, struct made_program *x,
                              const struct msim_program_options *options,
                              bool loops)
{
    struct msim_load_options load = {.salvage = true, .details = true};
    struct msim_program_options whole = {.step = MSIM_NONE, .namespaces = "my"};

    et_put(m, "]}");
    *x = (struct made_program){0};
    x->job = load_text_as(m->text, load, &x->err);
    if (!x->job)
        fprintf(stderr, "%s\n%s\n", x->err.text, m->text);
    free(m->text);
    *m = (struct made_et){0};
    if (!CHECK(x->job != NULL))
        return false;
    x->status = msim_program_new(&x->p, x->job->ranks[0],
                                 options ? options : &whole, &x->err);
    if (x->status != MSIM_OK)
        return false;
    x->body = (struct msim_body){.p = x->p, .fold = &x->fold};
    if (!CHECK(msim_loops_find(&x->fold, x->p, loops) == MSIM_OK) ||
        !CHECK(msim_body_write(&x->body) == MSIM_OK))
        return false;
    x->text = msim_text_get(&x->body.text);
    return true;
}

/* What stands in step(), written out. */
#define CHECK_PROGRAM(m, want)                                                 \
    do {                                                                       \
        struct made_program made_;                                             \
        if (CHECK(program_of((m), &made_, NULL, false)))                       \
            CHECK_STR(made_.text, (want));                                     \
        program_done(&made_);                                                  \
    } while (0)

/* ---- operators that tests call ------------------------------------------- */

#define ET_MM   "aten::mm(Tensor self, Tensor mat2) -> Tensor"
#define ET_RELU "aten::relu(Tensor self) -> Tensor"
#define ET_TANH "aten::tanh(Tensor self) -> Tensor"
#define ET_ADD                                                                 \
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
#define ET_ADD_                                                                \
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "  \
    "Tensor(a!)"
#define ET_MUL  "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"
#define ET_T    "aten::t(Tensor(a) self) -> Tensor(a)"
#define ET_VIEW "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"
#define ET_SUM  "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"
#define ET_ONES_LIKE                                                           \
    "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? "         \
    "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "  \
    "memory_format=None) -> Tensor"
#define ET_LINEAR                                                              \
    "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"
#define ET_ENGINE     "autograd::engine::evaluate_function: "
#define ET_ACCUMULATE "torch::autograd::AccumulateGrad"

/* AccumulateGrad of one parameter: node `id` and the one behind it. */
static inline void et_accumulate(struct made_et *m, unsigned id,
                                 unsigned thread, const char *gradient)
{
    et_node(m, id, 0, thread, ET_ENGINE ET_ACCUMULATE, "", "");
    et_node(m, id + 1, id, thread, ET_ACCUMULATE, gradient, "");
}

/* The loss of tensor `in` ("7:2x3"), 50, and the ones that backward begins
 * with: nodes `id` and the next. */
static inline void et_loss(struct made_et *m, unsigned id, const char *in)
{
    et_op(m, id, ET_SUM, in, "50:");
    et_op(m, id + 1, ET_ONES_LIKE, "50: - - - - =1", "51:");
}

/* The text of step(), in loops or not. */
static inline void et_check_text(struct made_et *m, bool loops,
                                 const char *want)
{
    static const char head[] = "@torch.no_grad()\ndef step():\n";
    struct made_program x;

    if (CHECK(program_of(m, &x, NULL, loops)) &&
        CHECK(!strncmp(x.text, head, strlen(head))))
        CHECK_STR(x.text + strlen(head), want);
    program_done(&x);
}

#endif
