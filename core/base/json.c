/*
 * core/base/json.c - small JSON files as a tree.
 */
#include "core/base/json.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/print.h"
#include "core/base/texts.h"
#include "core/lex/json_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_LIMIT  (64u << 20)
#define DEPTH_MOST  500
#define DIGITS_MOST 62 /* that cJSON looks at */

/* Room for all of `f`, its end and a zero, where it says how much that is. */
static size_t size_of(FILE *f)
{
    struct stat file;

    return fstat(fileno(f), &file) == 0 && file.st_size > 0 &&
                   file.st_size <= JSON_LIMIT
               ? (size_t)file.st_size + 2
               : 1 << 16;
}

/* All pages of new memory at once: one by one they take as long as the rest. */
static void take_pages(char *data, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)data + size) / page * page;

    if (to > from)
        (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
    (void)data;
    (void)size;
#endif
}

/* The whole of `f`, NUL-terminated, in `*text` (owned by the caller). */
static enum msim_status read_all(FILE *f, char **text, size_t *length)
{
    size_t size = size_of(f);
    size_t used = 0;
    char *data = malloc(size);

    if (data)
        take_pages(data, size);

    errno = 0;
    while (data) {
        size_t n = fread(data + used, 1, size - used - 1, f);

        used += n;
        if (n == 0 || used > JSON_LIMIT)
            break;
        if (used + 1 == size) {
            char *more = realloc(data, size *= 2);

            if (!more)
                free(data);
            data = more;
        }
    }
    if (!data)
        return MSIM_ENOMEM;
    data[used] = '\0';
    *text = data;
    *length = used;
    if (ferror(f))
        return MSIM_EIO;
    return used > JSON_LIMIT ? MSIM_ELIMIT : MSIM_OK;
}

/* ---- a tree of what is plain -------------------------------------------- */

/* Nodes as cJSON makes them, in a fifth of its time: it copies texts byte by
 * byte. What it alone can read makes `failed` true, and then it reads all. */
struct tree {
    struct msim_lexer lexer;
    cJSON
        *open[DEPTH_MOST + 1]; /* those that are not closed; below: the root */
    char *key;                 /* of the next node */
    bool failed;
    /* Of a block: where nodes go, and the text, in which strings stay. */
    struct msim_arena *nodes;
    char *text;
    const char *left; /* the member whose objects are left; or NULL */
};

static cJSON *new_node(struct tree *t, int type)
{
    cJSON *node = t->nodes ? msim_arena_alloc(t->nodes, sizeof(*node))
                           : cJSON_CreateNull();

    if (node)
        node->type = type;
    return node;
}

/* In a block the quote behind it, which is passed, becomes its end. */
static char *text_copy(struct tree *t, const char *text, size_t len)
{
    char *copy = t->nodes ? t->text + (text - t->text) : cJSON_malloc(len + 1);

    if (copy && !t->nodes)
        memcpy(copy, text, len);
    if (copy)
        copy[len] = '\0';
    t->failed = t->failed || !copy;
    return copy;
}

/* `node`, which may be NULL, becomes the last child of what is open. A child's
 * `prev` is the one before it; that of the first is the last. */
static void add_node(struct tree *t, cJSON *parent, cJSON *node)
{
    if (!node) {
        t->failed = true;
        return;
    }
    node->string = t->key;
    t->key = NULL;
    node->prev = node;
    if (parent->child) {
        node->prev = parent->child->prev;
        node->prev->next = node;
        parent->child->prev = node;
    } else {
        parent->child = node;
    }
}

static cJSON *number_node(struct tree *t)
{
    const struct msim_lexer *l = &t->lexer;
    double value = 0;
    cJSON *node = NULL;

    if (l->len <= DIGITS_MOST && msim_decimal_real(l->text, l->len, &value))
        node = new_node(t, cJSON_Number);
    if (node)
        (void)cJSON_SetNumberHelper(node, value);
    return node;
}

static cJSON *string_node(struct tree *t)
{
    cJSON *node = new_node(t, cJSON_String);

    if (node)
        node->valuestring = text_copy(t, t->lexer.text, t->lexer.len);
    return node;
}

/* One with escapes, or of more than ASCII: cJSON decodes it. */
static char *odd_text(struct tree *t)
{
    const char *quote = memchr(t->lexer.text, '"', t->lexer.len);
    size_t before = (size_t)(quote - t->lexer.text);
    cJSON *node = cJSON_ParseWithLength(quote, t->lexer.len - before);
    char *text = NULL;

    if (node && t->nodes) {
        /* of the arena, which says const: nobody else has it */
        text = (char *)msim_arena_text(t->nodes, node->valuestring);
    } else if (node) {
        text = node->valuestring;
        node->valuestring = NULL;
    }
    cJSON_Delete(node);
    t->failed = t->failed || !text;
    return text;
}

static cJSON *odd_node(struct tree *t)
{
    cJSON *node = new_node(t, cJSON_String);

    if (node)
        node->valuestring = odd_text(t);
    return node;
}

static cJSON *true_node(struct tree *t)
{
    cJSON *node = new_node(t, cJSON_True);

    if (node)
        node->valueint = 1; /* as where cJSON reads it */
    return node;
}

static cJSON *node_of(struct tree *t, enum msim_token token)
{
    switch (token) {
    case MSIM_TOKEN_NULL:
        return new_node(t, cJSON_NULL);
    case MSIM_TOKEN_TRUE:
        return true_node(t);
    case MSIM_TOKEN_FALSE:
        return new_node(t, cJSON_False);
    case MSIM_TOKEN_NUMBER:
        return number_node(t);
    case MSIM_TOKEN_STRING:
        return string_node(t);
    case MSIM_TOKEN_ODD_STRING:
        return odd_node(t);
    case MSIM_TOKEN_MAP:
        return new_node(t, cJSON_Object);
    case MSIM_TOKEN_ARRAY:
        return new_node(t, cJSON_Array);
    default:
        return NULL;
    }
}

/* Behind the bracket of an object: is it to be left? */
static bool is_left(const struct tree *t, const cJSON *parent)
{
    return t->left && t->lexer.depth == 3 && cJSON_IsArray(parent) &&
           parent->string && strcmp(parent->string, t->left) == 0;
}

static cJSON *left_node(struct tree *t)
{
    const char *from = t->lexer.at - 1;
    cJSON *node = new_node(t, cJSON_Raw);

    if (!node || !msim_lexer_skip(&t->lexer))
        return NULL;
    node->valuestring = t->text + (from - t->text);
    node->valueint = (int)(t->lexer.at - from);
    return node;
}

static void take_token(struct tree *t, enum msim_token token)
{
    struct msim_lexer *l = &t->lexer;
    bool opens = token == MSIM_TOKEN_MAP || token == MSIM_TOKEN_ARRAY;
    cJSON *parent = t->open[l->depth - opens], *node;

    if (token == MSIM_TOKEN_MAP_END || token == MSIM_TOKEN_ARRAY_END)
        return;
    if (token == MSIM_TOKEN_KEY) {
        t->key = text_copy(t, l->text, l->len);
    } else if (token == MSIM_TOKEN_ODD_KEY) {
        t->key = odd_text(t);
    } else if (token == MSIM_TOKEN_MAP && is_left(t, parent)) {
        add_node(t, parent, left_node(t));
    } else {
        node = node_of(t, token);
        add_node(t, parent, node);
        if (opens)
            t->open[l->depth] = node;
    }
    if (token == MSIM_TOKEN_ODD_KEY || token == MSIM_TOKEN_ODD_STRING)
        msim_lexer_pass(l, token);
}

/* The tree, or NULL where cJSON is to read it. With `nodes` it stands in
 * `block`, the text, which is not what it was then; else both are NULL. */
static cJSON *plain_tree(const char *text, size_t n, char *block,
                         struct msim_arena *nodes, const char *left)
{
    cJSON root = {0};
    struct tree t = {.lexer = {.at = text, .end = text + n},
                     .open = {&root},
                     .nodes = nodes,
                     .text = block,
                     .left = left};
    enum msim_token token;

    while (!t.failed && (token = msim_lexer_next(&t.lexer)) != MSIM_TOKEN_CUT) {
        t.failed = token == MSIM_TOKEN_ODD || t.lexer.depth > DEPTH_MOST;
        if (!t.failed)
            take_token(&t, token);
    }
    while (t.lexer.at < t.lexer.end && isspace((unsigned char)*t.lexer.at))
        t.lexer.at++;
    if (!nodes)
        cJSON_free(t.key);
    if (!t.failed && t.lexer.at == t.lexer.end && t.lexer.depth == 0)
        return root.child;
    if (!nodes)
        cJSON_Delete(root.child);
    return NULL;
}

/* Pass what is in a member. False at what is no JSON. */
static bool pass_value(struct msim_lexer *l, enum msim_token token)
{
    if (token == MSIM_TOKEN_MAP || token == MSIM_TOKEN_ARRAY)
        return msim_lexer_skip(l);
    if (token == MSIM_TOKEN_ODD_KEY || token == MSIM_TOKEN_ODD_STRING)
        msim_lexer_pass(l, token);
    return token > MSIM_TOKEN_ODD;
}

bool msim_json_left_text(const cJSON *left, const char *key, char *text,
                         size_t size)
{
    const char *at = left->valuestring;
    struct msim_lexer l = {.at = at, .end = at + left->valueint};
    enum msim_token token = msim_lexer_next(&l);
    bool is_it = false;

    while (l.depth) {
        token = msim_lexer_next(&l);
        if (is_it && token == MSIM_TOKEN_STRING && l.len < size) {
            memcpy(text, l.text, l.len);
            text[l.len] = '\0';
            return true;
        }
        is_it = token == MSIM_TOKEN_KEY && strlen(key) == l.len &&
                memcmp(l.text, key, l.len) == 0;
        if (!pass_value(&l, token))
            return false;
    }
    return false;
}

cJSON *msim_json_in_place(char *text, size_t n, struct msim_arena *nodes)
{
    return plain_tree(text, n, text, nodes, NULL);
}

bool msim_json_left_read(cJSON *left, struct msim_arena *nodes)
{
    cJSON *tree;

    if (!cJSON_IsRaw(left))
        return true;
    tree = msim_json_in_place(left->valuestring, (size_t)left->valueint, nodes);
    if (!tree)
        return false;
    left->type = tree->type;
    left->child = tree->child;
    left->valuestring = NULL;
    left->valueint = 0;
    return true;
}

/* cJSON says of both that there is no tree; malloc() leaves what it lacks in
 * errno, where nothing else in between puts that. */
enum msim_status msim_json_parse(cJSON **out, const char *text, size_t n,
                                 size_t *at)
{
    const char *end = NULL;

    *out = plain_tree(text, n, NULL, NULL, NULL);
    if (*out) {
        if (at)
            *at = n;
        return MSIM_OK;
    }
    errno = 0;
    *out = cJSON_ParseWithLengthOpts(text, n, &end, 0);
    if (!*out && errno == ENOMEM)
        return MSIM_ENOMEM;
    while (*out && end < text + n && isspace((unsigned char)*end))
        end++;
    if (at)
        *at = end ? (size_t)(end - text) : 0;
    if (*out && end == text + n)
        return MSIM_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return MSIM_ESYNTAX;
}

/* The whole of a file, in `*text`, the caller's. */
static enum msim_status read_text(const char *path, char **text, size_t *length,
                                  struct msim_error *err)
{
    enum msim_status status;
    FILE *f = fopen(path, "rb");
    int why = 0;

    *text = NULL;
    if (!f)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "cannot be opened: %s", strerror(errno));
    status = msim_files_read_note(path, err);
    if (status == MSIM_OK) {
        status = read_all(f, text, length);
        why = errno;
    }
    if (status == MSIM_EIO && why)
        (void)msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                        why == EISDIR ? "is a directory, want a file"
                                      : strerror(why));
    else if (status != MSIM_OK)
        (void)msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                        status == MSIM_ELIMIT
                            ? "more than 64 MiB, want a small JSON file"
                            : msim_status_text(status));
    fclose(f);
    if (status != MSIM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

enum msim_status msim_json_read(cJSON **out, const char *path,
                                struct msim_error *err)
{
    enum msim_status status;
    char *text;
    size_t length = 0, at = 0;

    *out = NULL;
    MSIM_TRY(read_text(path, &text, &length, err));
    status = msim_json_parse(out, text, length, &at);
    if (status == MSIM_ESYNTAX)
        (void)msim_fail(err, status, path, at, "not well-formed JSON");
    else if (status != MSIM_OK)
        (void)msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                        msim_status_text(status));
    free(text);
    return status;
}

/* All but the memory for nodes. */
static void release_file(struct msim_json_block *b)
{
    if (!b->plain)
        cJSON_Delete(b->json);
    free(b->text);
    b->json = NULL;
    b->text = NULL;
    b->plain = false;
}

enum msim_status msim_json_block_open(struct msim_json_block *b,
                                      const char *path, struct msim_error *err)
{
    release_file(b);
    msim_arena_reset(&b->nodes);
    MSIM_TRY(read_text(path, &b->text, &b->length, err));
    b->hash = msim_hash_words(b->text, b->length);
    return MSIM_OK;
}

enum msim_status msim_json_block_parse(struct msim_json_block *b,
                                       const char *path, const char *left,
                                       struct msim_error *err)
{
    b->json = plain_tree(b->text, b->length, b->text, &b->nodes, left);
    b->plain = b->json != NULL;
    if (b->plain)
        return MSIM_OK;
    release_file(b);
    return msim_json_read(&b->json, path, err); /* its text is changed */
}

enum msim_status msim_json_block_read(struct msim_json_block *b,
                                      const char *path, struct msim_error *err)
{
    MSIM_TRY(msim_json_block_open(b, path, err));
    return msim_json_block_parse(b, path, NULL, err);
}

void msim_json_block_release(struct msim_json_block *b)
{
    release_file(b);
    msim_arena_release(&b->nodes);
}

enum msim_status msim_json_check_our(const cJSON *json, const char *path,
                                     const char *what, struct msim_error *err)
{
    const char *schema = msim_json_get_text(json, "schema");
    char want[64];

    snprintf(want, sizeof(want), "mystique-sim/%s/1", what);
    if (!schema || strcmp(schema, want) == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "schema is \"%.100s\", want \"%s\"", schema, want);
}

enum msim_status msim_json_read_our(cJSON **out, const char *path,
                                    const char *what, struct msim_error *err)
{
    enum msim_status status;

    MSIM_TRY(msim_json_read(out, path, err));
    status = msim_json_check_our(*out, path, what, err);
    if (status == MSIM_OK)
        return MSIM_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return status;
}

const char *msim_json_get_text(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

bool msim_json_get_true(const cJSON *o, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key));
}

uint64_t msim_json_get_count(const cJSON *o, const char *key, uint64_t most,
                             uint64_t missing)
{
    double v = msim_json_get_number(o, key, -1);

    return v >= 0 && v < 0x1p64 && (uint64_t)v <= most ? (uint64_t)v : missing;
}

double msim_json_get_number(const cJSON *o, const char *key, double missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

    if (cJSON_IsObject(item))
        item = cJSON_GetObjectItemCaseSensitive(item, "value");
    return cJSON_IsNumber(item) ? item->valuedouble : missing;
}

bool msim_json_get_up_to(const cJSON *o, const char *key, double most,
                         double *out)
{
    *out = msim_json_get_number(o, key, NAN);
    return *out >= 0 && *out <= most;
}

enum msim_status msim_json_show(const cJSON *json, FILE *out)
{
    char *text = cJSON_Print(json), escape[16];

    if (!text)
        return MSIM_ENOMEM;
    for (const char *s = text; *s;) {
        unsigned n = *s == '\n' || *s == '\t' ? 1 : msim_printable_length(s);
        const char *from = n ? s : escape;

        s += n ? n : msim_json_escape(escape, s);
        fwrite(from, 1, n ? n : strlen(escape), out);
    }
    cJSON_free(text);
    putc('\n', out);
    return MSIM_OK;
}
