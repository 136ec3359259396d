/*
 * tests/fuzz/verbs/mutate_json.c
 */
#include "tests/fuzz/verbs/mutate_json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#ifdef MSIM_FUZZ
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
#endif

static uint64_t state;

static uint64_t any(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

/* ---- bytes --------------------------------------------------------------- */

/* libFuzzer's own changes know what the program compares with. */
static size_t change_bytes(uint8_t *data, size_t size, size_t max_size)
{
#ifdef MSIM_FUZZ
    return LLVMFuzzerMutate(data, size, max_size);
#else
    size_t at = size ? any(size) : 0, n;

    switch (any(4)) {
    case 0: /* cut */
        return at;
    case 1: /* twice */
        n = size ? 1 + any(size - at) : 0;
        if (size + n > max_size)
            return size;
        memmove(data + at + n, data + at, size - at);
        return size + n;
    case 2: /* out */
        n = size ? any(size - at) : 0;
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    default:
        if (size)
            data[at] ^= (uint8_t)(1 << any(8));
        return size;
    }
#endif
}

/* ---- JSON ---------------------------------------------------------------- */

static unsigned count(const cJSON *node)
{
    unsigned n = 1;

    for (const cJSON *c = node->child; c; c = c->next)
        n += count(c);
    return n;
}

/* The node that is left to count 0 in order, and whose child it is. */
static cJSON *find(cJSON *node, unsigned *left, cJSON **parent)
{
    if ((*left)-- == 0)
        return node;
    for (cJSON *c = node->child; c; c = c->next) {
        cJSON *found = find(c, left, parent);

        if (!found)
            continue;
        if (found == c)
            *parent = node;
        return found;
    }
    return NULL;
}

static cJSON *pick(cJSON *root, cJSON **parent)
{
    unsigned left = (unsigned)any(count(root));

    *parent = NULL;
    return find(root, &left, parent);
}

static cJSON *odd_value(void)
{
    static const char *const VALUES[] = {"0",           "-1",
                                         "1",           "2",
                                         "0.5",         "1e9",
                                         "2147483648",  "-1e300",
                                         "1e19",        "1e300",
                                         "1e-30",       "4294967295",
                                         "null",        "true",
                                         "false",       "\"\"",
                                         "[]",          "{}",
                                         "[0]",         "{\"a\":1}",
                                         "\"\\u0000\"", "\"a\\\"b'c\\\\\"",
                                         "\"=1+1\"",    "\"\\u2028\\u202e\"",
                                         "\"../x\"",    "\"1e5\"",
                                         "16",          "3",
                                         "8",           "1024"};

    return cJSON_Parse(VALUES[any(sizeof(VALUES) / sizeof(*VALUES))]);
}

static void replace(cJSON *parent, cJSON *old, cJSON *by)
{
    if (!by)
        return;
    if (!parent || !cJSON_ReplaceItemViaPointer(parent, old, by)) {
        cJSON_Delete(by);
        return;
    }
}

/* As the member that it replaces was called. */
static void put(cJSON *parent, cJSON *old, cJSON *by)
{
    if (by && parent && cJSON_IsObject(parent)) {
        char *name = old->string ? strdup(old->string) : NULL;

        cJSON_free(by->string);
        by->string = NULL;
        if (name)
            cJSON_ReplaceItemInObjectCaseSensitive(parent, name, by);
        else
            cJSON_Delete(by);
        free(name);
        return;
    }
    replace(parent, old, by);
}

static void change_number(cJSON *node)
{
    static const double FACTORS[] = {0.5, 2, 10, 1000, -1, 1e6};

    if (any(2))
        cJSON_SetNumberValue(node, node->valuedouble + (any(2) ? 1.0 : -1.0));
    else
        cJSON_SetNumberValue(node, node->valuedouble * FACTORS[any(6)]);
}

static void change_tree(cJSON *root)
{
    cJSON *parent, *other, *node = pick(root, &parent);

    if (!node || !parent)
        return;
    switch (any(7)) {
    case 0: /* out */
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, node));
        return;
    case 1: /* twice */
        if (cJSON_IsArray(parent))
            cJSON_AddItemToArray(parent, cJSON_Duplicate(node, 1));
        else
            cJSON_AddItemToObject(parent, node->string ? node->string : "",
                                  cJSON_Duplicate(node, 1));
        return;
    case 2: /* as another is */
        other = cJSON_Duplicate(pick(root, &(cJSON *){NULL}), 1);
        put(parent, node, other);
        return;
    case 3: /* another name */
        other = pick(root, &(cJSON *){NULL});
        if (cJSON_IsObject(parent) && other->string && other != node) {
            other = cJSON_CreateStringReference(other->string);
            cJSON_AddItemToObject(parent, other->valuestring,
                                  cJSON_Duplicate(node, 1));
            cJSON_Delete(other);
        }
        return;
    case 4:
    case 5:
        if (cJSON_IsNumber(node)) {
            change_number(node);
            return;
        }
        /* fall through */
    default:
        put(parent, node, odd_value());
        return;
    }
}

static size_t change_json(uint8_t *data, size_t size, size_t max_size)
{
    cJSON *root = cJSON_ParseWithLength((const char *)data, size);
    size_t len = 0;
    char *text;

    if (!root)
        return 0;
    for (uint64_t n = 1 + any(3); n-- > 0;)
        change_tree(root);
    text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (text && strlen(text) <= max_size) {
        len = strlen(text);
        memcpy(data, text, len);
    }
    cJSON_free(text);
    return len;
}

size_t fuzz_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                   bool json)
{
    size_t changed = 0;

    state = seed;
    if (json && any(4))
        changed = change_json(data, size, max_size);
    return changed ? changed : change_bytes(data, size, max_size);
}
