/*
 * core/job/job_inputs.c - the files of a job: as bytes, and all of them read,
 * several at a time.
 */
#include "core/job/job_internal.h"

#include "core/job/job_files.h"
#include "core/read/nsys/nsys.h"
#include "core/stream/input.h"
#include "core/turns/turns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum msim_status msim_open_input(struct msim_input **out, char **text,
                                 const struct msim_job_text *from,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err)
{
    bool threaded = opt->threads > 1;
    uint64_t most = opt->memory ? opt->memory : msim_memory_there() / 2;
    enum msim_status status;
    size_t size;

    *text = NULL;
    *out = NULL;
    if (from->bytes)
        return msim_input_memory(out, from->name, from->bytes, from->len,
                                 threaded, err);
    if (!msim_nsys_is(from->name))
        return msim_input_open(out, from->name, threaded, err);
    MSIM_TRY(msim_nsys_read(text, &size, from->name, (size_t)most, err));
    status = msim_input_memory(out, from->name, *text, size, threaded, err);
    if (status != MSIM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* ---- one ----------------------------------------------------------------- */

struct pool;

/* Apart, so that what was taken takes no room. */
struct found {
    struct msim_read_result read;
    struct msim_error err;
};

/* One input, from when it is read until it is taken. */
struct reading {
    struct pool *pool;
    const struct msim_job_text *from;
    bool lasting; /* it can be read again from its beginning */
    uint64_t size;
    struct msim_strtab *strings; /* the pool's where it is alone */
    struct found *found;         /* NULL: nothing was read */
    enum msim_status status;
    bool done;        /* as are those below, guarded by the lock */
    uint64_t counted; /* of its bytes, in the progress of all */
};

struct pool {
    struct reading *all;
    uint32_t n, threads;
    struct msim_strtab *strings;
    const struct msim_load_options *opt;
    msim_take_input *take;
    void *ctx;
    uint64_t size;        /* of all */
    pthread_mutex_t lock; /* guards what follows, and `strings` */
    pthread_cond_t took;
    uint32_t taken;
    enum msim_status status; /* of what was taken last */
    uint64_t counted;
};

/* The progress of several is one. */
static void count_bytes(void *ctx, uint64_t done, uint64_t total)
{
    struct reading *x = ctx;
    struct pool *p = x->pool;
    double part = total ? (double)done / (double)total : 0;
    uint64_t counted = (uint64_t)(part * (double)x->size);

    pthread_mutex_lock(&p->lock);
    p->counted += counted - x->counted;
    x->counted = counted;
    p->opt->progress(p->opt->progress_ctx, p->counted, p->size);
    pthread_mutex_unlock(&p->lock);
}

static enum msim_status read_once(struct reading *x, bool repair,
                                  const struct msim_load_options *opt)
{
    struct msim_input *in;
    char *text = NULL;
    enum msim_status status;

    x->found->err = (struct msim_error){0};
    MSIM_TRY(msim_open_input(&in, &text, x->from, opt, &x->found->err));
    status = msim_read_file(&x->found->read, in, x->strings, opt, repair,
                            &x->found->err);
    msim_input_close(in);
    free(text);
    return status;
}

/* Faults are looked for where there is one; what comes through a pipe comes but
 * once. */
static enum msim_status read_input(struct reading *x)
{
    struct msim_load_options opt = *x->pool->opt;
    enum msim_status status;

    x->found = calloc(1, sizeof(*x->found));
    if (!x->found)
        return MSIM_ENOMEM;
    if (x->pool->n > 1)
        MSIM_TRY(msim_strtab_new(&x->strings));
    else
        x->strings = x->pool->strings;
    /* One that is most of all is unpacked beside its parsing, as if alone. */
    if (x->pool->threads > 1 && x->size < x->pool->size - x->size)
        opt.threads = 1;
    if (opt.progress && x->pool->size) {
        opt.progress = count_bytes;
        opt.progress_ctx = x;
    }
    status = read_once(x, !x->lasting, &opt);
    if (x->lasting && (status == MSIM_ESYNTAX ||
                       (x->found->read.salvaged &&
                        x->found->read.damage.status == MSIM_ESYNTAX))) {
        msim_read_result_release(&x->found->read);
        status = read_once(x, true, &opt);
    }
    return status;
}

/* ---- all ----------------------------------------------------------------- */

/* The numbers of its texts become those of the table of all. */
static enum msim_status join_strings(struct reading *x,
                                     struct msim_strtab *strings)
{
    struct msim_read_result *r = &x->found->read;
    uint32_t *number;

    if (x->strings == strings || !r->trace)
        return MSIM_OK;
    MSIM_TRY(msim_strtab_join(strings, x->strings, &number));
    msim_trace_renumber(r->trace, strings, number);
    for (uint32_t i = 0; i < r->n_others; i++)
        msim_trace_renumber(r->others[i], strings, number);
    r->version = number[r->version];
    for (int i = 0; i < MSIM_READ_ODD_TYPES; i++)
        r->odd_types[i].name = number[r->odd_types[i].name];
    free(number);
    return MSIM_OK;
}

static void release(struct reading *x)
{
    if (x->found)
        msim_read_result_release(&x->found->read);
    free(x->found);
    x->found = NULL;
    if (x->strings != x->pool->strings)
        msim_strtab_free(x->strings);
    x->strings = NULL;
}

static enum msim_status take_next(struct pool *p, uint32_t i)
{
    struct reading *x = &p->all[i];
    enum msim_status status;

    if (!x->found)
        return x->status;
    if (x->status == MSIM_OK)
        x->status = join_strings(x, p->strings);
    status = p->take(p->ctx, i, x->status, &x->found->read, &x->found->err);
    release(x);
    return status;
}

/* Input `i` was read: whoever closes a gap takes what waits behind it, too. */
static enum msim_status hand_over(struct pool *p, uint32_t i)
{
    enum msim_status status;

    pthread_mutex_lock(&p->lock);
    p->all[i].done = true;
    while (p->status == MSIM_OK && p->taken < p->n && p->all[p->taken].done)
        p->status = take_next(p, p->taken++);
    status = p->status;
    pthread_cond_broadcast(&p->took);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Memory is that of what is read and not taken: no more than one a thread, or
 * others would run ahead of one that takes longer. The next to be taken never
 * waits. */
static void wait_turn(struct pool *p, uint32_t i)
{
    pthread_mutex_lock(&p->lock);
    while (p->status == MSIM_OK && i > p->taken && i - p->taken >= p->threads)
        pthread_cond_wait(&p->took, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static enum msim_status work(struct msim_turns *t, void *ctx,
                             struct msim_error *err)
{
    struct pool *p = ctx;
    uint32_t i;

    (void)err;
    while (msim_turns_next(t, &i)) {
        wait_turn(p, i);
        p->all[i].status = read_input(&p->all[i]);
        MSIM_TRY(hand_over(p, i));
    }
    return MSIM_OK;
}

/* Which of them lasts, and how long all are: 0 where that is not known. */
static void look(struct pool *p, const struct msim_job_text *from)
{
    bool lasting = true;

    for (uint32_t i = 0; i < p->n; i++) {
        struct reading *x = &p->all[i];
        struct stat st;

        x->pool = p;
        x->from = &from[i];
        x->lasting = from[i].bytes ||
                     (strcmp(from[i].name, "-") != 0 &&
                      stat(from[i].name, &st) == 0 && S_ISREG(st.st_mode));
        x->size = !x->lasting     ? 0
                  : from[i].bytes ? from[i].len
                                  : (uint64_t)st.st_size;
        p->size += x->size;
        lasting &= x->lasting;
    }
    p->threads = lasting && p->n > 1 ? p->opt->threads : 1;
    if (!lasting || p->n == 1)
        p->size = 0;
}

enum msim_status msim_job_inputs_read(const struct msim_job_text *from,
                                      uint32_t n, struct msim_strtab *strings,
                                      const struct msim_load_options *opt,
                                      msim_take_input *take, void *ctx)
{
    struct pool p = {
        .n = n, .strings = strings, .opt = opt, .take = take, .ctx = ctx};
    enum msim_status status;

    p.all = calloc((size_t)n + 1, sizeof(*p.all));
    if (!p.all)
        return MSIM_ENOMEM;
    look(&p, from);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.took, NULL);
    status = msim_turns_run(n, p.threads, work, &p, NULL);
    pthread_cond_destroy(&p.took);
    pthread_mutex_destroy(&p.lock);
    for (uint32_t i = p.taken; i < n; i++)
        release(&p.all[i]);
    free(p.all);
    return status;
}
