/*
 * core/job/read_file.c - the loop that feeds a file to the reader of its
 * format.
 *
 * The first bytes tell Chakra's protobuf from JSON (read_chakra.h). Of a JSON
 * file the top level (read_top.c) shows which format it is.
 */
#include "core/job/job_files.h"

#include "core/job/job_internal.h"
#include "core/read/chakra/read_chakra.h"
#include "core/stream/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct msim_read_top top;
    struct msim_reader *r; /* of `top` */
    const char *name;      /* of the file */
    bool salvage;          /* keep what is complete of a broken file */
    bool repair;           /* by this: */
    struct msim_json_filter filter;
    bool decided; /* JSON or not; until then `head` has all bytes */
    struct msim_vec head;
    bool lost;         /* in a broken record: the next is looked for */
    uint64_t complete; /* records, when the last was lost */
    struct msim_record_search search;
};

/* Files of other programs, by their first bytes or the end of their names, and
 * what makes a trace of them. */
static const struct foreign {
    const char *first, *suffix, *remedy;
} FOREIGN[] = {
    {"SQLite format 3", NULL,
     "is an SQLite database that is packed or comes by a pipe: unpack it "
     "first, "
     "into a file; of Nsight Systems it is read then"},
    {NULL, ".nsys-rep",
     "is a report of Nsight Systems: 'nsys export --type sqlite FILE' makes a "
     "database of it, which is read"},
    {NULL, ".qdrep",
     "is a report of Nsight Systems: 'nsys export --type sqlite FILE' makes a "
     "database of it, which is read"},
    {NULL, ".ncu-rep",
     "is a report of Nsight Compute, which has no time line: record by "
     "PyTorch's profiler or Nsight Systems"},
    {NULL, ".pftrace",
     "is a trace of Perfetto: 'traceconv json FILE' makes JSON of it, which is "
     "read where PyTorch's profiler recorded it"},
    {"PAR1", NULL,
     "is a Parquet file: of Nsight Systems, 'nsys export --type sqlite FILE' "
     "makes what is read"},
    {"\x80\x02", ".pickle",
     "is a pickle, such as a memory snapshot of PyTorch: times are in a trace "
     "of its profiler"},
};

static bool is_of(const struct foreign *f, const char *name, const char *bytes,
                  size_t len)
{
    size_t n = f->suffix ? strlen(f->suffix) : 0, all = strlen(name);

    if (f->first && len >= strlen(f->first) &&
        memcmp(bytes, f->first, strlen(f->first)) == 0)
        return true;
    return n && all > n && strcmp(name + all - n, f->suffix) == 0;
}

/* Refuse a file that cannot be a trace at its first piece, with a message that
 * helps. */
static enum msim_status check_start(const char *name, const char *bytes,
                                    size_t len, struct msim_error *err)
{
    size_t i = 0;
    unsigned char c;

    while (i < len && (bytes[i] == ' ' || bytes[i] == '\t' ||
                       bytes[i] == '\n' || bytes[i] == '\r'))
        i++;
    if (len == 0)
        return msim_fail(err, MSIM_EFORMAT, name, 0,
                         "is empty, want an ET, Kineto or Chakra trace");
    if (i == len || bytes[i] == '{' || bytes[i] == '[')
        return MSIM_OK;
    for (size_t k = 0; k < sizeof(FOREIGN) / sizeof(FOREIGN[0]); k++)
        if (is_of(&FOREIGN[k], name, bytes, len))
            return msim_fail(err, MSIM_EFORMAT, name, MSIM_OFFSET_NONE, "%s",
                             FOREIGN[k].remedy);
    c = (unsigned char)bytes[i];
    if (c > 0x20 && c < 0x7f)
        return msim_fail(err, MSIM_EFORMAT, name, i,
                         "found '%c', want '{' or '[': not an ET, Kineto or "
                         "Chakra trace",
                         c);
    return msim_fail(err, MSIM_EFORMAT, name, i,
                     "found byte 0x%02x, want '{' or '[': not an ET, Kineto or "
                     "Chakra trace",
                     c);
}

/* Is it of a record alone, so that the next can be read? */
static bool is_skippable(const struct reading *x, enum msim_status status)
{
    return (status == MSIM_ESYNTAX || status == MSIM_EFORMAT) &&
           x->r->in_records && x->r->format->forget;
}

/* The remedy for damage, as the end of a sentence; "" if there is none. */
static const char *remedy(const struct reading *x, enum msim_status status,
                          char text[128])
{
    text[0] = '\0';
    if (x->r->format && x->r->complete && !x->salvage)
        snprintf(text, 128,
                 "; --salvage keeps the %llu complete %s before it%s",
                 (unsigned long long)x->r->complete, x->r->format->records,
                 is_skippable(x, status) ? " and those behind it" : "");
    return text;
}

static bool takes_bytes(const struct msim_reader *r)
{
    return r->format && r->format->feed;
}

/* Put what went wrong into `err`, with place and remedy. */
static enum msim_status explain(struct reading *x, enum msim_status status,
                                struct msim_error *err)
{
    struct msim_reader *r = x->r;
    uint64_t at =
        takes_bytes(r) ? r->format->offset(r) : msim_sax_offset(r->sax);
    const char *why = r->problem.text;
    char text[128];

    if (r->problem.status && status != MSIM_ENOMEM)
        return msim_fail(err, status, x->name, at, "%s%s", why,
                         remedy(x, status, text));
    switch (status) {
    case MSIM_ESYNTAX:
        return msim_fail(err, status, x->name, at, "broken JSON: %s%s",
                         msim_sax_message(r->sax), remedy(x, status, text));
    case MSIM_ETRUNCATED:
        return msim_fail(err, status, x->name, at, "cut: %s%s",
                         msim_sax_message(r->sax), remedy(x, status, text));
    case MSIM_ENOMEM:
        return msim_fail(err, status, x->name, MSIM_OFFSET_NONE,
                         "out of memory");
    case MSIM_ELIMIT:
        why = msim_sax_message(r->sax);
        if (!why[0])
            why = "longer than can be counted";
        break;
    default:
        break;
    }
    return msim_fail(err, status, x->name, at, "%s%s", why,
                     remedy(x, status, text));
}

/* The input itself is cut or broken; its message does not know of records. */
static enum msim_status explain_input(struct reading *x,
                                      enum msim_status status,
                                      struct msim_error *err)
{
    char text[128];
    size_t len = err ? strlen(err->text) : 0;

    if (err && status != MSIM_EIO && status != MSIM_ENOMEM)
        snprintf(err->text + len, sizeof(err->text) - len, "%s",
                 remedy(x, status, text));
    return status;
}

/* The mark that Windows puts in front of UTF-8 says nothing: blanks, so that
 * offsets stay those of the file. */
static void blank_mark(struct msim_vec *head)
{
    if (head->n >= 3 && !memcmp(head->data, "\xef\xbb\xbf", 3))
        memset(head->data, ' ', 3);
}

/* Keep the first bytes in `head` until they show what they are. */
static enum msim_status decide(struct reading *x, const char **bytes,
                               size_t *len, bool *undecided,
                               struct msim_error *err)
{
    struct msim_text_piece piece;
    enum msim_chakra_guess guess;
    const char *foreign;
    bool end = *len == 0;

    *undecided = false;
    if (x->head.n || !end) {
        MSIM_TRY(msim_vec_text(&x->head, *bytes, *len, &piece));
        blank_mark(&x->head);
        *bytes = x->head.data;
        *len = x->head.n;
    }
    guess = msim_chakra_sniff(*bytes, *len, end);
    if (guess == MSIM_CHAKRA_MORE) {
        *undecided = true;
        return MSIM_OK;
    }
    x->decided = true;
    foreign = msim_unpack_foreign((const unsigned char *)*bytes, *len);
    if (foreign) /* inside what was packed: .tar.gz */
        return msim_fail(err, MSIM_EFORMAT, x->name, MSIM_OFFSET_NONE, "%s",
                         foreign);
    if (guess == MSIM_CHAKRA_NO)
        return check_start(x->name, *bytes, *len, err);
    return msim_read_begin(x->r, &msim_chakra_format);
}

/*
 * Note what is broken; what was noted first is kept. What is found behind it
 * may be no record, but an object in one, such as an attribute of a node: that
 * is of the same place. `closed`: a bracket has just been read.
 */
static void lose_record(struct reading *x, enum msim_status status, bool closed)
{
    struct msim_read_result *out = x->r->out;
    bool again =
        status == MSIM_EFORMAT && out->broken && x->r->complete == x->complete;

    if (!again && !out->broken++)
        explain(x, status, &out->damage);
    x->r->problem = (struct msim_error){0};
    x->complete = x->r->complete;
    x->lost = true;
    x->search = (struct msim_record_search){.seen = closed};
}

/* Go on with the record that is found in `bytes`, behind its first quote. */
static enum msim_status find_record(struct reading *x, const char **bytes,
                                    size_t *len, uint64_t *at)
{
    const char *from = msim_record_find(&x->search, *bytes, *len);

    msim_json_filter_uncount(&x->filter, *at);
    *at += (uint64_t)(from - *bytes);
    *len -= (size_t)(from - *bytes);
    *bytes = from;
    if (!x->search.found)
        return MSIM_OK;
    x->lost = false;
    x->r->format->forget(x->r->state);
    if (x->repair)
        msim_json_filter_again(&x->filter, from, bytes, len);
    msim_sax_resume(x->r->sax, *at - 2);
    return msim_sax_feed(x->r->sax, "{\"", 2);
}

static enum msim_status feed_records(struct reading *x, const char *bytes,
                                     size_t len)
{
    uint64_t at = msim_sax_fed(x->r->sax);

    while (len) {
        uint64_t bad;
        enum msim_status status;
        size_t used;

        if (x->lost)
            MSIM_TRY(find_record(x, &bytes, &len, &at));
        if (x->lost || !len)
            break;
        status = msim_sax_feed(x->r->sax, bytes, len);
        if (!x->salvage || !is_skippable(x, status))
            return status;
        bad = msim_sax_offset(x->r->sax);
        used = bad > at ? (size_t)(bad - at) : 0; /* or in an earlier piece */
        at += used;
        bytes += used;
        len -= used;
        lose_record(x, status, used && bytes[-1] == '}');
    }
    return MSIM_OK;
}

static enum msim_status feed_json(struct reading *x, const char *bytes,
                                  size_t len)
{
    bool end = len == 0;

    if (x->repair)
        MSIM_TRY(msim_json_filter_feed(&x->filter, bytes, len, &bytes, &len));
    MSIM_TRY(feed_records(x, bytes, len));
    return end ? msim_sax_end(x->r->sax) : MSIM_OK;
}

static enum msim_status feed(struct reading *x, const char *bytes, size_t len)
{
    return takes_bytes(x->r) ? x->r->format->feed(x->r, bytes, len)
                             : feed_json(x, bytes, len);
}

static enum msim_status feed_piece(struct reading *x, const char *bytes,
                                   size_t len, struct msim_error *err)
{
    bool end = len == 0, undecided = false;
    enum msim_status status = MSIM_OK;

    if (!x->decided)
        MSIM_TRY(decide(x, &bytes, &len, &undecided, err));
    if (!undecided)
        status = feed(x, bytes, len);
    if (status == MSIM_OK && end && len && !undecided)
        status = feed(x, NULL, 0); /* `head` had it all: that was the end */
    return status == MSIM_OK ? MSIM_OK : explain(x, status, err);
}

/* Traces that fill the memory end here, and not by the system's hand. Asking
 * for it takes time: once in so many pieces (of a quarter of a megabyte). */
#define PIECES_A_LOOK 16

static enum msim_status check_memory(const struct reading *x, uint64_t limit,
                                     struct msim_error *err)
{
    if (!limit)
        limit = msim_memory_there() / 2;
    if (msim_memory_used() <= limit)
        return MSIM_OK;
    return msim_fail(err, MSIM_ELIMIT, x->name, MSIM_OFFSET_NONE,
                     "the traces take more than %llu MiB of memory, half of "
                     "what is there; give fewer ranks or a shorter recording",
                     (unsigned long long)(limit >> 20));
}

static enum msim_status feed_all(struct reading *x, struct msim_input *in,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err)
{
    uint64_t done, total;
    const char *bytes;
    size_t len;
    unsigned n = 0;

    do {
        enum msim_status status = msim_input_next(in, &bytes, &len, err);

        if (status != MSIM_OK)
            return explain_input(x, status, err);
        MSIM_TRY(feed_piece(x, bytes, len, err));
        if (n++ % PIECES_A_LOOK == 0)
            MSIM_TRY(check_memory(x, opt->memory, err));
        if (opt->progress) {
            msim_input_progress(in, &done, &total);
            opt->progress(opt->progress_ctx, done, total);
        }
    } while (len);
    return MSIM_OK;
}

static bool is_damage(enum msim_status status)
{
    return status == MSIM_ESYNTAX || status == MSIM_ETRUNCATED ||
           status == MSIM_EFORMAT || status == MSIM_ELIMIT;
}

/* The device that was used, or the only one there is: the events may have the
 * machine's number for a device that the process numbers from 0. */
static void choose_device(const struct msim_read_top *top, struct msim_trace *t)
{
    const struct msim_device_spec *all = top->devices.data;
    uint32_t i, best = MSIM_NONE, most = 0;

    for (i = 0; i < t->n_streams; i++) {
        uint32_t n = t->streams[i].gpu_end - t->streams[i].gpu_begin;

        if (n > most) {
            most = n;
            best = i;
        }
    }
    for (i = 0; i < top->devices.n; i++)
        if ((best != MSIM_NONE && all[i].id == t->streams[best].device) ||
            top->devices.n == 1) {
            t->gpu_properties = all[i].p;
            break;
        }
}

static enum msim_status finish(struct reading *x, struct msim_error *err)
{
    struct msim_reader *r = x->r;
    enum msim_status status;

    if (!r->format)
        return MSIM_OK;
    status = r->format->finish(r);
    if (status != MSIM_OK)
        return msim_fail(err, status, x->name, r->problem.offset, "%s",
                         r->problem.status ? r->problem.text
                                           : msim_status_text(status));
    choose_device(&x->top, r->trace);
    for (uint32_t i = 0; i < r->out->n_others; i++)
        choose_device(&x->top, r->out->others[i]);
    r->trace->rank = r->out->rank;
    return MSIM_OK;
}

/* Single records that cannot be happen; a file of them is none of its format.
 */
#define UNSOUND_MAX 0.1

static enum msim_status check_sound(const struct reading *x,
                                    struct msim_error *err)
{
    const struct msim_import_log *log;
    const struct msim_import_count *unsound;
    uint64_t all;

    if (x->salvage || !x->r->format)
        return MSIM_OK;
    log = &x->r->trace->import;
    unsound = &log->rows[MSIM_IMPORT_UNSOUND];
    all = log->read + unsound->n;
    if ((double)unsound->n <= UNSOUND_MAX * (double)all)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, x->name, unsound->byte,
                     "%s; %llu of %llu %s are like it, want one in ten at "
                     "most; --salvage leaves them out",
                     msim_strtab_text(x->r->strings, unsound->example),
                     (unsigned long long)unsound->n, (unsigned long long)all,
                     x->r->format->records);
}

static enum msim_status read_and_finish(struct reading *x,
                                        struct msim_input *in,
                                        const struct msim_load_options *opt,
                                        struct msim_error *err)
{
    struct msim_error damage = {0};
    enum msim_status status = feed_all(x, in, opt, &damage);

    x->r->out->repairs = x->filter.repairs;
    snprintf(x->r->out->note, sizeof(x->r->out->note), "%s",
             msim_input_note(in));
    if (status != MSIM_OK) {
        if (!opt->salvage || !is_damage(status) || !x->r->complete) {
            if (err && err->status == MSIM_OK)
                *err = damage;
            return status;
        }
        if (!x->r->out->broken)
            x->r->out->damage = damage;
        x->r->problem = (struct msim_error){0};
    }
    x->r->out->salvaged = status != MSIM_OK || x->r->out->broken;
    MSIM_TRY(finish(x, err));
    return check_sound(x, err);
}

static enum msim_status begin(struct reading *x, struct msim_error *err)
{
    struct msim_reader *r = x->r;

    msim_read_top_init(&x->top);
    r->trace = calloc(1, sizeof(*r->trace));
    if (!r->trace || msim_sax_new(&r->sax, &msim_read_top_handler, &x->top))
        return msim_fail(err, MSIM_ENOMEM, x->name, MSIM_OFFSET_NONE,
                         "out of memory");
    r->trace->strings = r->strings;
    msim_argpool_init(&r->pool, r->trace);
    return MSIM_OK;
}

/* Release all but the trace, which is the caller's on success. */
static void release(struct reading *x)
{
    struct msim_reader *r = x->r;

    msim_sax_free(r->sax);
    if (r->format)
        r->format->free(r->state);
    free(x->head.data);
    msim_json_filter_release(&x->filter);
    msim_argpool_release(&r->pool);
    msim_idmap_release(&r->group_names);
    msim_read_top_release(&x->top);
}

enum msim_status msim_read_file(struct msim_read_result *out,
                                struct msim_input *in,
                                struct msim_strtab *strings,
                                const struct msim_load_options *opt,
                                bool repair, struct msim_error *err)
{
    struct reading x = {.top.reader = {.out = out,
                                       .strings = strings,
                                       .keep_source = opt->keep_source,
                                       .details = opt->details},
                        .name = msim_input_name(in),
                        .salvage = opt->salvage,
                        .repair = repair};
    enum msim_status status;

    x.r = &x.top.reader;
    *out = (struct msim_read_result){.rank = -1};
    status = begin(&x, err);
    if (status == MSIM_OK)
        status = read_and_finish(&x, in, opt, err);
    release(&x);
    if (status != MSIM_OK || !out->trace) {
        out->trace = x.r->trace;
        msim_read_result_release(out);
    }
    return status;
}
