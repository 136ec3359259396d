/*
 * core/lex/json_lexer.h - the tokens of JSON that is plain, one by one.
 *
 * Plain is what nearly all of a file is: strings of ASCII without escapes, and
 * no fault. Of anything else the lexer says that it is odd, and stays before
 * it, for whoever called it to ask a parser, which decodes it or says what is
 * wrong: yajl of traces (core/stream/json_sax.c), cJSON of small files
 * (core/base/json.c). So no fault has two sentences.
 *
 * Text comes in pieces. A token that the end of a piece may have cut is not
 * taken; the next piece has to begin with it.
 */
#ifndef MSIM_CORE_LEX_JSON_LEXER_H
#define MSIM_CORE_LEX_JSON_LEXER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Brackets inside each other, at most: the caller gives up before. */
#define MSIM_LEXER_MAX_DEPTH 513

enum msim_token {
    MSIM_TOKEN_CUT,        /* none is complete in what is left */
    MSIM_TOKEN_ODD,        /* a fault */
    MSIM_TOKEN_ODD_KEY,    /* `text` from `at` on is a key, with what is */
    MSIM_TOKEN_ODD_STRING, /* between it and the token before; or a string */
    MSIM_TOKEN_NULL,
    MSIM_TOKEN_TRUE,
    MSIM_TOKEN_FALSE,
    MSIM_TOKEN_NUMBER,
    MSIM_TOKEN_STRING,
    MSIM_TOKEN_KEY,
    MSIM_TOKEN_MAP,
    MSIM_TOKEN_MAP_END,
    MSIM_TOKEN_ARRAY,
    MSIM_TOKEN_ARRAY_END,
};

/* Behind what the lexer is. All zero: before a document. */
enum msim_lexer_place {
    MSIM_LEXER_NOTHING,
    MSIM_LEXER_BRACKET, /* one that opens */
    MSIM_LEXER_KEY,
    MSIM_LEXER_VALUE,
};

struct msim_lexer {
    const char *at, *end; /* what is left of a piece */
    const char *text;     /* of the token, where it has one, without quotes */
    size_t len;
    enum msim_lexer_place place;
    uint32_t depth;
    char closes[MSIM_LEXER_MAX_DEPTH + 1]; /* by depth: what closes it */
};

enum msim_token msim_lexer_next(struct msim_lexer *l);

/* Go on behind an odd key or string. */
void msim_lexer_pass(struct msim_lexer *l, enum msim_token odd);

/* Behind a brace that opens: go on at `to`, behind the one that closes it. */
void msim_lexer_behind(struct msim_lexer *l, const char *to);

/*
 * Behind a bracket that opens: go on behind the one that closes it, without a
 * look at what is between them. That is text which is known to be JSON, and
 * where its lines begin with tabs, to have them as cJSON prints them: a member
 * has one more than the line of the bracket that closes it, which is the first
 * on that. False, and nothing is passed, where it is cut or has a string that
 * ends with an escape.
 */
bool msim_lexer_skip(struct msim_lexer *l);

#endif
