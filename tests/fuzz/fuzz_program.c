/*
 * Property: whatever an execution trace says, a program is made of it or it is
 * refused with a sentence, and of every program:
 *
 *   a statement reads what statements before it made, or tensors from outside,
 *   numbers and gradients that there are
 *   loops stand in order and apart, in the statements that there are
 *   its text reads no name before something is put into it, nor after it is
 *   deleted, also in the second run of a loop
 *   no line is blank at its end
 *
 * Memory errors and leaks are the sanitizers' part. Traces are made of a few
 * operators, labels and passes of PyTorch's engine in any order, some parts of
 * them several times, over few storages, so that most ids are used again; half
 * of them have bytes flipped or swapped. Of 5000 seeds share.h says how many.
 */
#include "tests/fuzz/share.h"
#include "tests/unit/made_et.h"

#define JOBS  5000
#define NAMES 4096

static uint64_t state;

static uint32_t any(uint32_t n)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

/* ---- traces ------------------------------------------------------------- */

/* A signature and the arguments of it: t a tensor, T a list of them, n a
 * number, r a real one, b a bool, - none; what it returns behind the `>`. */
static const struct {
    const char *schema, *in, *out;
} operators[] = {
    {ET_MM, "tt", "t"},
    {ET_RELU, "t", "t"},
    {ET_TANH, "t", "t"},
    {ET_ADD, "ttn", "t"},
    {ET_ADD_, "ttn", "s"},
    {ET_MUL, "tt", "t"},
    {ET_T, "t", "s"},
    {ET_VIEW, "tl", "s"},
    {ET_SUM, "t-", "t"},
    {ET_ONES_LIKE, "t----n", "t"},
    {ET_LINEAR, "tt-", "t"},
    {"aten::dropout(Tensor input, float p, bool train) -> Tensor", "trb", "t"},
    {"aten::embedding(Tensor weight, Tensor indices) -> Tensor", "tt", "t"},
    {"aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar "
     "alpha=1) -> ()",
     "TTn", ""},
    {"aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> "
     "Tensor(a)[]",
     "tnn", "T"},
    {"my::two(Tensor[] x, str s=\"a\", *, Device? device=None) -> (Tensor, "
     "Tensor[])",
     "Tww", "tT"},
    {"c10d::allreduce_(Tensor[] tensors, "
     "__torch__.torch.classes.c10d.ProcessGroup process_group) -> (Tensor[], "
     "__torch__.torch.classes.c10d.Work)",
     "T-", "T-"},
    {"aten::empty(SymInt[] size, *, ScalarType? dtype=None) -> Tensor", "ln",
     "t"},
    {"my::broken(Tensor x", "t", "t"},
    {"triton_poi_fused", "t", "t"},
    {"a label", "", ""},
    {"ProfilerStep#3", "", ""},
    {ET_ENGINE "MulBackward0", "", ""},
    {ET_ENGINE ET_ACCUMULATE, "", ""},
    {ET_ACCUMULATE, "t", ""},
    {"record_param_comms", "Tn'", ""},
};

#define WEIGHT 31 /* storages: this one and the next two */
#define LOSS   34

static void tensor(struct made_et *m, unsigned shift)
{
    static const char *const sizes[] = {"4",   "",        "0",
                                        "2x8", "4x4/1/4", "2x4@8"};
    unsigned storage = 1 + (any(8) + shift) % 30;

    if (any(6) == 0)
        storage = WEIGHT + any(3);
    if (any(12) == 0)
        et_put(m, "%u#", 40 + any(6));
    et_put(m, "%u:%s%s", storage, any(10) ? "4x4" : sizes[any(6)],
           any(9)   ? ""
           : any(2) ? "l"
                    : "d");
}

static void argument(struct made_et *m, char kind, unsigned shift)
{
    uint32_t n = any(12) == 0 ? 20 : any(5);

    switch (kind) {
    case 't':
    case 's':
        tensor(m, shift);
        break;
    case 'T':
        et_put(m, "(");
        for (uint32_t i = 0; i < n; i++) {
            et_put(m, "%s", i ? " " : "");
            if (any(9) == 0)
                et_put(m, "%s", any(2) ? "-" : "!");
            else
                tensor(m, shift);
        }
        et_put(m, ")");
        break;
    case 'l':
        et_put(m, "(=%u =%u)", any(5), 4 * any(3));
        break;
    case 'n':
        et_put(m, "=%d", (int)any(5) - 1);
        break;
    case 'r':
        et_put(m, "=0.%u", any(5));
        break;
    case 'b':
        et_put(m, "=%s", any(2) ? "true" : "false");
        break;
    case 'w':
        et_put(m, "'cuda:0");
        break;
    default:
        et_put(m, "-");
    }
}

static const char *side(struct made_et *m, const char *kinds, unsigned shift)
{
    m->len = 0;
    et_put(m, "%s", "");
    for (; *kinds; kinds++) {
        if (any(40) == 0)
            continue;
        argument(m, any(40) ? *kinds : 't', shift);
        et_put(m, "%s", kinds[1] ? " " : "");
    }
    while (m->len && m->text[m->len - 1] == ' ')
        m->text[--m->len] = '\0';
    return m->text;
}

struct making {
    struct made_et et, in, out;
    unsigned id, open[4], depth, thread;
};

/* The next node: beside the last, in it, or out of it. */
static void node(struct making *k, unsigned shift)
{
    uint32_t what = any(sizeof(operators) / sizeof(*operators));

    if (any(40) == 0)
        what = 23; /* AccumulateGrad comes in its engine's */
    if (k->depth && any(3) == 0)
        k->depth--;
    if (any(30) == 0) {
        k->depth = 0;
        k->thread = 1 + any(2);
    }
    k->et.seq = any(3) ? 0 : 7;
    et_node(&k->et, k->id, k->depth ? k->open[k->depth - 1] : 0, k->thread,
            operators[what].schema, side(&k->in, operators[what].in, shift),
            side(&k->out, operators[what].out, shift));
    if (any(3) == 0 && k->depth < 4)
        k->open[k->depth++] = k->id;
    k->id += 1 + any(2) * 3;
}

static void add(struct making *k, const char *what, const char *in,
                const char *out)
{
    et_node(&k->et, k->id++, 0, 1, what, in, out);
}

/* A product of a weight, its loss, the weights' gradients, an update. */
static void train(struct making *k)
{
    uint32_t n = 1 + any(3);
    char text[64];

    add(k, ET_MM, "1:4x4 31:4x4", "2:4x4");
    for (uint32_t i = 1; i < n; i++) {
        snprintf(text, sizeof(text), "2:4x4 %u:4x4", WEIGHT + i);
        add(k, ET_MM, text, any(5) ? "2:4x4" : "3:4x4");
    }
    add(k, ET_SUM, any(9) ? "2:4x4 -" : "3:4x4 -", "34:");
    if (any(9))
        add(k, ET_ONES_LIKE, "34: - - - - =1", "35:");
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%u:4x4", LOSS + 2 + i);
        et_accumulate(&k->et, k->id, 1, text);
        k->id += 2;
    }
    for (uint32_t i = 0; i < n && any(9); i++) {
        snprintf(text, sizeof(text), "%u:4x4 %u:4x4 =1", WEIGHT + i,
                 LOSS + 2 + i);
        add(k, ET_ADD_, text, "");
    }
}

/* Parts of a few nodes, some of them several times over other storages. */
static struct made_et make(void)
{
    struct making k = {.id = 100, .thread = 1};
    uint32_t parts = 1 + any(6);

    k.et.device = any(3) ? NULL : "cuda:0";
    while (parts--) {
        uint32_t times = any(2) ? 1 : 2 + any(5), n = 1 + any(5);
        uint64_t from = state;

        for (uint32_t r = 0; r < times; r++) {
            if (times > 1 && any(8)) /* mostly the same again */
                state = from;
            for (uint32_t i = 0; i < n; i++)
                node(&k, r);
        }
        state += parts;
        if (any(6) == 0)
            train(&k);
    }
    et_put(&k.et, "]}");
    free(k.in.text);
    free(k.out.text);
    return k.et;
}

static void damage(struct made_et *m)
{
    for (uint32_t n = 1 + any(4); n--;) {
        uint32_t a = any((uint32_t)m->len), b = any((uint32_t)m->len);
        char c = m->text[a];

        if (any(2)) {
            m->text[a] = m->text[b];
            m->text[b] = c;
        } else if (c >= '0' && c <= '9')
            m->text[a] = (char)('0' + any(10));
        else
            m->text[a] = (char)(c ^ (1 << any(7)));
        if (!m->text[a])
            m->text[a] = c;
    }
}

/* ---- programs ----------------------------------------------------------- */

static bool input_is_there(const struct msim_program *p, uint32_t statement,
                           struct msim_program_input o)
{
    switch (o.kind) {
    case MSIM_INPUT_VALUE:
        return o.index < p->values.n &&
               msim_program_value(p, o.index)->statement < statement;
    case MSIM_INPUT_OUTSIDE:
        return o.index < p->outside.n;
    case MSIM_INPUT_NUMBER:
        return o.index < p->numbers.n;
    default:
        return o.kind == MSIM_INPUT_GRADIENT && o.index < p->n_gradients &&
               p->form == MSIM_FORM_AUTOGRAD;
    }
}

static bool program_holds(const struct msim_program *p)
{
    bool good = p->statements.n > 0;

    for (uint32_t i = 0; i < p->statements.n; i++) {
        const struct msim_statement *s = msim_program_statement(p, i);

        good &= s->first_in + s->n_in <= p->operands.n &&
                s->first_out + s->n_out <= p->values.n;
        for (uint32_t k = 0; good && k < s->n_in; k++)
            good =
                input_is_there(p, i, *msim_program_operand(p, s->first_in + k));
        for (uint32_t k = 0; good && k < s->n_out; k++)
            good = msim_program_value(p, s->first_out + k)->statement == i &&
                   msim_program_value(p, s->first_out + k)->slot == k;
    }
    for (uint32_t i = 0; i < p->outside.n; i++) {
        const struct msim_outside *o = msim_program_outside(p, i);

        good &= o->role <= MSIM_ROLE_MEMORY &&
                (o->base == MSIM_NONE ||
                 (o->base < p->outside.n &&
                  msim_program_outside(p, o->base)->role == MSIM_ROLE_MEMORY));
    }
    return good;
}

static bool loops_hold(const struct msim_loops *f)
{
    const struct msim_loop *l = f->loops.data;
    uint32_t end = 0;

    for (uint32_t i = 0; i < f->loops.n; i++) {
        if (l[i].first < end || l[i].period == 0 || l[i].count < 2)
            return false;
        end = l[i].first + l[i].period * l[i].count;
    }
    return end <= f->program->statements.n;
}

/* ---- text --------------------------------------------------------------- */

/* Names x0, k7, ... that hold something. */
struct names {
    bool x[NAMES], k[NAMES];
    const char *fault;
};

/* Past the name at `p`, if one stands there; its number in `*number`. */
static const char *read_name(const char *p, bool before, uint32_t *number)
{
    char *end;

    *number = NAMES;
    if (before || (*p != 'x' && *p != 'k') || p[1] < '0' || p[1] > '9')
        return p + 1;
    *number = (uint32_t)strtoul(p + 1, &end, 10);
    return end;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

enum use { READ, SET, DELETE };

static void use_names(struct names *n, const char *from, const char *to,
                      enum use use)
{
    bool quoted = false, letter = false;

    for (const char *p = from; p < to;) {
        const char *name = p;
        uint32_t number;
        bool *holds;

        if (*p == '\\') {
            p += 2;
            continue;
        }
        quoted ^= *p == '\'';
        p = read_name(p, quoted || letter, &number);
        letter = is_letter(p[-1]);
        if (number >= NAMES)
            continue;
        holds = *name == 'x' ? &n->x[number] : &n->k[number];
        if (use != SET && !*holds)
            n->fault = use == READ ? "a name is read that holds nothing"
                                   : "a name is deleted that holds nothing";
        *holds = use != DELETE;
    }
}

/* The end of a statement that may go on over lines, and where its `=` is. */
static const char *end_of(const char *p, const char **equals)
{
    int depth = 0;
    bool quoted = false;

    for (*equals = NULL; *p; p++) {
        if (*p == '\\' && quoted) {
            p++;
            continue;
        }
        quoted ^= *p == '\'';
        depth += !quoted && (*p == '(' || *p == '[');
        depth -= !quoted && (*p == ')' || *p == ']');
        if (!quoted && depth == 0 && !*equals && !strncmp(p, " = ", 3))
            *equals = p;
        if (*p == '\n' && depth == 0)
            return p;
    }
    return p;
}

static void read_lines(struct names *n, const char *from, const char *to)
{
    while (from < to) {
        const char *equals, *end = end_of(from, &equals);
        const char *text = from + strspn(from, " ");

        if (end > from && end[-1] == ' ')
            n->fault = "a blank ends a line";
        if (!strncmp(text, "del ", 4))
            use_names(n, text + 4, end, DELETE);
        else {
            use_names(n, equals ? equals : text, end, READ);
            if (equals)
                use_names(n, text, equals, SET);
        }
        from = end + 1;
    }
}

/* Past the lines from `p` on that are indented further than `indent`. */
static const char *past_body(const char *p, size_t indent)
{
    while (*p && strspn(p, " ") > indent)
        p += strcspn(p, "\n") + 1;
    return p;
}

/* Bodies of loops are read twice, as they run. */
static const char *text_fault(const char *text)
{
    static struct names n;
    const char *at = text;

    n = (struct names){0};
    while (*at) {
        const char *line = at, *end = at + strcspn(at, "\n");
        size_t indent = strspn(at, " ");

        at = end + 1;
        if (strncmp(line + indent, "for i in ", 9) != 0) {
            const char *equals;

            at = end_of(line, &equals) + 1;
            read_lines(&n, line, at);
            continue;
        }
        at = past_body(at, indent);
        read_lines(&n, end + 1, at);
        read_lines(&n, end + 1, at);
    }
    return n.fault;
}

/* ---- all ---------------------------------------------------------------- */

static bool try_text(const struct msim_program *p, bool loops)
{
    struct msim_loops fold;
    struct msim_body body = {.p = p, .fold = &fold};
    const char *fault = NULL, *text;

    if (!CHECK(msim_loops_find(&fold, p, loops) == MSIM_OK))
        return false;
    if (!loops_hold(&fold))
        fault = "loops overlap";
    else if (msim_body_write(&body) != MSIM_OK)
        fault = "no text";
    else {
        text = msim_text_get(&body.text);
        fault = text_fault(text);
        if (fault)
            fprintf(stderr, "%s", text);
    }
    msim_body_release(&body);
    msim_loops_release(&fold);
    return check_str(fault ? fault : "", "", "fault", __FILE__, __LINE__);
}

static bool try_program(const struct msim_trace *t, bool *made)
{
    struct msim_program_options o = {.step = MSIM_NONE};
    struct msim_error err = {0};
    struct msim_program *p;
    enum msim_status status;
    bool good;

    if (t->n_steps && any(2))
        o.step = any(t->n_steps);
    o.direct = any(3) == 0;
    if (any(4) == 0)
        o.choice.exclude = "aten::m*";
    status = msim_program_new(&p, t, &o, &err);
    if (status != MSIM_OK)
        return CHECK(!p && err.text[0] && err.status == status);
    *made = true;
    good = CHECK(program_holds(p)) && try_text(p, false) && try_text(p, true);
    msim_program_free(p);
    return good;
}

/* One trace; false where a property does not hold. */
static bool try_seed(uint64_t seed, uint64_t *made)
{
    struct msim_load_options opt = {
        .salvage = true, .details = true, .threads = 1};
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    struct made_et m;
    bool good = true, is = false;

    state = seed * UINT64_C(0x9e3779b97f4a7c15);
    any(2);
    m = make();
    if (seed % 2)
        damage(&m);
    if (msim_job_load_memory(&job, "text", m.text, m.len, &opt, &err) ==
            MSIM_OK &&
        job->n_ranks)
        good = try_program(job->ranks[0], &is);
    *made += is;
    msim_job_free(job);
    free(m.text);
    return good;
}

/* Of which a program did not hold once: the gradient of a loss that is read
 * behind its backward (4234). */
static const uint64_t KEPT[] = {4234};

int main(int argc, char **argv)
{
    uint64_t first = FUZZ_FIRST_SEED, jobs = fuzz_share(JOBS), made = 0;

    for (size_t i = 0; i < sizeof(KEPT) / sizeof(*KEPT); i++)
        CHECK(try_seed(KEPT[i], &made));

    if (argc > 1) {
        first = strtoull(argv[1], NULL, 10);
        jobs = 1;
    }
    for (uint64_t i = 0; i < jobs && check_state.failures < 20; i++)
        if (!try_seed(first + i, &made))
            fprintf(stderr, "seed %" PRIu64 "\n", first + i);
    printf("%" PRIu64 " traces, %" PRIu64 " programs\n", jobs, made);
    if (jobs > 100)
        CHECK(made > jobs / 4);
    return check_summary();
}
