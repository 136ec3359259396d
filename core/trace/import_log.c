/*
 * core/trace/import_log.c - the words for what became of a record.
 */
#include "core/trace/import_log.h"

const char *msim_import_fate_text(enum msim_import_fate f)
{
    static const char *const TEXTS[] = {
#define X(name, text) text,
        MSIM_IMPORT_FATE_MAP(X)
#undef X
    };

    return TEXTS[f];
}

const struct msim_import_kind_info *
msim_import_about(enum msim_import_kind kind)
{
    static const struct msim_import_kind_info KINDS[] = {
#define X(name, word, fate, warned, what, said)                                \
    {word, what, said, MSIM_IMPORT_##fate, warned},
        MSIM_IMPORT_MAP(X)
#undef X
    };

    return &KINDS[kind];
}

struct msim_import_count *msim_import_add_name(struct msim_import_log *log,
                                               enum msim_import_kind kind,
                                               uint32_t name)
{
    struct msim_import_count *c = &log->rows[MSIM_IMPORT_KINDS];
    struct msim_import_count *end = c + MSIM_IMPORT_NAMES;

    while (c < end && c->n && (c->kind != kind || c->name != name))
        c++;
    if (c == end)
        return msim_import_add(log, kind, 1);
    c->kind = (uint8_t)kind;
    c->name = name;
    c->n++;
    return c;
}
