/*
 * predict/op/op_rows.c - answering the rows of a table, by all cores.
 *
 * The main thread reads rows into blocks, which form a ring. A free thread
 * takes the next filled block and answers it. The main thread writes blocks in
 * the order in which it filled them, and answers one itself instead of waiting.
 *
 * Rows of one block, and the last one of the block before, are held against
 * each other (core/guard/guard.h): those of a sweep stand together.
 */
#include "predict/op/op_table_internal.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/work/work.h"
#include "models/estimate/model.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS        1024 /* of a block */
#define THREADS_MAX 16
#define BLOCKS      (2 * THREADS_MAX)

/* Text of answers, which grows. */
struct text {
    struct msim_vec bytes;
    enum msim_status status; /* of the first failure */
};

struct block {
    uint32_t before; /* rows in front that are another block's */
    char *text;      /* fields, each ended by a zero */
    uint32_t used, cap_text;
    uint32_t *field; /* where each begins */
    uint32_t n_fields, cap_fields;
    struct text answer;
    struct msim_guard_count count;
    enum msim_status status;
    bool answered;
};

struct pool {
    const struct msim_platform *p;
    const struct msim_row_map *map;
    const struct msim_csv *csv; /* for its header, which stays */
    const struct msim_op_output *out;
    struct msim_guard_count *count; /* of all that is written */
    uint32_t columns;
    struct block blocks[BLOCKS];
    pthread_mutex_t lock; /* guards what follows, and block.answered */
    pthread_cond_t filled_one, answered_one;
    uint64_t filled, taken; /* blocks so far */
    bool ended;
    struct msim_op_names *names; /* of the main thread */
    pthread_t ids[THREADS_MAX];  /* of the others, where there are many rows */
    uint32_t started;
};

/* ---- answering ----------------------------------------------------------- */

static enum msim_status put(void *ctx, const char *bytes, size_t n)
{
    struct text *out = ctx;
    struct msim_vec *v = &out->bytes;
    struct msim_text_piece piece;

    if (v->n + n < v->cap) { /* mostly */
        memcpy((char *)v->data + v->n, bytes, n);
        v->n += (uint32_t)n;
        return MSIM_OK;
    }
    if (out->status == MSIM_OK)
        out->status = msim_vec_text(&out->bytes, bytes, n, &piece);
    return out->status;
}

static void put_bytes(void *ctx, const char *bytes, size_t n)
{
    (void)put(ctx, bytes, n);
}

static void put_text(struct text *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void put_number(double v, struct text *out)
{
    char text[MSIM_DECIMAL_TEXT + 1];
    size_t n = msim_decimal_write(text, v);

    text[n] = ',';
    put_bytes(out, text, n + 1);
}

/* One row, answered. */
struct row {
    struct msim_work w;
    enum msim_emulation emulation;
    struct msim_estimate e;
    char why[256]; /* there is no prediction; "" */
};

/* Whether no library runs the row's work on the GPU; then it says why. */
static bool is_refused(const struct msim_platform *p, struct row *row)
{
    if (!msim_emulation_is_refused(row->emulation))
        return false;
    msim_emulation_text(row->emulation, p, row->why, sizeof(row->why));
    return true;
}

static void predict_row(const struct pool *c, char *const *fields,
                        struct row *row, struct msim_op_names *names)
{
    struct msim_error err;
    struct msim_work *w = &row->w;

    if (msim_row_work(c->map, fields, w, row->why, sizeof(names->of->why)))
        return;
    w->asked = true;
    if (c->map->table == MSIM_TABLE_VECTOR) {
        const struct msim_op_name *n = msim_op_name_find(names, w->variant);

        w->nearest = n->nearest;
        if (!n->known) {
            memcpy(row->why, n->why, sizeof(names->of->why));
            return;
        }
    }
    err.status = MSIM_OK;
    *err.text = '\0';
    row->emulation = msim_emulation_of(c->p, w);
    if (is_refused(c->p, row))
        return;
    if (msim_model_predict(c->p, w, false, &row->e, &err) == MSIM_OK) {
        msim_collective_of_any_machine(c->p, w, &row->e);
        return;
    }
    snprintf(row->why, sizeof(row->why), "%.250s",
             *err.text ? err.text : "no prediction");
}

/* Bytes of a row, whose fields lie in memory one behind the other. */
static uint32_t bytes_of(char *const *fields, uint32_t columns)
{
    const char *last = columns ? fields[columns - 1] : NULL;

    return last ? (uint32_t)(last + strlen(last) + 1 - fields[0]) : 0;
}

static void put_commas(char *text, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ',';
}

/* A row as it was, and a comma behind each field. `plain`: all of them are
 * known to be, as cells are mostly. */
static void write_fields(char *const *fields, uint32_t columns, bool plain,
                         struct text *out)
{
    uint32_t n = bytes_of(fields, columns);

    if (n && (plain || msim_csv_are_plain(fields[0], n))) {
        put_bytes(out, fields[0], n);
        if (out->status == MSIM_OK)
            put_commas((char *)out->bytes.data + out->bytes.n - n, n);
        return;
    }
    for (uint32_t i = 0; i < columns; i++) {
        msim_csv_write_to(put_bytes, out, fields[i]);
        put_text(out, ",");
    }
}

static void write_csv(const struct pool *c, char *const *fields, bool plain,
                      const struct row *row, struct text *out)
{
    const struct msim_estimate *e = &row->e;
    char words[MSIM_GUARD_WORDS];

    write_fields(fields, c->columns, plain, out);
    if (*row->why) {
        put_text(out, ",,,");
        msim_csv_write_to(put_bytes, out, row->why);
        put_text(out, "\n");
        return;
    }
    put_number(e->us, out);
    put_number(e->low_us, out);
    put_number(e->high_us, out);
    put_text(out, msim_family_text(e->family));
    if (e->source == MSIM_SOURCE_NOT_RUN)
        put_text(out, " (ranks not run)");
    if (e->source == MSIM_SOURCE_NEAREST)
        put_text(out, " (nearest)");
    if (row->emulation != MSIM_EMULATED_NO)
        put_text(out, " (emulated)");
    if (e->marks) {
        msim_guard_words(e->marks, words);
        put_text(out, " (");
        put_text(out, words);
        put_text(out, ")");
    }
    put_text(out, "\n");
}

/* A line, which is a value of the array. */
static enum msim_status write_json(const struct pool *c, char *const *fields,
                                   const struct row *row, struct text *out)
{
    bool known = !*row->why;
    const struct msim_estimate *e = &row->e;
    struct msim_json j;

    msim_json_begin(&j, put, out);
    msim_json_open(&j, NULL, '{', false);
    msim_json_open(&j, "input", '{', false);
    for (uint32_t i = 0; i < c->columns; i++)
        msim_json_text(&j, msim_csv_header(c->csv, i), fields[i]);
    msim_json_close(&j);
    msim_json_number(&j, "predicted_us", known ? e->us : (double)NAN);
    msim_json_number(&j, "low_us", known ? e->low_us : (double)NAN);
    msim_json_number(&j, "high_us", known ? e->high_us : (double)NAN);
    msim_json_text(&j, "model", known ? msim_family_text(e->family) : NULL);
    msim_json_text(&j, "source", known ? msim_source_text(e->source) : NULL);
    msim_json_bool(&j, "emulated", known && row->emulation != MSIM_EMULATED_NO);
    msim_guard_json(&j, known ? e->marks : 0);
    msim_json_text(&j, "reason", known ? NULL : row->why);
    return msim_json_end(&j);
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What holding rows against each other needs. */
struct beside {
    msim_guard_marks marks[ROWS + 1];
    uint8_t seen[1 << 16]; /* how often, by the hashes of kinds */
    struct {
        uint64_t kind, order;
    } orders[1 << 10];
    struct msim_guard_answer a[(ROWS + 1) * MSIM_WORK_AXES]; /* not cleared */
};

static uint32_t find_axes(struct beside *b, const struct row *rows, uint32_t n)
{
    struct msim_work_axis axes[MSIM_WORK_AXES];
    uint32_t n_axes, found = 0;

    for (uint32_t i = 0; i < n; i++) {
        n_axes = *rows[i].why ? 0 : msim_work_axes(&rows[i].w, axes);
        for (uint32_t k = 0; k < n_axes; k++) {
            uint8_t *seen = &b->seen[axes[k].kind % COUNT(b->seen)];

            *seen = *seen ? 2 : 1;
            b->a[found++] = (struct msim_guard_answer){
                axes[k].kind, axes[k].size, rows[i].e.us, 0, i};
        }
    }
    return found;
}

/* Looked for once a kind: rows of a kind are often near to each other. */
static uint64_t order_of(struct beside *b, uint64_t kind,
                         const struct msim_work *w, uint32_t axis)
{
    uint32_t at = kind / COUNT(b->seen) % COUNT(b->orders);

    if (b->orders[at].kind != kind) {
        b->orders[at].kind = kind;
        b->orders[at].order = msim_work_axis_order(w, axis);
    }
    return b->orders[at].order;
}

/* Those that are not alone with their kind; how many these are. */
static uint32_t keep_pairs(struct beside *b, const struct row *rows, uint32_t n)
{
    uint32_t kept = 0, axis = 0, last = UINT32_MAX;

    for (uint32_t i = 0; i < n; i++) {
        struct msim_guard_answer a = b->a[i];

        axis = a.index == last ? axis + 1 : 0;
        last = a.index;
        if (b->seen[a.kind % COUNT(b->seen)] < 2)
            continue;
        a.kind = order_of(b, a.kind, &rows[a.index].w, axis);
        b->a[kept++] = a;
    }
    return kept;
}

/* Hold rows that differ in one size against each other. */
static enum msim_status guard_rows(struct row *rows, uint32_t n)
{
    struct beside *b = malloc(sizeof(*b));

    if (!b)
        return MSIM_ENOMEM;
    memset(b, 0, offsetof(struct beside, a));
    msim_guard_compare(b->a, keep_pairs(b, rows, find_axes(b, rows, n)),
                       MSIM_GUARD_LARGER, b->marks);
    for (uint32_t i = 0; i < n; i++)
        if (!*rows[i].why)
            rows[i].e.marks |=
                b->marks[i] | msim_guard_check(rows[i].e.us, rows[i].e.low_us,
                                               rows[i].e.high_us, NAN);
    free(b);
    return MSIM_OK;
}

static void fields_of(const struct pool *c, const struct block *b, uint32_t row,
                      char **fields)
{
    for (uint32_t i = 0; i < c->columns; i++)
        fields[i] = b->text + b->field[row * c->columns + i];
}

static enum msim_status answer_rows(const struct pool *c, struct block *b,
                                    struct row *rows, char **fields,
                                    struct msim_op_names *names,
                                    struct text *out)
{
    uint32_t n = c->columns ? b->n_fields / c->columns : 0;
    bool plain = msim_csv_are_plain(b->text, b->used); /* of all cells */

    for (uint32_t r = 0; r < n; r++) {
        fields_of(c, b, r, fields);
        predict_row(c, fields, &rows[r], names);
    }
    MSIM_TRY(guard_rows(rows, n));
    for (uint32_t r = b->before; r < n; r++) {
        fields_of(c, b, r, fields);
        if (c->out->json)
            MSIM_TRY(write_json(c, fields, &rows[r], out));
        else
            write_csv(c, fields, plain, &rows[r], out);
        b->count.asked++;
        if (!*rows[r].why)
            msim_guard_add(&b->count, rows[r].e.marks);
    }
    return MSIM_OK;
}

static enum msim_status answer_all(const struct pool *c, struct block *b,
                                   struct msim_op_names *names,
                                   struct text *out)
{
    char **fields = calloc((size_t)c->columns + 1, sizeof(*fields));
    struct row *rows = malloc((ROWS + 1) * sizeof(*rows));
    enum msim_status status = MSIM_ENOMEM;

    if (fields && rows)
        status = answer_rows(c, b, rows, fields, names, out);
    free(fields);
    free(rows);
    return status;
}

static void answer(const struct pool *c, struct block *b,
                   struct msim_op_names *names)
{
    b->answer.bytes.n = 0;
    b->answer.status = MSIM_OK;
    b->status = answer_all(c, b, names, &b->answer);
    if (b->status == MSIM_OK)
        b->status = b->answer.status;
}

/* Answer the next block that is filled; false where there is none. The caller
 * holds the lock, which is released while the block is answered. */
static bool answer_next(struct pool *c, struct msim_op_names *names)
{
    struct block *b;

    if (c->taken == c->filled)
        return false;
    b = &c->blocks[c->taken++ % BLOCKS];
    pthread_mutex_unlock(&c->lock);
    answer(c, b, names);
    pthread_mutex_lock(&c->lock);
    b->answered = true;
    pthread_cond_signal(&c->answered_one);
    return true;
}

static void *work(void *arg)
{
    struct pool *c = arg;
    struct msim_op_names names = {0};

    pthread_mutex_lock(&c->lock);
    for (;;) {
        if (answer_next(c, &names))
            continue;
        if (c->ended)
            break;
        pthread_cond_wait(&c->filled_one, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- reading and writing ------------------------------------------------- */

static enum msim_status add_row(struct block *b, char *const *fields,
                                uint32_t columns)
{
    uint32_t n = bytes_of(fields, columns);

    while (b->used + n > b->cap_text)
        MSIM_TRY(msim_grow((void **)&b->text, &b->cap_text, b->cap_text, 1));
    while (b->n_fields + columns > b->cap_fields)
        MSIM_TRY(msim_grow((void **)&b->field, &b->cap_fields, b->cap_fields,
                           sizeof(*b->field)));
    for (uint32_t i = 0; i < columns; i++)
        b->field[b->n_fields++] = b->used + (uint32_t)(fields[i] - fields[0]);
    if (n)
        memcpy(b->text + b->used, fields[0], n);
    b->used += n;
    return MSIM_OK;
}

/* The last row of the block that was filled last, in front. */
static enum msim_status add_before(const struct pool *c, struct block *b)
{
    const struct block *last = &c->blocks[(c->filled + BLOCKS - 1) % BLOCKS];
    char **fields;
    enum msim_status status;

    b->before = 0;
    if (!c->filled || last->n_fields < c->columns)
        return MSIM_OK;
    fields = calloc((size_t)c->columns + 1, sizeof(*fields));
    if (!fields)
        return MSIM_ENOMEM;
    fields_of(c, last, last->n_fields / c->columns - 1, fields);
    status = add_row(b, fields, c->columns);
    free(fields);
    b->before = 1;
    return status;
}

/* Read rows until the block is full; `*more` is false at the end. */
static enum msim_status fill(const struct pool *c, struct block *b,
                             struct msim_csv *csv, bool *more,
                             struct msim_error *err)
{
    char *const *fields;

    b->used = b->n_fields = 0;
    b->count = (struct msim_guard_count){0};
    b->answered = false;
    MSIM_TRY(add_before(c, b));
    for (uint32_t row = 0; row < ROWS; row++) {
        MSIM_TRY(msim_csv_next(csv, &fields, err));
        *more = fields != NULL;
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(add_row(b, fields, c->columns));
    }
    return MSIM_OK;
}

/* Its lines, as values of the array. */
static void write_values(struct msim_json *json, const struct text *answer)
{
    char *lines = answer->bytes.data, *all = lines + answer->bytes.n, *end;

    for (; lines < all && (end = memchr(lines, '\n', (size_t)(all - lines)));
         lines = end + 1) {
        *end = '\0';
        msim_json_value(json, NULL, lines);
    }
}

static enum msim_status write_block(struct pool *c, uint64_t which)
{
    struct block *b = &c->blocks[which % BLOCKS];

    pthread_mutex_lock(&c->lock);
    while (!b->answered)
        if (!answer_next(c, c->names))
            pthread_cond_wait(&c->answered_one, &c->lock);
    pthread_mutex_unlock(&c->lock);
    msim_guard_sum(c->count, &b->count);
    if (!b->answer.bytes.n) /* nor is there a place then */
        return b->status;
    /* A failure (a closed pipe) stays in `out`, where the caller looks. */
    if (c->out->json)
        write_values(c->out->json, &b->answer);
    else
        (void)fwrite(b->answer.bytes.data, 1, b->answer.bytes.n, c->out->csv);
    return b->status;
}

static uint32_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (uint32_t)n;
}

/* The main thread is one of them; where no other starts it answers all. */
static void start(struct pool *c)
{
    while (c->started + 1 < cores() &&
           pthread_create(&c->ids[c->started], NULL, work, c) == 0)
        c->started++;
}

static enum msim_status run(struct pool *c, struct msim_csv *csv,
                            struct msim_error *err)
{
    enum msim_status status = MSIM_OK, answered = MSIM_OK;
    uint64_t written = 0;
    bool more = true;

    while (more && status == MSIM_OK && answered == MSIM_OK) {
        if (c->filled - written == BLOCKS)
            answered = write_block(c, written++);
        status = fill(c, &c->blocks[c->filled % BLOCKS], csv, &more, err);
        if (more && !c->filled)
            start(c);
        pthread_mutex_lock(&c->lock);
        c->filled++;
        pthread_cond_signal(&c->filled_one);
        pthread_mutex_unlock(&c->lock);
    }
    while (answered == MSIM_OK && written < c->filled)
        answered = write_block(c, written++);
    return status == MSIM_OK ? answered : status;
}

static void end(struct pool *c)
{
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_broadcast(&c->filled_one);
    pthread_mutex_unlock(&c->lock);
    while (c->started > 0)
        pthread_join(c->ids[--c->started], NULL);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        free(c->blocks[i].text);
        free(c->blocks[i].field);
        free(c->blocks[i].answer.bytes.data);
    }
    pthread_cond_destroy(&c->answered_one);
    pthread_cond_destroy(&c->filled_one);
    pthread_mutex_destroy(&c->lock);
}

enum msim_status
msim_op_rows(const struct msim_platform *p, const struct msim_row_map *map,
             struct msim_csv *csv, const struct msim_op_output *out,
             struct msim_guard_count *count, struct msim_error *err)
{
    struct msim_op_names names = {0};
    struct pool c = {.p = p,
                     .map = map,
                     .csv = csv,
                     .out = out,
                     .count = count,
                     .columns = msim_csv_columns(csv),
                     .names = &names,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .filled_one = PTHREAD_COND_INITIALIZER,
                     .answered_one = PTHREAD_COND_INITIALIZER};
    enum msim_status status = run(&c, csv, err);

    end(&c);
    return status;
}
