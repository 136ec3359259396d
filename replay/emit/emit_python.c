/*
 * replay/emit/emit_python.c - programs of ranks as a Python benchmark:
 * bench.py from the template and the statements, README.md, meter.py, and who
 * writes what where.
 */

#include "core/base/files.h"
#include "core/base/print.h"
#include "replay/emit/emit_python_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bench.py ----------------------------------------------------------- */

/* ---- texts in it -------------------------------------------------------- */

static void to_text(void *ctx, const char *bytes, size_t n)
{
    msim_text_bytes(ctx, bytes, n);
}

static const char *in_docstring(char c)
{
    return c == '"' ? "'" : c == '\\' ? "/" : NULL;
}

/* The title stands in a text of Python's: quotes and the like would end it. */
static void put_title(struct msim_text *f, const char *title)
{
    const struct msim_printer p = {f, to_text, NULL};

    msim_print_clean(&p, title, strlen(title), in_docstring);
}

static const char *in_code(char c)
{
    return c == '`' ? "'" : NULL;
}

static void put_code(const struct msim_printer *p, const char *text, size_t n)
{
    p->bytes(p->ctx, "`", 1);
    msim_print_clean(p, n ? text : "?", n ? n : 1, in_code);
    p->bytes(p->ctx, "`", 1);
}

/* Add what `fmt` says to README.md, in which each %s becomes code: Markdown
 * sees no link, no HTML and no heading in it. */
MSIM_PRINTF(2, 3)
static void add_markdown(struct msim_text *f, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&(struct msim_printer){f, to_text, put_code}, fmt, args);
    va_end(args);
}

/* ---- the program -------------------------------------------------------- */

static void write_program(struct msim_text *f, struct msim_body *b)
{
    const uint32_t *spaces = b->spaces.data;

    for (uint32_t i = 0; i < b->spaces.n; i++) {
        const char *name = msim_program_schema(b->p, spaces[i])->name;
        size_t len = strcspn(name, ":");

        msim_text_word(f, name, len);
        msim_text_put(f, " = torch.ops.");
        msim_text_word(f, name, len);
        msim_text_put(f, "\n");
    }
    if (b->lists.n)
        msim_text_put(f, "L = DATA[\"lists\"]\n");
    if (b->p->n_collectives)
        msim_text_put(f, msim_collectives_template);
    msim_text_put(f, "\n\n");
    msim_text_put(f, msim_text_get(&b->text));
}

/* What a user may change: sizes that the program is written in. */
static void write_constants(struct msim_text *f, const struct msim_body *b,
                            const struct msim_emit_options *options)
{
    const struct msim_loop *l = b->fold->loops.data;

    if (b->batch.size)
        msim_text_add(
            f, "BATCH = %lld # samples; the trace had %lld\n",
            (long long)(options->batch ? options->batch : b->batch.size),
            (long long)b->batch.size);
    msim_text_add(f, "REPEAT = %u # steps in what is timed at once\n",
                  options->repeat ? options->repeat : 1);
    if (b->layers != MSIM_NONE)
        msim_text_add(f,
                      "LAYERS = %u # layers past %u use the weights of the "
                      "first ones again\n",
                      l[b->layers].count, l[b->layers].count);
}

/* The template, line by line; a line that is a mark alone is replaced. */
static void write_bench(struct msim_text *f, struct msim_body *b,
                        const struct msim_emit_options *options)
{
    const char *p = msim_bench_template, *end, *mark;

    for (; *p; p = end) {
        end = p + strcspn(p, "\n");
        end += *end == '\n';
        if (!strncmp(p, "@PROGRAM@", 9)) {
            write_program(f, b);
            continue;
        }
        if (!strncmp(p, "@CONSTANTS@", 11)) {
            write_constants(f, b, options);
            continue;
        }
        mark = strstr(p, "@TITLE@");
        if (mark && mark < end) {
            msim_text_bytes(f, p, (size_t)(mark - p));
            put_title(f, options->title);
            p = mark + 7;
        }
        msim_text_bytes(f, p, (size_t)(end - p));
    }
}

/* ---- README.md ---------------------------------------------------------- */

/* What is not called, and why: most operators of one name have one reason. */
static void write_left_out(struct msim_text *f, const struct msim_program *p)
{
    struct msim_left_group groups[MSIM_LEFT_GROUPS];
    uint32_t others, n = msim_program_left_groups(p, groups, &others);

    if (n)
        add_markdown(f, "Not called, so that %u of %u operators run:\n\n",
                     p->statements.n - p->n_waits,
                     p->statements.n - p->n_waits + p->left_out.n);
    for (uint32_t i = 0; i < n; i++) {
        add_markdown(f, "* %u x %s: ", groups[i].n, groups[i].name);
        msim_text_put(f, groups[i].reason);
        msim_text_put(f, "\n");
    }
    if (others)
        msim_text_add(f, "* %u others, which `data.json` has\n", others);
    msim_text_put(f, n ? "\n" : "");
}

static void write_readme(struct msim_text *f, const struct msim_program *p,
                         uint32_t n_ranks,
                         const struct msim_emit_options *options)
{
    add_markdown(f,
                 "# Benchmark of a trace\n\n"
                 "%s runs what the trace recorded: %u operator calls",
                 options->title, p->statements.n - p->n_waits);
    msim_text_put(f, p->form == MSIM_FORM_AUTOGRAD
                         ? ", the backward pass by PyTorch's autograd.\n"
                         : ".\n");
    msim_text_put(
        f, "It needs PyTorch, `bench.py` and `data.json` (and `meter.py` for "
           "`--meter`); no\nmodel, no data, no trace.\n\n"
           "    python bench.py                   time one step\n"
           "    python bench.py --device cuda     ... on a GPU\n"
           "    python bench.py --json            all figures\n"
           "    python bench.py --meter 2         ... of a GPU's power and "
           "utilisation, too\n"
           "    python bench.py --certify ET      is it what the trace "
           "recorded?\n");
    if (n_ranks > 1)
        msim_text_add(f,
                      "    torchrun --nproc-per-node %u bench.py   all ranks\n",
                      n_ranks);
    msim_text_put(
        f,
        "\nThe values of its tensors are made up; their shapes, types, sizes "
        "and order are\nthe trace's. What was inferred stands in `data.json` "
        "under `inferred`, what could\nnot be called under `coverage`.\n\n");
    write_left_out(f, p);
    msim_text_put(f, "Made by mystique-sim ");
    msim_text_put(f, options->version);
    msim_text_put(f, ".\n");
}

/* ---- files -------------------------------------------------------------- */

/* Each has these words near an end. */
#define BENCH_MARK  "mystique-sim made this benchmark of an execution trace"
#define README_MARK "\nMade by mystique-sim "
#define METER_MARK  "What a GPU does while steps run, by NVML alone"

static const struct msim_folder_kind KINDS[] = {
    {"bench.py", BENCH_MARK},      {"bench-rank-#.py", BENCH_MARK},
    {"data.json", MSIM_DATA_MARK}, {"data-rank-#.json", MSIM_DATA_MARK},
    {"README.md", README_MARK},    {"meter.py", METER_MARK},
};
static const struct msim_folder_kinds ALL_KINDS = {KINDS, sizeof(KINDS) /
                                                              sizeof(KINDS[0])};

struct writer {
    struct msim_folder folder;
    struct msim_error *err;
    const struct msim_emit_options *options;
    struct msim_emit_result *result;
    struct msim_text first; /* bench.py of the first rank */
    uint32_t n_ranks;
};

static enum msim_status write_bytes(struct writer *w, const char *name,
                                    const char *bytes, size_t n)
{
    struct msim_file *file;

    MSIM_TRY(msim_folder_file(&file, &w->folder, name, w->err));
    return msim_file_close(file, msim_file_write(file, bytes, n), w->err);
}

static enum msim_status write_text(struct writer *w, const char *name,
                                   const struct msim_text *text)
{
    MSIM_TRY(text->status);
    return write_bytes(w, name, text->bytes.data, text->bytes.n);
}

static enum msim_status write_data(struct writer *w, const char *name,
                                   const struct msim_body *b, uint32_t rank)
{
    struct msim_file *file;

    MSIM_TRY(msim_folder_file(&file, &w->folder, name, w->err));
    return msim_file_close(file, msim_data_write(file, b, rank, w->options),
                           w->err);
}

/* ---- ranks -------------------------------------------------------------- */

static uint32_t lines_of(const struct msim_text *t)
{
    const char *text = t->bytes.data;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->bytes.n; i++)
        n += text[i] == '\n';
    return n;
}

static enum msim_status write_first(struct writer *w, struct msim_body *b)
{
    struct msim_text readme = {0};
    enum msim_status status;

    write_bench(&w->first, b, w->options);
    write_readme(&readme, b->p, w->n_ranks, w->options);
    status = write_text(w, "bench.py", &w->first);
    if (status == MSIM_OK)
        status = write_data(w, "data.json", b, 0);
    if (status == MSIM_OK)
        status = write_text(w, "README.md", &readme);
    if (status == MSIM_OK)
        status = write_bytes(w, "meter.py", msim_meter_template,
                             strlen(msim_meter_template));
    free(readme.bytes.data);
    *w->result = (struct msim_emit_result){.statements = b->p->statements.n -
                                                         b->p->n_waits,
                                           .loops = b->fold->loops.n,
                                           .lines = lines_of(&w->first),
                                           .outside = b->p->outside.n,
                                           .left_out = b->p->left_out.n,
                                           .opened = b->p->n_opened,
                                           .programs = 1};
    return status;
}

/* A rank with the program of the first one has data of its own alone. */
static enum msim_status write_other(struct writer *w, struct msim_body *b,
                                    uint32_t i)
{
    uint32_t rank = b->p->trace->rank > 0 ? (uint32_t)b->p->trace->rank : i;
    struct msim_text bench = {0};
    enum msim_status status;
    char name[64];

    write_bench(&bench, b, w->options);
    snprintf(name, sizeof(name), "data-rank-%u.json", rank);
    status = write_data(w, name, b, i);
    snprintf(name, sizeof(name), "bench-rank-%u.py", rank);
    if (status == MSIM_OK &&
        strcmp(msim_text_get(&bench), msim_text_get(&w->first)) != 0) {
        status = write_text(w, name, &bench);
        w->result->programs++;
    }
    free(bench.bytes.data);
    return status;
}

static enum msim_status write_rank(struct writer *w,
                                   const struct msim_program *p, uint32_t i)
{
    struct msim_loops fold;
    struct msim_body body = {.p = p, .fold = &fold};
    enum msim_status status;

    MSIM_TRY(msim_loops_find(&fold, p, !w->options->no_loops));
    status = msim_body_write(&body);
    if (status == MSIM_OK)
        status = i == 0 ? write_first(w, &body) : write_other(w, &body, i);
    msim_body_release(&body);
    msim_loops_release(&fold);
    return status;
}

enum msim_status msim_emit_python(const struct msim_program *const *ranks,
                                  uint32_t n, const char *dir,
                                  const struct msim_emit_options *options,
                                  struct msim_emit_result *result,
                                  struct msim_error *err)
{
    struct writer w = {
        .err = err, .options = options, .result = result, .n_ranks = n};
    enum msim_status status =
        msim_folder_begin(&w.folder, dir, &ALL_KINDS, err);

    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = write_rank(&w, ranks[i], i);
    free(w.first.bytes.data);
    return msim_folder_end(&w.folder, status, err);
}
