/*
 * replay/program/schema.c - the signature of an operator. The grammar is that
 * of PyTorch's native_functions.yaml; no recursion: brackets are counted.
 */
#include "replay/program/program.h"

#include <string.h>

static bool starts(struct msim_schema_piece p, const char *word)
{
    size_t len = strlen(word);

    return p.len >= len && !memcmp(p.at, word, len);
}

static bool holds(struct msim_schema_piece p, char c)
{
    return p.len && memchr(p.at, c, p.len);
}

bool msim_schema_is(const struct msim_schema_arg *a, const char *name)
{
    return a->name.len == strlen(name) && starts(a->name, name);
}

static bool copy(char *to, size_t room, const char *from, size_t len)
{
    if (len >= room)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* Is it a word that a program can have as a name? */
static bool is_word(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != '_' && (p[i] < 'a' || p[i] > 'z') &&
            (p[i] < 'A' || p[i] > 'Z') && (i == 0 || p[i] < '0' || p[i] > '9'))
            return false;
    return len > 0;
}

/* `space::name` or `space::name.overload`, up to the bracket. */
static bool read_name(struct msim_schema *s, const char *end)
{
    const char *dot = memchr(s->text, '.', (size_t)(end - s->text));
    const char *stop = dot ? dot : end, *colons = strstr(s->text, "::");

    s->overload[0] = '\0';
    if (!colons || colons > stop ||
        !is_word(s->text, (size_t)(colons - s->text)) ||
        !is_word(colons + 2, (size_t)(stop - colons - 2)))
        return false;
    if (dot && (dot + 1 == end || !is_word(dot + 1, (size_t)(end - dot - 1)) ||
                !copy(s->overload, sizeof(s->overload), dot + 1,
                      (size_t)(end - dot - 1))))
        return false;
    return copy(s->name, sizeof(s->name), s->text, (size_t)(stop - s->text));
}

/* Past one character, or past a text in quotes. */
static const char *past_one(const char *p)
{
    char quote = *p++;

    if (quote != '"' && quote != '\'')
        return p;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return p + (*p != '\0');
}

/* Past the bracket that closes the one at `p`; NULL: there is none. */
static const char *past_bracket(const char *p)
{
    int depth = 0;

    for (; *p; p = past_one(p)) {
        depth += *p == '(' || *p == '[';
        depth -= *p == ')' || *p == ']';
        if (depth == 0)
            return p + 1;
    }
    return NULL;
}

/* The piece up to a comma outside all brackets; `*p` moves past the comma. */
static struct msim_schema_piece next_piece(const char **p, const char *end)
{
    struct msim_schema_piece piece;
    int depth = 0;

    while (*p < end && **p == ' ')
        (*p)++;
    piece.at = *p;
    for (; *p < end; *p = past_one(*p)) {
        depth += **p == '(' || **p == '[';
        depth -= **p == ')' || **p == ']';
        if (**p == ',' && depth == 0)
            break;
    }
    piece.len = (uint32_t)(*p - piece.at);
    if (*p < end)
        (*p)++;
    return piece;
}

static const struct {
    const char *prefix;
    enum msim_schema_kind kind;
} kinds[] = {
    {"Tensor", MSIM_SCHEMA_TENSOR},
    {"ScalarType", MSIM_SCHEMA_DTYPE},
    {"Layout", MSIM_SCHEMA_LAYOUT},
    {"Device", MSIM_SCHEMA_DEVICE},
    {"MemoryFormat", MSIM_SCHEMA_MEMORY_FORMAT},
    {"Generator", MSIM_SCHEMA_GENERATOR},
    {"__torch__", MSIM_SCHEMA_OBJECT},
    {"Storage", MSIM_SCHEMA_STORAGE},
    {"Stream", MSIM_SCHEMA_OBJECT},
};

static void read_type(struct msim_schema_arg *a, struct msim_schema_piece type)
{
    a->kind = MSIM_SCHEMA_PLAIN;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (starts(type, kinds[i].prefix)) {
            a->kind = (uint8_t)kinds[i].kind;
            break;
        }
    a->written = holds(type, '!');
    a->list = holds(type, '[');
    a->optional = holds(type, '?');
    a->real = starts(type, "float") || starts(type, "Scalar");
}

/* `Type name=default`: the name follows the last blank before the `=`. */
static void read_arg(struct msim_schema_arg *a, struct msim_schema_piece piece)
{
    const char *end = piece.at + piece.len;
    const char *equals = memchr(piece.at, '=', piece.len);
    const char *name = equals ? equals : end;
    struct msim_schema_piece type = {piece.at, 0};

    *a = (struct msim_schema_arg){0};
    if (equals)
        a->missing = (struct msim_schema_piece){equals + 1,
                                                (uint32_t)(end - equals - 1)};
    a->name.len = (uint32_t)(name - piece.at);
    while (name > piece.at && name[-1] != ' ')
        name--;
    a->name = (struct msim_schema_piece){name, a->name.len -
                                                   (uint32_t)(name - piece.at)};
    type.len = (uint32_t)(name - piece.at);
    read_type(a, type);
}

static bool read_args(struct msim_schema *s, const char *p, const char *end)
{
    bool by_name = false;

    while (p < end) {
        struct msim_schema_piece piece = next_piece(&p, end);

        if (piece.len == 1 && *piece.at == '*') {
            by_name = true;
            continue;
        }
        if (piece.len == 0 || s->n_args == MSIM_SCHEMA_ARGS)
            return false;
        read_arg(&s->args[s->n_args], piece);
        if (!is_word(s->args[s->n_args].name.at, s->args[s->n_args].name.len))
            return false;
        s->args[s->n_args++].by_name = by_name;
    }
    return true;
}

/* `-> Tensor`, `-> (Tensor(a!), Tensor[])`, `-> ()`. */
static void read_results(struct msim_schema *s, const char *p)
{
    const char *end = p + strlen(p);

    while (*p == ' ')
        p++;
    if (*p == '(') {
        p++;
        end--;
    }
    while (p < end) {
        struct msim_schema_piece piece = next_piece(&p, end);

        s->n_results += piece.len > 0;
        s->results_are_lists = s->n_results == 1 && holds(piece, '[');
    }
}

static void mark_collective(struct msim_schema *s)
{
    if (strncmp(s->name, "c10d::", 6) != 0)
        return;
    for (uint32_t i = 0; i < s->n_args; i++)
        s->collective |= s->args[i].kind == MSIM_SCHEMA_OBJECT;
    for (uint32_t i = 0; s->collective && i < s->n_args; i++)
        if (s->args[i].kind == MSIM_SCHEMA_TENSOR)
            s->args[i].written = !starts(s->args[i].name, "input") &&
                                 strcmp(s->name, "c10d::send") != 0;
}

bool msim_schema_read(struct msim_schema *out, const char *text)
{
    const char *open = strchr(text, '('), *close, *arrow;

    *out = (struct msim_schema){.text = text};
    if (!open || !read_name(out, open))
        return false;
    close = past_bracket(open);
    if (!close || !read_args(out, open + 1, close - 1))
        return false;
    arrow = strstr(close, "->");
    if (!arrow)
        return false;
    read_results(out, arrow + 2);
    mark_collective(out);
    return true;
}
