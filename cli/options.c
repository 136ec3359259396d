/*
 * cli/options.c - command lines from a table.
 */
#include "cli/options.h"

#include "cli/cmd.h"
#include "cli/commit.h"
#include "core/base/print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX    32 /* of an option, as it is suggested */
#define WORDS_MAX   64
#define HELP_INDENT 26
#define HELP_WIDTH  78

/* A name of one letter has one dash: -o. */
static const char *dashes(const struct msim_option *o)
{
    return o->name[1] ? "--" : "-";
}

static bool takes_value(const struct msim_option *o)
{
    return o->type != MSIM_OPTION_FLAG && o->type != MSIM_OPTION_ONE_OF;
}

/* ---- help ------------------------------------------------------------- */

static void next_line(FILE *out)
{
    msim_print(out, "\n%*s", HELP_INDENT, "");
}

/* Print the words of `text` wrapped at HELP_WIDTH; the cursor is at
 * HELP_INDENT. */
static void print_wrapped(const char *text, FILE *out)
{
    int column = HELP_INDENT;

    while (*text) {
        int len = (int)strcspn(text, " \n");

        if (column > HELP_INDENT && column + 1 + len > HELP_WIDTH) {
            next_line(out);
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            fputc(' ', out);
            column++;
        }
        msim_print(out, "%.*s", len, text);
        column += len;
        text += len;
        text += *text != '\0';
    }
    fputc('\n', out);
}

static void print_choices(const struct msim_option *o, char *text, size_t size)
{
    size_t used = strlen(text);

    for (size_t i = 0; o->choices[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "",
                                 o->choices[i]);
}

static void print_option(const struct msim_option *o, FILE *out)
{
    char left[128], right[1024];
    size_t n;

    snprintf(left, sizeof(left), "  %s%s%s", dashes(o), o->name,
             takes_value(o) ? " " : "");
    n = strlen(left);
    if (o->type == MSIM_OPTION_CHOICE)
        print_choices(o, left, sizeof(left));
    else if (o->metavar)
        snprintf(left + n, sizeof(left) - n, "%s", o->metavar);
    snprintf(right, sizeof(right), "%s%s%s%s", o->help,
             o->dflt ? " [default: " : "", o->dflt ? o->dflt : "",
             o->dflt ? "]" : "");
    if (strlen(left) + 2 > HELP_INDENT)
        msim_print(out, "%s\n%*s", left, HELP_INDENT, "");
    else
        msim_print(out, "%-*s", HELP_INDENT, left);
    print_wrapped(right, out);
}

void msim_command_help_options(const struct msim_command *c, FILE *out)
{
    /* Flags: what stands in the place of a value is the short name. */
    static const struct msim_option COMMON[] = {
        {.name = "help", .metavar = ", -h", .help = "print this help"},
        {.name = "version", .metavar = ", -V", .help = "print the version"},
    };

    for (size_t i = 0; i < c->n_options; i++)
        print_option(&c->options[i], out);
    for (size_t i = 0; i < sizeof(COMMON) / sizeof(COMMON[0]); i++)
        print_option(&COMMON[i], out);
    if (c->examples)
        fputs("\nexamples:\n", out);
    for (size_t i = 0; c->examples && c->examples[i]; i++)
        msim_print(out, "  %s\n", c->examples[i]);
}

static void print_lines(const char *text, FILE *out)
{
    while (*text) {
        int len = (int)strcspn(text, "\n");

        msim_print(out, "%.*s\n", len, text);
        text += len + (text[len] != '\0');
    }
}

static void print_help(const struct msim_command *c, FILE *out)
{
    msim_print(out, "usage: mystique-sim %s [OPTION]...%s%s\n\n", c->name,
               *c->operands ? " " : "", c->operands);
    print_lines(c->summary, out);
    fputs("\noptions:\n", out);
    msim_command_help_options(c, out);
}

/* ---- parsing ---------------------------------------------------------- */

/* One command line on its way through the table. */
struct parse {
    const struct msim_command *c;
    void *settings;
    struct msim_error *err;
    char **argv;
    int argc, next; /* argv[next] has not been looked at */
};

static enum msim_status usage(struct parse *p, const char *text,
                              const char *subject, const char *suggestion)
{
    if (suggestion)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%s '%s', did you mean '%s'?", text, subject,
                         suggestion);
    return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%s '%s', see 'mystique-sim %s --help'", text, subject,
                     p->c->name);
}

/* Is the option, with hyphens or underscores, an axis of whatif's --grid? */
static const char *axis_of(const struct msim_command *c, const char *typed)
{
    char name[WORD_MAX];
    size_t n = 0;

    for (const char *at = typed + 2; *at && n + 1 < sizeof(name); at++)
        name[n++] = *at == '-' ? '_' : *at;
    name[n] = '\0';
    for (const char *const *axis = c->axes; axis && *axis; axis++)
        if (strcmp(name, *axis) == 0)
            return *axis;
    return NULL;
}

static enum msim_status unknown_option(struct parse *p, const char *arg)
{
    char words[WORDS_MAX][WORD_MAX], typed[WORD_MAX + 8];
    const char *list[WORDS_MAX], *axis;
    size_t n = 0;

    for (size_t i = 0; i < p->c->n_options + 2 && n < WORDS_MAX; i++, n++) {
        const char *common = i == p->c->n_options ? "help" : "version";
        const struct msim_option *o =
            i < p->c->n_options ? &p->c->options[i] : NULL;

        snprintf(words[n], WORD_MAX, "%s%s", o ? dashes(o) : "--",
                 o ? o->name : common);
        list[n] = words[n];
    }
    snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(arg, "="), arg);
    axis = strncmp(typed, "--", 2) == 0 ? axis_of(p->c, typed) : NULL;
    if (axis)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'%s' is a change, want 'whatif --grid "
                         "%s=VALUE'",
                         typed, axis);
    return usage(p, "unknown option", typed, msim_nearest_word(typed, list, n));
}

static enum msim_status set_count(struct parse *p, const struct msim_option *o,
                                  const char *value)
{
    uint32_t *field = (uint32_t *)((char *)p->settings + o->field);
    char *end;
    unsigned long long v = strtoull(value, &end, 10);

    if (value[0] < '0' || *end || v < o->min || v > o->max)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '%s%s' is '%s', want a whole number from "
                         "%" PRIu32 " to %" PRIu32,
                         dashes(o), o->name, value, o->min, o->max);
    *field = (uint32_t)v;
    return MSIM_OK;
}

static enum msim_status set_choice(struct parse *p, const struct msim_option *o,
                                   const char *value)
{
    char known[256] = "";

    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *(int *)((char *)p->settings + o->field) = i;
            return MSIM_OK;
        }
    }
    print_choices(o, known, sizeof(known));
    return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '%s%s' is '%s', want one of %s", dashes(o),
                     o->name, value, known);
}

static enum msim_status set_value(struct parse *p, const struct msim_option *o,
                                  const char *value)
{
    if (!value[0])
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '%s%s' is empty, want %s", dashes(o), o->name,
                         o->metavar ? o->metavar : "a value");
    switch (o->type) {
    case MSIM_OPTION_FLAG:
    case MSIM_OPTION_ONE_OF:
        break;
    case MSIM_OPTION_TEXT:
        *(const char **)((char *)p->settings + o->field) = value;
        break;
    case MSIM_OPTION_COUNT:
        return set_count(p, o, value);
    case MSIM_OPTION_CHOICE:
        return set_choice(p, o, value);
    case MSIM_OPTION_CUSTOM:
        return o->parse((char *)p->settings + o->field, value, p->err);
    }
    return MSIM_OK;
}

/* The option of the same field that was given before, or NULL. */
static const struct msim_option *rival(const struct parse *p,
                                       const struct msim_option *o)
{
    int given = *(int *)((char *)p->settings + o->field);

    for (size_t i = 0; given && i < p->c->n_options; i++) {
        const struct msim_option *other = &p->c->options[i];

        if (other->type == MSIM_OPTION_ONE_OF && other->field == o->field &&
            other->value == given)
            return other == o ? NULL : other;
    }
    return NULL;
}

static enum msim_status set_one_of(struct parse *p, const struct msim_option *o)
{
    const struct msim_option *other = rival(p, o);

    if (other)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got both --%s and --%s, want one of them",
                         other->name, o->name);
    *(int *)((char *)p->settings + o->field) = o->value;
    return MSIM_OK;
}

static enum msim_status set_flag(struct parse *p, const struct msim_option *o,
                                 const char *value)
{
    if (value)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '%s%s' takes no value, got '%s'", dashes(o),
                         o->name, value);
    if (o->type == MSIM_OPTION_ONE_OF)
        return set_one_of(p, o);
    *(bool *)((char *)p->settings + o->field) = true;
    return MSIM_OK;
}

static enum msim_status
take_option(struct parse *p, const struct msim_option *o, const char *value)
{
    if (!takes_value(o))
        return set_flag(p, o, value);
    if (!value) {
        const char *next = p->next < p->argc ? p->argv[p->next] : NULL;

        /* What looks like an option is one, and the value was forgotten;
         * --name=--value gives such a value. */
        if (!next || strncmp(next, "--", 2) == 0)
            return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "option '%s%s' wants %s, got %s", dashes(o),
                             o->name, o->metavar ? o->metavar : "a value",
                             next ? next : "nothing");
        value = next;
        p->next++;
    }
    return set_value(p, o, value);
}

static enum msim_status parse_option(struct parse *p, const char *arg)
{
    size_t len = strcspn(arg + 1, "=") + 1; /* "--name" */
    const char *value = arg[len] == '=' ? arg + len + 1 : NULL;

    for (size_t i = 0; i < p->c->n_options; i++) {
        const struct msim_option *o = &p->c->options[i];

        size_t dash = strlen(dashes(o));

        if (strncmp(arg, dashes(o), dash) == 0 &&
            strlen(o->name) + dash == len &&
            strncmp(o->name, arg + dash, len - dash) == 0)
            return take_option(p, o, value);
    }
    return unknown_option(p, arg);
}

static bool is_either(const char *arg, const char *one, const char *other)
{
    return strcmp(arg, one) == 0 || strcmp(arg, other) == 0;
}

static void print_version(void)
{
    fputs("mystique-sim " MSIM_VERSION, stdout);
    if (msim_commit[0])
        msim_print(stdout, " (%s)", msim_commit);
    putchar('\n');
}

/* Parse everything; true when --help or --version has answered already. */
static bool parse_all(struct parse *p, struct msim_cli_operands *operands,
                      enum msim_status *status)
{
    bool only_operands = false;

    operands->items = p->argv;
    operands->n = 0;
    while (*status == MSIM_OK && p->next < p->argc) {
        char *arg = p->argv[p->next++];

        if (only_operands || arg[0] != '-' || !arg[1]) {
            p->argv[operands->n++] = arg;
        } else if (strcmp(arg, "--") == 0) {
            only_operands = true;
        } else if (is_either(arg, "--help", "-h")) {
            print_help(p->c, stdout);
            return true;
        } else if (is_either(arg, "--version", "-V")) {
            print_version();
            return true;
        } else {
            *status = parse_option(p, arg);
        }
    }
    return false;
}

static enum msim_status check_operands(struct parse *p,
                                       const struct msim_cli_operands *operands)
{
    const struct msim_command *c = p->c;

    if (operands->n < c->min_operands)
        return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'%s' wants %s, got %s; see 'mystique-sim %s --help'",
                         c->name, c->operands,
                         operands->n ? "too few" : "nothing", c->name);
    if (c->max_operands && operands->n > c->max_operands)
        return usage(p, "unexpected argument", operands->items[c->max_operands],
                     NULL);
    for (int i = 0; i < operands->n; i++)
        if (!*operands->items[i]) /* "$RUN" of a shell, where it is not set */
            return msim_fail(p->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "argument %d of '%s' is empty, want %s", i + 1,
                             c->name, c->operands);
    return MSIM_OK;
}

int msim_command_start(const struct msim_command *c, int argc, char **argv,
                       void *settings, struct msim_cli_operands *operands)
{
    struct msim_error err = {0};
    enum msim_status status = MSIM_OK;
    struct parse p = {.c = c,
                      .settings = settings,
                      .err = &err,
                      .argv = argv,
                      .argc = argc,
                      .next = 1};

    if (parse_all(&p, operands, &status))
        return MSIM_EXIT_OK;
    if (status == MSIM_OK)
        status = check_operands(&p, operands);
    return status == MSIM_OK ? -1 : msim_message_error(status, &err);
}

static bool ends_in(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);

    return n > m && strcmp(text + n - m, tail) == 0;
}

enum msim_status msim_option_check_html(const char *value,
                                        struct msim_error *err)
{
    if (!value || (value[0] && strcmp(value, "-") != 0))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--html' is '%s', want a file", value);
}

enum msim_status msim_option_check_chart(const char *value,
                                         struct msim_error *err)
{
    if (ends_in(value, ".svg") || ends_in(value, ".png"))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--chart' is '%s', want a file that ends in .svg "
                     "or .png",
                     value);
}
