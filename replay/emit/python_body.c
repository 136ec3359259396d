/*
 * replay/emit/python_body.c - the statements of a program as Python text: names
 * given and let go, loops, sections.
 */
#include "replay/emit/emit_python_internal.h"

#include "core/base/containers.h"
#include "replay/program/program.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    struct msim_body *b;
    uint32_t *ending; /* of a time: first holder that is let go there */
    uint32_t *next;   /* of a holder: another one of the same time */
    uint32_t *kept_ending, *kept_next; /* the same of lists that loops fill */
    uint32_t n_ends;
    uint32_t *free; /* names that hold nothing, the last on top */
    uint32_t n_free, n_names;
    uint8_t section;
    struct msim_vec dropped; /* uint32_t: names to delete; KEPT + a result: its
                                list */
};

#define KEPT 0x80000000u

enum section { NOTHING, FORWARD, BACKWARD, AFTER };

/* ---- names -------------------------------------------------------------- */

static enum msim_status make_room(struct writer *w)
{
    const struct msim_names *n = &w->b->names;
    size_t holders = (size_t)n->n_values + n->carries.n + 1;

    w->n_ends = 4 * n->n_times + 4;
    w->ending = malloc(w->n_ends * sizeof(*w->ending));
    w->next = malloc(holders * sizeof(*w->next));
    w->free = malloc(holders * sizeof(*w->free));
    w->kept_ending = malloc(w->n_ends * sizeof(*w->kept_ending));
    w->kept_next = malloc(holders * sizeof(*w->kept_next));
    if (!w->ending || !w->next || !w->free || !w->kept_ending || !w->kept_next)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < w->n_ends; i++)
        w->ending[i] = w->kept_ending[i] = MSIM_NONE;
    return MSIM_OK;
}

/* Give `holder` a name, and note when it lets go of it. */
static void give_name(struct writer *w, uint32_t holder)
{
    struct msim_names *n = &w->b->names;
    uint32_t at = (uint32_t)n->end[holder];

    if (n->name[holder] != MSIM_NONE)
        return;
    n->name[holder] = w->n_free ? w->free[--w->n_free] : w->n_names++;
    w->next[holder] = w->ending[at];
    w->ending[at] = holder;
}

static void drop(struct writer *w, uint32_t name)
{
    uint32_t *slot = msim_vec_add(&w->dropped, sizeof(*slot));

    if (slot)
        *slot = name;
    else
        w->b->text.status = MSIM_ENOMEM;
}

/* Names whose results are read for the last time at `time` are free again, and
 * have to be deleted unless something else is put into them. */
static void let_go(struct writer *w, uint32_t time)
{
    const struct msim_names *n = &w->b->names;

    for (uint32_t h = w->ending[time]; h != MSIM_NONE; h = w->next[h]) {
        drop(w, n->name[h]);
        w->free[w->n_free++] = n->name[h];
    }
    for (uint32_t v = w->kept_ending[time]; v != MSIM_NONE; v = w->kept_next[v])
        drop(w, KEPT + v);
    w->ending[time] = w->kept_ending[time] = MSIM_NONE;
}

static void keep_name(struct writer *w, uint32_t name)
{
    uint32_t *dropped = w->dropped.data;

    for (uint32_t i = 0; i < w->dropped.n; i++)
        if (dropped[i] == name)
            dropped[i] = dropped[--w->dropped.n];
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return MSIM_ORDER(x, y);
}

static void delete_dropped(struct writer *w)
{
    struct msim_text line = {0};
    uint32_t *dropped = w->dropped.data;

    if (w->dropped.n == 0)
        return;
    qsort(dropped, w->dropped.n, sizeof(*dropped), by_number);
    for (uint32_t i = 0; i < w->dropped.n; i++) {
        msim_text_add(&line, i ? ", " : "del ");
        if (dropped[i] < KEPT)
            msim_text_add(&line, "x%u", dropped[i]);
        else
            msim_body_kept(w->b, &line, dropped[i] - KEPT);
    }
    msim_body_take_line(w->b, &line);
    w->dropped.n = 0;
}

/* ---- results ------------------------------------------------------------ */

static bool is_read(const struct msim_body *b, uint32_t v)
{
    uint32_t holder = msim_names_holder(&b->names, v);

    return b->names.end[holder] > b->names.begin[v] || b->names.kept[v];
}

/* The last result that anybody reads; NONE: nobody reads any. */
static uint32_t last_read(const struct msim_body *b,
                          const struct msim_statement *s)
{
    for (uint32_t i = s->n_out; i-- > 0;)
        if (is_read(b, s->first_out + i))
            return i;
    return MSIM_NONE;
}

static void name_result(struct writer *w, struct msim_text *line, uint32_t v)
{
    uint32_t holder = msim_names_holder(&w->b->names, v);

    give_name(w, holder);
    keep_name(w, w->b->names.name[holder]);
    msim_text_add(line, "x%u", w->b->names.name[holder]);
}

/* `x1, (x2, x3), _ = `: the results as the operator returns them. A result that
 * nobody reads gets a name too, and loses it at once. */
static void add_unpacking(struct writer *w, struct msim_text *line,
                          const struct msim_statement *s)
{
    const struct msim_trace *t = w->b->p->trace;
    uint32_t block = t->ops[s->op].outs, v = s->first_out;
    uint32_t n = msim_args_count(t, block);
    bool many = s->n_out > 4; /* the line may have to be broken */

    msim_text_put(line, many ? "(" : "");
    for (uint32_t i = 0; i < n; i++) {
        const struct msim_arg *a = msim_args_get(t, block, i);
        uint32_t below = a->kind == MSIM_ARG_LIST ? a->n : 0;

        msim_text_put(line, i ? ", " : "");
        if (a->kind == MSIM_ARG_TENSOR)
            name_result(w, line, v++);
        else if (below == 0)
            msim_text_add(line, "_");
        for (uint32_t k = 1; k <= below; k++) {
            msim_text_put(line, k > 1 ? ", " : n > 1 ? "(" : "");
            if (a[k].kind == MSIM_ARG_TENSOR)
                name_result(w, line, v++);
            else
                msim_text_add(line, "_");
        }
        msim_text_put(line, below == 1 ? "," : "");
        msim_text_put(line, below && n > 1 ? ")" : "");
    }
    msim_text_put(line, many ? ") = " : " = ");
}

/* What stands before and behind the call. */
static const char *add_results(struct writer *w, struct msim_text *line,
                               const struct msim_statement *s)
{
    const struct msim_trace *t = w->b->p->trace;
    const struct msim_arg *first = msim_args_get(t, t->ops[s->op].outs, 0);
    uint32_t last = last_read(w->b, s);

    if (last == MSIM_NONE)
        return "";
    if (msim_names_list(w->b->p, s) || s->kind == MSIM_STATEMENT_COLLECTIVE) {
        name_result(w, line, s->first_out);
        msim_text_add(line, " = ");
        return "";
    }
    if (last == 0 && s->n_out > 1 && first->kind == MSIM_ARG_TENSOR) {
        name_result(w, line, s->first_out);
        msim_text_add(line, " = ");
        return "[0]";
    }
    add_unpacking(w, line, s);
    return "";
}

static void keep_results(struct msim_body *b, const struct msim_statement *s)
{
    for (uint32_t v = s->first_out; v < s->first_out + s->n_out; v++) {
        struct msim_text line = {0};

        if (!b->names.kept[v])
            continue;
        msim_body_kept(b, &line, v);
        msim_text_add(&line, ".append(x%u)",
                      b->names.name[msim_names_holder(&b->names, v)]);
        msim_body_take_line(b, &line);
    }
}

/* What was put into a tensor without an operator: no index is too big, no real
 * number is 0 or too big for its type. */
static void fill_result(struct msim_body *b, const struct msim_statement *s)
{
    struct msim_text line = {0};
    const struct msim_arg *a;

    if (s->n_out != 1 || !msim_program_unwritten(b->p, s->first_out))
        return;
    a = msim_args_get(b->p->trace, b->p->trace->ops[s->op].outs, 0);
    msim_text_put(&line, "ctypes.memset(");
    msim_body_value(b, &line, s->first_out);
    msim_text_add(&line, ".data_ptr(), %d, ",
                  a->dtype >= MSIM_DT_F64 && a->dtype <= MSIM_DT_BF16 ? 63 : 0);
    msim_body_value(b, &line, s->first_out);
    msim_text_put(&line, ".nbytes)");
    msim_body_take_line(b, &line);
}

/* ---- statements --------------------------------------------------------- */

static enum msim_status note_space(struct msim_body *b, uint32_t schema)
{
    const struct msim_schema *s = msim_program_schema(b->p, schema);
    const uint32_t *known = b->spaces.data;
    size_t len = strcspn(s->name, ":");
    uint32_t *slot;

    /* A program has names of its own: `run`, `json`. Those that are known are
     * none of them. */
    if (!msim_is_known_space(s->name, len))
        return MSIM_OK;
    for (uint32_t i = 0; i < b->spaces.n; i++) {
        const struct msim_schema *k = msim_program_schema(b->p, known[i]);

        if (strcspn(k->name, ":") == len && !memcmp(k->name, s->name, len))
            return MSIM_OK;
    }
    slot = msim_vec_add(&b->spaces, sizeof(*slot));
    if (!slot)
        return MSIM_ENOMEM;
    *slot = schema;
    return MSIM_OK;
}

static void write_call(struct writer *w, struct msim_body_place at)
{
    struct msim_body *b = w->b;
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    uint32_t time = b->names.time[at.statement];
    struct msim_text line = {0}, call = {0};
    const char *behind;

    if (s->kind == MSIM_STATEMENT_COLLECTIVE)
        msim_body_collective(b, &call, at);
    else {
        if (note_space(b, s->schema) != MSIM_OK)
            b->text.status = MSIM_ENOMEM;
        msim_body_call(b, &call, at);
    }
    let_go(w, 4 * time);
    behind = add_results(w, &line, s);
    msim_text_take(&line, &call);
    msim_text_put(&line, behind);
    msim_body_take_line(b, &line);
    fill_result(b, s);
    keep_results(b, s);
    let_go(w, 4 * time + 1);
    delete_dropped(w);
}

/* A method of operand 0: .backward() of the loss, .wait() of the work. */
static void write_method(struct writer *w, struct msim_body_place at,
                         const char *method)
{
    struct msim_body *b = w->b;
    struct msim_text line = {0};

    msim_body_operand(b, &line, at, 0);
    msim_text_put(&line, method);
    msim_body_take_line(b, &line);
    let_go(w, 4 * b->names.time[at.statement]);
    delete_dropped(w);
}

static void write_statement(struct writer *w, struct msim_body_place at)
{
    switch (msim_program_statement(w->b->p, at.statement)->kind) {
    case MSIM_STATEMENT_BACKWARD:
        write_method(w, at, ".backward()");
        break;
    case MSIM_STATEMENT_WAIT:
        write_method(w, at, ".wait()");
        break;
    default:
        write_call(w, at);
    }
}

static void begin_lists(struct writer *w, const struct msim_loop *l)
{
    struct msim_body *b = w->b;

    for (uint32_t j = 0; j < l->period; j++) {
        const struct msim_statement *s =
            msim_program_statement(b->p, l->first + j);

        for (uint32_t v = s->first_out; v < s->first_out + s->n_out; v++) {
            struct msim_text line = {0};

            if (!b->names.kept[v])
                continue;
            msim_body_kept(b, &line, v);
            msim_text_add(&line, " = []");
            msim_body_take_line(b, &line);
            w->kept_next[v] = w->kept_ending[b->names.kept_end[v]];
            w->kept_ending[b->names.kept_end[v]] = v;
        }
    }
}

/* What a loop carries under names of their own: before it, or in its end. */
static void write_carries(struct writer *w, uint32_t loop, bool before)
{
    struct msim_body *b = w->b;
    const struct msim_carry *c = b->names.carries.data;

    for (uint32_t i = 0; i < b->names.carries.n; i++) {
        struct msim_text line = {0};

        if (c[i].loop != loop || !c[i].copied)
            continue;
        give_name(w, c[i].holder);
        msim_text_add(&line, "x%u = ", b->names.name[c[i].holder]);
        if (before)
            msim_body_plain(b, &line, c[i].first);
        else
            msim_body_value(b, &line, c[i].value);
        msim_body_take_line(b, &line);
    }
}

static void write_loop(struct writer *w, uint32_t number)
{
    struct msim_body *b = w->b;
    const struct msim_loop *l =
        (const struct msim_loop *)b->fold->loops.data + number;
    struct msim_text line = {0};
    uint32_t last = l->first + l->period - 1;

    begin_lists(w, l);
    write_carries(w, number, true);
    if (number == b->layers)
        msim_text_add(&line,
                      "for i in (n %% %u for n in range(LAYERS)):", l->count);
    else
        msim_text_add(&line, "for i in range(%u):", l->count);
    msim_body_take_line(b, &line);
    b->indent += 4;
    for (uint32_t j = 0; j < l->period; j++)
        write_statement(w, (struct msim_body_place){l->first + j, number});
    write_carries(w, number, false);
    b->indent -= 4;
    let_go(w, 4 * b->names.time[last] + 2);
    delete_dropped(w);
}

/* ---- sections ----------------------------------------------------------- */

static uint8_t section_of(const struct msim_program *p, uint32_t i,
                          uint8_t before)
{
    const struct msim_statement *s = msim_program_statement(p, i);

    if (s->kind == MSIM_STATEMENT_BACKWARD)
        return BACKWARD;
    if (p->form == MSIM_FORM_DIRECT)
        return before == NOTHING ? FORWARD : before;
    return s->recorded ? FORWARD : AFTER;
}

static void begin_section(struct writer *w, uint8_t section)
{
    static const char *const title[] = {"", "# forward", "# backward",
                                        "# optimizer"};

    if (section == w->section)
        return;
    if (w->section == AFTER)
        w->b->indent -= 4;
    w->section = section;
    if (w->b->p->form == MSIM_FORM_DIRECT)
        return;
    msim_body_line(w->b, title[section]);
    if (section == AFTER) {
        msim_body_line(w->b, "with torch.no_grad():");
        w->b->indent += 4;
    }
}

static void write_all(struct writer *w)
{
    struct msim_body *b = w->b;
    const struct msim_loop *loops = b->fold->loops.data;

    for (uint32_t i = 0; i < b->p->statements.n;) {
        uint32_t loop = b->fold->loop_of[i];

        begin_section(w, section_of(b->p, i, w->section));
        if (loop != MSIM_NONE) {
            write_loop(w, loop);
            i += loops[loop].period * loops[loop].count;
        } else
            write_statement(w, (struct msim_body_place){i++, MSIM_NONE});
    }
}

static bool keeps_results(const struct msim_body *b, const struct msim_loop *l)
{
    const struct msim_statement *first = msim_program_statement(b->p, l->first);
    const struct msim_statement *last =
        msim_program_statement(b->p, l->first + l->period - 1);

    for (uint32_t v = first->first_out; v < last->first_out + last->n_out; v++)
        if (b->names.kept[v])
            return true;
    return false;
}

/*
 * The loop that is at least half of forward: its runs are the model's layers,
 * and more runs are more layers, since backward follows forward by itself.
 */
static uint32_t find_layers(const struct msim_body *b)
{
    const struct msim_loop *l = b->fold->loops.data;
    uint32_t best = MSIM_NONE, forward = 0;

    for (uint32_t i = 0; i < b->p->statements.n; i++)
        forward += msim_program_statement(b->p, i)->recorded;
    for (uint32_t i = 0; i < b->fold->loops.n; i++)
        if (msim_program_statement(b->p, l[i].first)->recorded &&
            l[i].period * l[i].count >= forward / 2 && !keeps_results(b, &l[i]))
            best = i;
    return best;
}

enum msim_status msim_body_write(struct msim_body *b)
{
    struct writer w = {.b = b};
    enum msim_status status = msim_names_find(&b->names, b->fold);

    if (status == MSIM_OK)
        status = msim_batch_find(&b->batch, b->p);
    b->layers = find_layers(b);
    if (status == MSIM_OK)
        status = make_room(&w);
    if (status == MSIM_OK) {
        if (b->p->form == MSIM_FORM_DIRECT)
            msim_body_line(b, "@torch.no_grad()");
        msim_body_line(b, "def step():");
        b->indent = 4;
        if (b->p->form == MSIM_FORM_AUTOGRAD)
            msim_body_line(b, "begin_step()");
        write_all(&w);
        status = b->text.status;
    }
    free(w.ending);
    free(w.next);
    free(w.kept_ending);
    free(w.kept_next);
    free(w.free);
    free(w.dropped.data);
    return status;
}

void msim_body_release(struct msim_body *b)
{
    msim_names_release(&b->names);
    msim_batch_release(&b->batch);
    free(b->text.bytes.data);
    free(b->lists.data);
    free(b->numbers.data);
    free(b->spaces.data);
}
