/*
 * cli/platforms/platform_text.c - the page of one GPU as text.
 */
#include "cli/platforms/platform_page.h"
#include "core/base/print.h"
#include "core/report/write/report.h"
#include "core/work/data_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 100
#define NOTES   64 /* sources told apart */
#define TEXT    2048
#define KIND    29 /* columns of a kind of work */

/* Each source of figures is printed once, at the end of the page. */
struct printing {
    const struct msim_platform_page *page;
    FILE *out;
    const char *notes[NOTES];
    uint32_t n_notes;
};

/* ---- words and figures --------------------------------------------------- */

/* " [3]" for the third source, "" for none. */
static void put_note(struct printing *pr, const char *source)
{
    uint32_t i = 0;

    while (source && i < pr->n_notes && strcmp(pr->notes[i], source) != 0)
        i++;
    if (!source || i == NOTES)
        return;
    if (i == pr->n_notes)
        pr->notes[pr->n_notes++] = source;
    fprintf(pr->out, " [%u]", i + 1);
}

/* Print `text` from column `column` on; further lines are indented. */
static void put_words(FILE *out, int column, int indent, const char *text)
{
    bool first = true;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (!first && column + 1 + (int)n > COLUMNS) {
            msim_print(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        msim_print(out, "%.*s", (int)n, text);
        column += (int)n;
        text += n + strspn(text + n, " ");
        first = false;
    }
    fputc('\n', out);
}

static void append(char text[TEXT], const char *word, const char *end)
{
    size_t used = strlen(text);

    snprintf(text + used, TEXT - used, "%s%s", word, end);
}

/* Words of an array; nothing where there are none. */
static void put_list(FILE *out, const char *heading, const cJSON *words)
{
    char text[TEXT] = "";
    const cJSON *word;

    cJSON_ArrayForEach(word, words)
    {
        if (cJSON_IsString(word))
            append(text, word->valuestring, word->next ? ", " : "");
    }
    if (!*text)
        return;
    msim_print(out, "  %-16s", heading);
    put_words(out, 18, 18, text);
}

/* A share in %; "-" where it is not known. */
static void put_share(FILE *out, int width, int decimals, double share)
{
    if (isnan(share))
        msim_print(out, "%*s", width, "-");
    else
        fprintf(out, "%*.*f", width, decimals, 100 * share);
}

static void put_ratio(FILE *out, int width, double ratio)
{
    if (isnan(ratio))
        msim_print(out, "%*s", width, "-");
    else
        fprintf(out, "%*.2f", width, ratio);
}

static const cJSON *member(const struct printing *pr, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(pr->page->file, key);
}

/* ---- the summary --------------------------------------------------------- */

static void put_family(FILE *out, const struct msim_platform_page_family *f)
{
    msim_print(out, "  %-10s", f->law);
    if (f->fits)
        fprintf(out, "%7u %8.0f", f->fits, f->rows);
    else
        msim_print(out, "%7s %8s", "-", "-");
    put_share(out, 7, 1, f->mean);
    put_share(out, 8, 1, f->median);
    put_share(out, 7, 1, f->p90);
    put_share(out, 7, 0, f->worst);
    put_share(out, 8, 0, f->inside);
    put_ratio(out, 7, f->width);
    if (f->inherited)
        fprintf(out, "%9u", f->inherited);
    else
        msim_print(out, "%9s", "-");
    put_share(out, 8, 1, f->held_out);
    put_ratio(out, 8, f->inherited ? f->interval_factor : (double)NAN);
    fputc('\n', out);
}

/* The figures that people know a GPU by. */
static void put_size(struct printing *pr)
{
    const struct msim_platform *p = pr->page->p;
    const char *generation = msim_json_get_text(pr->page->file, "generation");
    char memory[MSIM_CELL], rate[MSIM_CELL], fp32[MSIM_CELL], half[MSIM_CELL];
    const char *kind = msim_json_get_text(pr->page->file, "kind");
    bool cpu = kind && strcmp(kind, "cpu") == 0;
    char text[TEXT];

    msim_format_large(memory, msim_platform_memory_bytes(p));
    msim_format_large(rate, msim_platform_bandwidth(p));
    msim_format_large(fp32, msim_platform_peak_flops(p, MSIM_DT_F32, NULL));
    msim_format_large(half, msim_platform_peak_flops(p, MSIM_DT_F16, NULL));
    snprintf(text, sizeof(text),
             "%s%s%sB at %sB/s, %u %s, fp32 %sFLOP/s, fp16 %sFLOP/s",
             generation ? generation : "", generation ? ", " : "", memory, rate,
             msim_platform_sms(p), cpu ? "cores" : "SMs", fp32, half);
    msim_print(pr->out, "  %-16s", cpu ? "CPU" : "GPU");
    put_words(pr->out, 18, 18, text);
}

/* What may be named with an '@'. */
static void put_stacks(FILE *out)
{
    const struct msim_stack *s;

    for (uint32_t i = 0; (s = msim_stack_at(i)) != NULL; i++) {
        msim_print(out, "  @%-15s", s->name);
        put_words(out, 18, 18, s->says);
    }
}

static void put_summary(struct printing *pr)
{
    const struct msim_platform *p = pr->page->p;
    FILE *out = pr->out;

    msim_print(out, "%s: %s\n", msim_platform_name(p), msim_platform_title(p));
    put_size(pr);
    msim_print(out, "  %-16s%s\n", "file", msim_platform_file(p));
    put_list(out, "also known as", member(pr, "aliases"));
    put_list(out, "inherits from", member(pr, "stand_ins"));
    if (cJSON_IsString(member(pr, "links_of")))
        msim_print(out, "  %-16s%s\n", "links of",
                   member(pr, "links_of")->valuestring);
    put_stacks(out);
    fputs("\nHow good its predictions are: means over kinds of work. A kind is "
          "the operators of one type in one\nsoftware stack. Errors are in %: "
          "on held-out rows of this GPU, and for kinds without rows here, on\n"
          "held-out GPUs. inside: share of rows in their 90 % interval, in %; "
          "width: its high over low;\nfactor: the interval as a factor either "
          "way.\n\n"
          "               ------------- held-out rows of its own -----------"
          "------   ----- inherited ------\n"
          "  family       kinds     rows   mean  median    p90  worst  inside  "
          "width    kinds   error  factor\n",
          out);
    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++)
        put_family(out, &pr->page->families[i]);
}

/* ---- the data sheet ------------------------------------------------------ */

/* The unit of a figure that its file gives bare, by its name. */
static const char *unit_of(const char *key)
{
    static const char *const UNITS[][2] = {
        {"_flops", "FLOP/s"},  {"_ops", "op/s"}, {"_bytes", "B"},
        {"_bandwidth", "B/s"}, {"_clock", "Hz"}, {"_limit", "W"},
        {"_us", "us"}};
    size_t n = strlen(key);

    for (size_t i = 0; i < sizeof(UNITS) / sizeof(*UNITS); i++) {
        size_t m = strlen(UNITS[i][0]);

        if (n > m && strcmp(key + n - m, UNITS[i][0]) == 0)
            return UNITS[i][1];
    }
    return "1";
}

static void put_value(struct printing *pr, const char *key, double value,
                      const char *unit, const char *source)
{
    char text[MSIM_CELL];

    if (fabs(value) >= 1000)
        msim_format_large(text, value);
    else
        snprintf(text, sizeof(text), "%.5g ", value);
    unit = strcmp(unit, "1") == 0 ? "" : unit;
    if (!source && !*unit)
        text[strlen(text) - 1] = '\0';
    msim_print(pr->out, "  %-24s%*s%-*s", key, source || *unit ? 12 : 11, text,
               source ? 8 : 0, unit);
    put_note(pr, source);
    fputc('\n', pr->out);
}

static void put_parameter(struct printing *pr, const cJSON *p)
{
    const char *unit = msim_json_get_text(p, "unit");
    const char *source = msim_json_get_text(p, "source");
    double value = cJSON_IsNumber(p) ? p->valuedouble
                                     : msim_json_get_number(p, "value", NAN);

    if (!source)
        source = msim_json_get_text(p, "how");
    if (!isnan(value))
        put_value(pr, p->string, value, unit ? unit : unit_of(p->string),
                  source ? source : "the file names no source");
}

static void put_taken(struct printing *pr)
{
    const struct msim_platform_page *page = pr->page;

    if (page->n_taken == 0)
        return;
    msim_print(pr->out, "\nNot in the file, so taken from %s\n",
               page->taken_from ? page->taken_from
                                : "what is typical of GPUs of these years");
    for (uint32_t i = 0; i < page->n_taken; i++)
        put_value(pr, page->taken[i].key, page->taken[i].value,
                  page->taken[i].unit, NULL);
}

static void put_sheet(struct printing *pr)
{
    const cJSON *item;

    fputs("\nData sheet\n", pr->out);
    cJSON_ArrayForEach(item, member(pr, "data_sheet")) put_parameter(pr, item);
    put_taken(pr);
    if (cJSON_GetArraySize(member(pr, "parameters")) > 0)
        fputs("\nFitted for all GPUs together\n", pr->out);
    cJSON_ArrayForEach(item, member(pr, "parameters")) put_parameter(pr, item);
}

/* ---- what was fitted to its own rows ------------------------------------- */

static void put_kind(struct printing *pr, const cJSON *fit)
{
    const char *framework = msim_json_get_text(fit, "framework");
    const char *key = msim_json_get_text(fit, "key");
    FILE *out = pr->out;
    char name[256];
    unsigned used = msim_format_name(name, sizeof(name), key ? key : "", KIND);

    msim_print(out, "  %-13s %s%*s", framework ? framework : "", name,
               KIND - (int)used, "");
    fprintf(out, "%6.0f%6.0f", msim_json_get_number(fit, "rows", 0),
            msim_json_get_number(fit, "groups", 0));
    put_share(out, 6, 1, msim_json_get_number(fit, "error_held_back", NAN));
    put_share(out, 7, 1,
              msim_json_get_number(fit, "error_held_back_median", NAN));
    put_share(out, 6, 1, msim_json_get_number(fit, "error_held_back_p90", NAN));
    put_share(out, 6, 0,
              msim_json_get_number(fit, "error_held_back_worst", NAN));
    put_share(out, 7, 0, msim_json_get_number(fit, "interval_coverage", NAN));
    put_ratio(out, 6, msim_json_get_number(fit, "interval_high_over_low", NAN));
    put_note(pr, msim_json_get_text(fit, "how"));
    fputc('\n', out);
}

static void put_constants(FILE *out, const cJSON *fit)
{
    char text[TEXT] = "";
    const cJSON *c;

    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(fit, "constants"))
    {
        const char *unit = msim_json_get_text(c, "unit");
        char one[128];

        snprintf(one, sizeof(one), "%s %.4g%s%s", c->string,
                 msim_json_get_number(c, "value", 0),
                 !unit || strcmp(unit, "1") == 0 ? "" : " ",
                 !unit || strcmp(unit, "1") == 0 ? "" : unit);
        append(text, one, c->next ? ", " : "");
    }
    if (!*text)
        return;
    msim_print(out, "%12s", "");
    put_words(out, 12, 12, text);
}

static bool is_of(const cJSON *fit, const char *law)
{
    const char *own = msim_json_get_text(fit, "law");

    return own && msim_platform_page_belongs(own, law);
}

static void put_kinds(struct printing *pr,
                      const struct msim_platform_page_family *f, bool constants)
{
    const cJSON *fit;

    if (f->fits == 0)
        return;
    msim_print(pr->out, "%s\n", f->law);
    cJSON_ArrayForEach(fit, member(pr, "cells"))
    {
        if (!is_of(fit, f->law))
            continue;
        put_kind(pr, fit);
        if (constants)
            put_constants(pr->out, fit);
    }
}

static void put_fits(struct printing *pr, bool constants)
{
    if (cJSON_GetArraySize(member(pr, "cells")) == 0) {
        fputs("\nNo rows of its own were measured.\n", pr->out);
        return;
    }
    fputs(
        "\nFitted to its own rows: errors in % on held-out rows (whole groups "
        "are held out), 90 % intervals\n"
        "  stack         kind                           rows groups  mean "
        "median   p90 worst inside width\n",
        pr->out);
    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++)
        put_kinds(pr, &pr->page->families[i], constants);
}

/* ---- what it inherits ---------------------------------------------------- */

#define KINDS_AT 65 /* the column of the kinds */

/* Kinds of one stack that one GPU answers for. */
struct heirs {
    const struct msim_pick *first;
    double error_low, error_high; /* infinities: not known */
    double low, high;             /* of the interval: a factor either way */
    char kinds[TEXT];
};

static bool same_origin(const struct msim_pick *a, const struct msim_pick *b)
{
    return a->fit->law == b->fit->law && a->platform == b->platform &&
           a->trees == b->trees &&
           strcmp(a->fit->framework, b->fit->framework) == 0;
}

static void add_heir(struct heirs *h, const struct msim_pick *pick,
                     const struct msim_platform *p)
{
    double error = msim_pick_held_out_error(p, pick);
    double factor = exp(msim_pick_half_width(pick));
    char name[256];

    h->low = fmin(h->low, factor);
    h->high = fmax(h->high, factor);
    if (!isnan(error)) {
        h->error_low = fmin(h->error_low, error);
        h->error_high = fmax(h->error_high, error);
    }
    (void)msim_format_name(name, sizeof(name), pick->fit->key,
                           COLUMNS - KINDS_AT - 1);
    append(h->kinds, *h->kinds ? ", " : "", name);
}

static struct heirs heirs_of(const struct msim_platform_page *page, uint32_t at,
                             bool *taken)
{
    struct heirs h = {.first = &page->picks[at],
                      .error_low = INFINITY,
                      .error_high = -INFINITY,
                      .low = INFINITY};

    for (uint32_t i = at; i < page->n_picks; i++) {
        if (taken[i] || !same_origin(h.first, &page->picks[i]))
            continue;
        taken[i] = true;
        add_heir(&h, &page->picks[i], page->p);
    }
    return h;
}

/* "12.1" or "12.1-25.1". */
static void format_range(char text[MSIM_CELL], double low, double high)
{
    if (low > high)
        snprintf(text, MSIM_CELL, "-");
    else if (high - low < 0.05)
        snprintf(text, MSIM_CELL, "%.1f", low);
    else
        snprintf(text, MSIM_CELL, "%.1f-%.1f", low, high);
}

static void put_heirs(FILE *out, const struct heirs *h)
{
    char error[MSIM_CELL], factor[MSIM_CELL], from[96];

    format_range(error, 100 * h->error_low, 100 * h->error_high);
    format_range(factor, h->low, h->high);
    snprintf(from, sizeof(from), "%s%s", msim_platform_page_whose(h->first),
             h->first->platform && !h->first->trees ? ", law alone" : "");
    msim_print(out, "  %-13s %10s  x %-8s %-25s ", h->first->fit->framework,
               error, factor, from);
    put_words(out, KINDS_AT, KINDS_AT, h->kinds);
}

static void put_inherited_family(struct printing *pr, const char *law,
                                 bool *taken)
{
    bool first = true;

    for (uint32_t i = 0; i < pr->page->n_picks; i++) {
        struct heirs h;

        if (taken[i] ||
            !msim_platform_page_belongs(pr->page->picks[i].fit->law->name, law))
            continue;
        h = heirs_of(pr->page, i, taken);
        if (first)
            msim_print(pr->out, "%s\n", law);
        first = false;
        put_heirs(pr->out, &h);
    }
}

static enum msim_status put_inherited(struct printing *pr)
{
    uint32_t n = pr->page->n_picks;
    bool *taken = n ? calloc(n, sizeof(*taken)) : NULL;

    if (n == 0)
        return MSIM_OK;
    if (!taken)
        return MSIM_ENOMEM;
    fputs("\nInherited, scaled by the data sheets: mean error in % on held-out "
          "GPUs, and the 90 % interval as a\nfactor either way (law "
          "alone: without the correction that was learned on the other GPU)\n"
          "  stack              error  factor     from                      "
          "kinds\n",
          pr->out);
    for (size_t i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++)
        put_inherited_family(pr, pr->page->families[i].law, taken);
    free(taken);
    return MSIM_OK;
}

/* ---- all of it ----------------------------------------------------------- */

enum msim_status msim_platform_page_print(const struct msim_platform_page *page,
                                          bool constants, FILE *out)
{
    struct printing pr = {.page = page, .out = out};

    put_summary(&pr);
    msim_platform_page_put_calibration(page->file, out);
    put_sheet(&pr);
    put_fits(&pr, constants);
    MSIM_TRY(put_inherited(&pr));
    if (pr.n_notes)
        fputs("\nSources\n", out);
    for (uint32_t i = 0; i < pr.n_notes; i++) {
        msim_print(out, "  [%u]%s ", i + 1, i < 9 ? " " : "");
        put_words(out, 7, 7, pr.notes[i]);
    }
    return MSIM_OK;
}
