/*
 * core/report/write/info.c - `info`: what is in the files of a job and what is
 * missing.
 */
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TEXT_MAX 640

/* ---- what is missing ---------------------------------------------------- */

/*
 * X(name, true for a rank `t` that lacks it, the sentence). The sentence is
 * followed by its ranks where it does not hold for all of them.
 */
#define FINDING_MAP(X)                                                         \
    X(TIMES, !t->has_times,                                                    \
      "no times (an execution trace has none): costs come from models, name "  \
      "a --platform")                                                          \
    X(SHAPES, t->n_ops > 0 && !has_shapes(t),                                  \
      "no shapes of operator inputs (record_shapes=True adds them): model "    \
      "costs have little to go by")                                            \
    X(GPU, t->has_times && !t->has_gpu_events,                                 \
      "no GPU activity: predicted as if its tensors were on the platform's "   \
      "GPU")                                                                   \
    X(OPS, t->n_ops == 0, "no operators: nothing says what the kernels do")    \
    X(STEPS, t->n_steps == 0,                                                  \
      "no ProfilerStep marks: the whole trace counts as one iteration")        \
    X(SYNC, t->has_gpu_events && t->n_syncs == 0 && t->n_streams > 1,          \
      "no records of stream and event synchronisation: those waits are "       \
      "inferred from times")                                                   \
    X(ET, !t->has_et,                                                          \
      "no execution trace beside the Kineto file: which tensor is which is "   \
      "not known")

enum finding {
#define X(name, holds, sentence) FINDING_##name,
    FINDING_MAP(X)
#undef X
        FINDING_COUNT
};

static bool has_shapes(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR)
            return true;
    return false;
}

static bool lacks(const struct msim_trace *t, enum finding f)
{
    switch (f) {
#define X(name, holds, sentence)                                               \
    case FINDING_##name:                                                       \
        return holds;
        FINDING_MAP(X)
#undef X
    case FINDING_COUNT:
        break;
    }
    return false;
}

static const char *sentence_of(enum finding f)
{
    static const char *const SENTENCES[] = {
#define X(name, holds, sentence) sentence,
        FINDING_MAP(X)
#undef X
    };

    return SENTENCES[f];
}

/* Numbers as "0-3, 5"; stops with "..." where `size` is used up. */
struct number_list {
    char *text;
    size_t size, used;
    int64_t first, last;
    bool open; /* first..last is not written yet */
};

static void list_flush(struct number_list *l)
{
    size_t left = l->size - l->used;

    if (!l->open)
        return;
    l->open = false;
    if (left < 48) {
        if (left > 6 && (l->used < 3 || l->text[l->used - 1] != '.'))
            l->used += (size_t)snprintf(l->text + l->used, left, ", ...");
        return;
    }
    if (l->used)
        l->used += (size_t)snprintf(l->text + l->used, left, ", ");
    left = l->size - l->used;
    if (l->first == l->last)
        l->used +=
            (size_t)snprintf(l->text + l->used, left, "%" PRId64, l->first);
    else
        l->used += (size_t)snprintf(l->text + l->used, left,
                                    "%" PRId64 "-%" PRId64, l->first, l->last);
}

static void list_add_range(struct number_list *l, int64_t first, int64_t last)
{
    if (first > last)
        return;
    if (l->open && first == l->last + 1) {
        l->last = last;
        return;
    }
    list_flush(l);
    l->first = first;
    l->last = last;
    l->open = true;
}

static void list_add(struct number_list *l, int64_t number)
{
    list_add_range(l, number, number);
}

/* The sentence for finding `f` of the job, or false where it does not hold. */
static bool describe(const struct msim_job *job, enum finding f,
                     char text[TEXT_MAX])
{
    char ranks[256] = "";
    struct number_list list = {.text = ranks, .size = sizeof(ranks)};
    uint32_t n = 0;

    for (uint32_t i = 0; i < msim_job_traced(job); i++) {
        struct msim_job_member m = msim_job_member(job, i);

        if (lacks(job->ranks[m.of], f)) {
            list_add(&list, m.rank);
            n++;
        }
    }
    list_flush(&list);
    if (n == msim_job_traced(job))
        snprintf(text, TEXT_MAX, "%s", sentence_of(f));
    else
        snprintf(text, TEXT_MAX, "%s (rank %s)", sentence_of(f), ranks);
    return n > 0;
}

/* Which ranks of the traced run have no file. */
static bool describe_absent(const struct msim_job *job, char text[TEXT_MAX])
{
    char ranks[256] = "";
    struct number_list list = {.text = ranks, .size = sizeof(ranks)};
    uint32_t world = 0, absent = 0, traced = msim_job_traced(job);
    int64_t next = 0;

    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->world_size > world)
            world = job->ranks[i]->world_size;
    if (world <= traced)
        return false;
    absent = world - traced;
    /* A rank that is not known cannot be told from the absent ones. */
    if (job->n_ranks && job->ranks[0]->rank < 0) {
        snprintf(text, TEXT_MAX, "traces of %u of the job's %u ranks", absent,
                 world);
        return true;
    }
    /* Those between the ones that are there, which are in order. */
    for (uint32_t i = 0; i < traced; i++) {
        list_add_range(&list, next, msim_job_member(job, i).rank - 1);
        next = msim_job_member(job, i).rank + 1;
    }
    list_add_range(&list, next, (int64_t)world - 1);
    list_flush(&list);
    snprintf(text, TEXT_MAX, "traces of %u of the job's %u ranks: %s", absent,
             world, ranks);
    return true;
}

static bool describe_unlinked(const struct msim_job *job, char text[TEXT_MAX])
{
    uint64_t unlinked = 0, all = 0;

    for (uint32_t i = 0; i < job->n_ranks; i++) {
        unlinked += job->ranks[i]->unlinked_gpu * msim_job_alike(job, i);
        all += (uint64_t)job->ranks[i]->n_gpu * msim_job_alike(job, i);
    }
    snprintf(text, TEXT_MAX,
             "the launches of %" PRIu64 " of %" PRIu64 " GPU activities",
             unlinked, all);
    return unlinked > 0;
}

/* Number `i` of what is missing, counted from 0; false past the last. */
static bool missing(const struct msim_job *job, unsigned i, char text[TEXT_MAX])
{
    unsigned seen = 0;

    if (describe_absent(job, text) && seen++ == i)
        return true;
    for (int f = 0; f < FINDING_COUNT; f++)
        if (describe(job, (enum finding)f, text) && seen++ == i)
            return true;
    return describe_unlinked(job, text) && seen == i;
}

/* ---- text --------------------------------------------------------------- */

/* Has a rank before it a GPU of this name? */
static bool is_told(const struct msim_job *job, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (job->ranks[i]->gpu_properties.name ==
            job->ranks[rank]->gpu_properties.name)
            return true;
    return false;
}

static void print_summary(const struct msim_job *job, FILE *out)
{
    uint32_t files = 0;
    char name[256];

    for (uint32_t i = 0; i < job->n_files; i++)
        files += !job->files[i].further;
    msim_print(out, "%u file%s, %u rank%s\n", files, files == 1 ? "" : "s",
               msim_job_traced(job), msim_job_traced(job) == 1 ? "" : "s");
    for (uint32_t i = 0; i < job->n_ranks; i++) {
        const struct msim_trace *t = job->ranks[i];
        const struct msim_gpu_properties *gpu = &t->gpu_properties;
        char sms[48] = "", gpus[48] = "";

        if (!gpu->name || is_told(job, i))
            continue;
        msim_format_name(name, sizeof(name), msim_trace_text(t, gpu->name), 64);
        if (gpu->sms)
            snprintf(sms, sizeof(sms), ", %u multiprocessors", gpu->sms);
        if (t->gpus > 1)
            snprintf(gpus, sizeof(gpus), "; %u GPUs in one process", t->gpus);
        msim_print(out, "GPU: %s, %.1f GB%s%s\n", name,
                   (double)gpu->memory_bytes / 1e9, sms, gpus);
    }
}

struct file_line {
    char rank[24], linked[16], version[32], path[1024];
    const char *format, *salvaged;
    int64_t events, ops, kernels, collectives, steps;
};

#define OF(member, title, before, columns, ...)                                \
    MSIM_COLUMN(struct file_line, member, NULL, .heading = (title),            \
                .gap = (before), .width = (columns), __VA_ARGS__)

static const struct msim_column FILES[] = {
    OF(rank, "rank", 0, 4, .type = MSIM_COLUMN_CELL),
    OF(format, "format", 2, -6, .type = MSIM_COLUMN_TEXT),
    OF(version, "version", 2, -18, .type = MSIM_COLUMN_CELL),
    OF(events, "events", 1, 9, .type = MSIM_COLUMN_COUNT),
    OF(ops, "ops", 1, 9, .type = MSIM_COLUMN_COUNT),
    OF(kernels, "kernels", 1, 8, .type = MSIM_COLUMN_COUNT),
    OF(collectives, "collectives", 1, 11, .type = MSIM_COLUMN_COUNT),
    OF(steps, "steps", 1, 6, .type = MSIM_COLUMN_COUNT),
    OF(linked, "linked", 2, 6, .type = MSIM_COLUMN_CELL),
    OF(path, "file", 2, 0, .type = MSIM_COLUMN_CELL),
    OF(salvaged, "", 0, 0, .type = MSIM_COLUMN_TEXT)};

static void print_file(const struct msim_file_info *f, FILE *out)
{
    struct file_line l = {
        .rank = "-",
        .linked = "-",
        .version = "-",
        .format = msim_format_text(f->format),
        .salvaged = f->salvaged ? " (broken: a part was salvaged)" : "",
        .events = (int64_t)f->events,
        .ops = (int64_t)f->ops,
        .kernels = (int64_t)f->kernels,
        .collectives = (int64_t)f->collectives,
        .steps = (int64_t)f->steps};

    if (f->rank >= 0)
        snprintf(l.rank, sizeof(l.rank), "%" PRId64, f->rank);
    if (!isnan(f->linked))
        snprintf(l.linked, sizeof(l.linked), "%.1f%%", 100 * f->linked);
    if (f->version && f->version[0])
        msim_format_name(l.version, sizeof(l.version), f->version, 18);
    msim_format_name(l.path, sizeof(l.path), f->path, sizeof(l.path));
    msim_record_text(out, MSIM_COLUMNS(FILES), &l);
}

/* " (rank 3)" where there are several. */
static const char *which_rank(const struct msim_job *job, int64_t rank,
                              char text[40])
{
    text[0] = '\0';
    if (msim_job_traced(job) > 1 && rank >= 0)
        snprintf(text, 40, " (rank %" PRId64 ")", rank);
    return text;
}

static void print_steps(const struct msim_job *job, FILE *out)
{
    const struct msim_trace *t = NULL;
    msim_ps low = 0, high = 0;
    char rank[40];

    for (uint32_t i = 0; i < job->n_ranks && (!t || !t->n_steps); i++)
        t = job->ranks[i];
    if (!t || !t->n_steps || !t->has_times)
        return;
    low = high = t->steps[0].dur;
    for (uint32_t i = 1; i < t->n_steps; i++) {
        low = t->steps[i].dur < low ? t->steps[i].dur : low;
        high = t->steps[i].dur > high ? t->steps[i].dur : high;
    }
    if (t->n_steps > 1)
        msim_print_title(out,
                         "steps: ProfilerStep#%" PRId64 " to #%" PRId64
                         ", %.3f to %.3f ms each%s",
                         t->steps[0].number, t->steps[t->n_steps - 1].number,
                         (double)low / 1e9, (double)high / 1e9,
                         which_rank(job, t->rank, rank));
    else
        msim_print_title(out, "steps: ProfilerStep#%" PRId64 ", %.3f ms%s",
                         t->steps[0].number, (double)low / 1e9,
                         which_rank(job, t->rank, rank));
}

/* Of the file in which most is allocated. */
static void print_memory(const struct msim_job *job, FILE *out)
{
    const struct msim_file_info *most = NULL;
    struct msim_recorded_memory sum, best = {0};
    char text[MSIM_RECORDED_TEXT], rank[40];

    for (uint32_t i = 0; i < job->n_files; i++) {
        sum = msim_recorded_memory_sum(&job->files[i].memory);
        if (job->files[i].memory.n &&
            (!most || sum.allocated > best.allocated)) {
            most = &job->files[i];
            best = sum;
        }
    }
    if (!most)
        return;
    msim_report_recorded_text(&most->memory, text);
    msim_print_title(out, "memory recorded: %s%s", text,
                     which_rank(job, most->rank, rank));
}

/* How many of a kind there are in all files; of those with a name, of all
 * names. */
static uint64_t total_of(const struct msim_job *job,
                         const struct msim_import_kind_info *kind)
{
    uint64_t n = 0;

    for (uint32_t f = 0; f < job->n_files; f++)
        for (uint32_t i = 0; i < job->files[f].import.n; i++)
            if (job->files[f].import.rows[i].kind == kind)
                n += job->files[f].import.rows[i].n;
    return n;
}

/* A line for the kinds of one fate that no warning is of. */
static void print_fate(const struct msim_job *job, enum msim_import_fate fate,
                       FILE *out)
{
    char what[160], said[160], label[64];
    bool any = false;

    snprintf(label, sizeof(label), "  %s: ", msim_import_fate_text(fate));
    for (int k = 0; k < MSIM_IMPORT_KINDS; k++) {
        const struct msim_import_kind_info *kind =
            msim_import_about((enum msim_import_kind)k);
        uint64_t n =
            kind->fate == fate && !kind->warned ? total_of(job, kind) : 0;

        if (!n)
            continue;
        msim_import_words(what, sizeof(what), kind->what, n, "...");
        msim_import_words(said, sizeof(said), kind->said, n, "...");
        msim_print(out,
                   any && *kind->said ? "\n    %s%" PRIu64 " %s%s%s"
                                      : "%s%" PRIu64 " %s%s%s",
                   !any          ? label
                   : *kind->said ? ""
                                 : ", ",
                   n, what, *said ? " " : "", said);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void print_import(const struct msim_job *job, FILE *out)
{
    uint64_t read = 0, events = 0;

    for (uint32_t i = 0; i < job->n_files; i++) {
        read += job->files[i].import.read;
        events += job->files[i].events;
    }
    msim_print_title(out, "read: %" PRIu64 " of %" PRIu64 " records", read,
                     events);
    for (int f = 0; f < MSIM_IMPORT_FATES; f++)
        print_fate(job, (enum msim_import_fate)f, out);
}

enum msim_status msim_info_text(const struct msim_job *job, FILE *out)
{
    char text[TEXT_MAX];

    print_summary(job, out);
    fputc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(FILES));
    for (uint32_t i = 0; i < job->n_files; i++)
        print_file(&job->files[i], out);
    print_steps(job, out);
    print_memory(job, out);
    print_import(job, out);
    for (unsigned i = 0; missing(job, i, text); i++)
        msim_print(out, i ? "  - %s\n" : "\nmissing:\n  - %s\n", text);
    msim_report_warnings(job->warnings, job->n_warnings, out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}

/* ---- JSON --------------------------------------------------------------- */

/* Text, or null where it is empty. */
static void known_text(struct msim_json *j, const char *key, const char *text)
{
    msim_json_text(j, key, text && text[0] ? text : NULL);
}

/* `timeless`: without what changes with the times in the file. */
static void write_import_row(struct msim_json *j,
                             const struct msim_import_row *row, bool timeless)
{
    bool has_byte = row->has_byte && !timeless;

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "fate", msim_import_fate_text(row->kind->fate));
    msim_json_text(j, "kind", row->kind->word);
    known_text(j, "name", row->name);
    msim_json_unsigned(j, "count", row->n);
    msim_json_unsigned(j, "us", timeless ? 0 : row->us);
    if (has_byte)
        msim_json_unsigned(j, "byte", row->byte);
    else
        msim_json_text(j, "byte", NULL);
    known_text(j, "example", row->example);
    msim_json_close(j);
}

/* What the times of GPU activities say. */
static bool of_gpu_times(const struct msim_import_row *row)
{
    return row->kind == msim_import_about(MSIM_IMPORT_OVERRUN) ||
           row->kind == msim_import_about(MSIM_IMPORT_OUTLASTS) ||
           row->kind == msim_import_about(MSIM_IMPORT_BESIDE);
}

static void write_import(struct msim_json *j, const struct msim_file_info *f,
                         bool timeless)
{
    msim_json_unsigned(j, "read", f->import.read);
    msim_json_open(j, "records", '[', true);
    for (uint32_t i = 0; i < f->import.n; i++)
        if (!timeless || !of_gpu_times(&f->import.rows[i]))
            write_import_row(j, &f->import.rows[i], timeless);
    msim_json_close(j);
}

void msim_report_json_import(struct msim_json *j, const char *key,
                             const struct msim_file_info *files, uint32_t n,
                             bool timeless)
{
    msim_json_open(j, key, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        msim_json_open(j, NULL, '{', true);
        msim_json_text(j, "path", files[i].path);
        msim_json_unsigned(j, "events", files[i].events);
        write_import(j, &files[i], timeless);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_file(struct msim_json *j, const struct msim_file_info *f)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "path", f->path);
    msim_json_text(j, "format", msim_format_text(f->format));
    known_text(j, "version", f->version);
    if (f->rank >= 0)
        msim_json_integer(j, "rank", f->rank);
    else
        msim_json_text(j, "rank", NULL);
    known_text(j, "gpu", f->gpu);
    msim_json_unsigned(j, "events", f->events);
    msim_json_unsigned(j, "ops", f->ops);
    msim_json_unsigned(j, "kernels", f->kernels);
    msim_json_unsigned(j, "collectives", f->collectives);
    msim_json_unsigned(j, "steps", f->steps);
    msim_json_number(j, "linked", f->linked);
    msim_json_bool(j, "salvaged", f->salvaged);
    msim_json_unsigned(j, "gpus", f->gpus);
    msim_report_json_recorded(j, "memory_bytes", &f->memory);
    msim_json_open(j, "import", '{', true);
    write_import(j, f, false);
    msim_json_close(j);
    msim_json_close(j);
}

enum msim_status msim_info_json(const struct msim_job *job, FILE *out)
{
    struct msim_json j;
    char text[TEXT_MAX];

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/info/1");
    msim_json_text(&j, "program", MSIM_VERSION);
    msim_json_open(&j, "files", '[', true);
    for (uint32_t i = 0; i < job->n_files; i++)
        write_file(&j, &job->files[i]);
    msim_json_close(&j);
    msim_json_unsigned(&j, "ranks", msim_job_traced(job));
    msim_json_open(&j, "missing", '[', true);
    for (unsigned i = 0; missing(job, i, text); i++)
        msim_json_text(&j, NULL, text);
    msim_json_close(&j);
    msim_json_open(&j, "warnings", '[', true);
    for (uint32_t i = 0; i < job->n_warnings; i++)
        msim_json_text(&j, NULL, job->warnings[i]);
    msim_json_close(&j);
    return msim_json_end(&j);
}
