/*
 * core/read/chakra/chakra_wire.c - protobuf's wire format, as far as damage is
 * to be found.
 *
 * A field is a tag (number << 3 | wire type) and a varint, eight bytes, four
 * bytes, or a length and as many bytes. Messages nest three deep at most (node,
 * attribute, list), so no recursion is needed.
 */
#include "core/read/chakra/read_chakra.h"

#include "core/base/print.h"

#include <string.h>

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

int msim_chakra_varint(const char *bytes, size_t len, uint64_t *value)
{
    uint64_t v = 0;

    for (int i = 0; i < 10; i++) {
        unsigned char c;

        if ((size_t)i >= len)
            return 0;
        c = (unsigned char)bytes[i];
        if (i == 9 && c > 1)
            return -1; /* beyond 64 bits, or an eleventh byte */
        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c < 0x80) {
            *value = v;
            return i + 1;
        }
    }
    return -1;
}

/* ---- fields ------------------------------------------------------------- */

/* One field of a message: its number, and for BYTES where they are. */
struct field {
    uint64_t number;
    unsigned wire;
    size_t at, len; /* BYTES: of the content */
    size_t end;
};

/* The length of a value of fixed size, or 0. */
static size_t fixed(unsigned wire)
{
    return wire == FIXED64 ? 8 : wire == FIXED32 ? 4 : 0;
}

static const char *read_value(const char *b, size_t len, struct field *f)
{
    uint64_t v;
    int n;

    f->end = f->at + fixed(f->wire);
    f->len = 0;
    if (fixed(f->wire))
        return f->end <= len ? NULL : "a field runs past its message";
    if (f->wire != VARINT && f->wire != BYTES)
        return "a field of no known wire type";
    n = msim_chakra_varint(b + f->at, len - f->at, &v);
    if (n <= 0)
        return n ? "a number of more than 64 bits"
                 : "a field runs past its message";
    f->at += (size_t)n;
    f->end = f->at;
    if (f->wire == VARINT)
        return NULL;
    if (v > len - f->at)
        return "a field runs past its message";
    f->len = (size_t)v;
    f->end = f->at + f->len;
    return NULL;
}

/* Read the field at `at`. Returns what is wrong with it, or NULL. */
static const char *read_field(const char *b, size_t at, size_t len,
                              struct field *f)
{
    uint64_t tag;
    int n = msim_chakra_varint(b + at, len - at, &tag);

    if (n <= 0)
        return n ? "a number of more than 64 bits"
                 : "a field runs past its message";
    f->number = tag >> 3;
    f->wire = (unsigned)(tag & 7);
    f->at = at + (size_t)n;
    /* protobuf: field numbers go from 1 to 2^29 - 1. */
    if (f->number == 0 || f->number >> 29)
        return "a field whose number is none";
    return read_value(b, len, f);
}

/* ---- text --------------------------------------------------------------- */

/* The offset of the first byte that is not text, or `len`. */
static size_t text_end(const char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len) {
        char last[5] = ""; /* the end is not the end of a C string */
        const char *s = bytes + at;
        size_t n;

        if (len - at < 4) {
            memcpy(last, s, len - at);
            s = last;
        }
        n = *s ? msim_utf8_length(s) : 0;
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

static bool is_text(const char *bytes, size_t len)
{
    return text_end(bytes, len) == len;
}

/* ---- where a message is broken ------------------------------------------ */

/* What the content of a field of bytes is. */
enum content { RAW, TEXT, NUMBERS, MESSAGE };

static enum content in_metadata(uint64_t number)
{
    return number == 1 ? TEXT : number == 2 ? MESSAGE : RAW;
}

static enum content in_node(uint64_t number)
{
    switch (number) {
    case 2:
        return TEXT;
    case 4:
    case 5:
        return NUMBERS;
    case 8:
    case 9:
    case 10:
        return MESSAGE;
    default:
        return RAW;
    }
}

/* In attributes and in inputs, low numbers are names and texts. */
static enum content in_inner(uint64_t number, bool attribute)
{
    if (!attribute)
        return number <= 3 ? TEXT : RAW;
    return number <= 2 || number == 29 ? TEXT : RAW;
}

static size_t numbers_end(const char *b, size_t len, const char **why)
{
    uint64_t v;
    size_t at = 0;

    while (at < len) {
        int n = msim_chakra_varint(b + at, len - at, &v);

        if (n <= 0) {
            *why = n ? "a number of more than 64 bits"
                     : "a list of numbers ends within one";
            return at;
        }
        at += (size_t)n;
    }
    return at;
}

/* The same as msim_chakra_damage() for an attribute, inputs or outputs. */
static size_t inner_damage(const char *b, size_t len, bool attribute,
                           const char **why)
{
    struct field f;
    size_t at = 0, bad;

    for (; at < len; at = f.end) {
        *why = read_field(b, at, len, &f);
        if (*why)
            return at;
        if (f.wire != BYTES || in_inner(f.number, attribute) != TEXT)
            continue;
        bad = text_end(b + f.at, f.len);
        if (bad < f.len) {
            *why = "text that is not UTF-8";
            return f.at + bad;
        }
    }
    return at;
}

size_t msim_chakra_damage(const char *bytes, size_t len, bool metadata,
                          const char **why)
{
    struct field f;
    size_t at = 0, bad;

    for (; at < len; at = f.end) {
        enum content c;

        *why = read_field(bytes, at, len, &f);
        if (*why)
            return at;
        if (f.wire != BYTES)
            continue;
        c = metadata ? in_metadata(f.number) : in_node(f.number);
        if (c == TEXT)
            *why = "text that is not UTF-8";
        bad = c == TEXT      ? text_end(bytes + f.at, f.len)
              : c == NUMBERS ? numbers_end(bytes + f.at, f.len, why)
              : c == MESSAGE
                  ? inner_damage(bytes + f.at, f.len,
                                 metadata ? f.number == 2 : f.number == 10, why)
                  : f.len;
        if (bad < f.len)
            return f.at + bad;
    }
    *why = NULL;
    return len;
}

/* ---- is it one? --------------------------------------------------------- */

/* A longer message is no metadata. */
#define METADATA_MAX ((uint64_t)1 << 20)

/* May every field of this part of a message belong to metadata? */
static bool may_be_metadata(const char *b, size_t have, size_t len)
{
    struct field f;

    for (size_t at = 0; at < have; at = f.end) {
        const char *why = read_field(b, at, len < have ? len : have, &f);

        if (why)
            /* Cut off, not wrong: so far it may be. */
            return have < len && (b[at] == 0x0a || b[at] == 0x12);
        if (f.wire != BYTES || (f.number != 1 && f.number != 2))
            return false;
        if (f.number == 1 && !is_text(b + f.at, f.len))
            return false;
    }
    return true;
}

static bool may_be_json(char c)
{
    return c == '{' || c == '[' || c == ' ' || c == '\n' || c == '\r' ||
           c == '\t';
}

enum msim_chakra_guess msim_chakra_sniff(const char *bytes, size_t len,
                                         bool end)
{
    uint64_t size;
    size_t have;
    int n;

    if (len == 0)
        return end ? MSIM_CHAKRA_NO : MSIM_CHAKRA_MORE;
    n = msim_chakra_varint(bytes, len, &size);
    if (n < 0 || (n > 0 && size > METADATA_MAX))
        return MSIM_CHAKRA_NO;
    if (n == 0)
        return end ? MSIM_CHAKRA_NO : MSIM_CHAKRA_MORE;
    have = len - (size_t)n;
    if (have > size)
        have = (size_t)size;
    if (!may_be_metadata(bytes + n, have, (size_t)size))
        return MSIM_CHAKRA_NO;
    if (have == size)
        /* Metadata may be empty; then a node's length and id must follow. */
        return size || (len > 2 && (bytes[2] == 0x08 || bytes[2] == 0x12))
                   ? MSIM_CHAKRA_YES
               : end || len > 2 ? MSIM_CHAKRA_NO
                                : MSIM_CHAKRA_MORE;
    /* A cut file: called damaged, unless it may as well be JSON. */
    if (end)
        return have && !may_be_json(bytes[0]) ? MSIM_CHAKRA_YES
                                              : MSIM_CHAKRA_NO;
    return MSIM_CHAKRA_MORE;
}
