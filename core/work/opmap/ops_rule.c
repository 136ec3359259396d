/*
 * core/work/opmap/ops_rule.c - rows that name a rule of the program.
 */
#include "core/work/opmap/opmap_internal.h"

#include "core/work/rules/opmap_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What those rows may say that have no rule of ours: who launches. */
#define LAUNCHING                                                              \
    (MSIM_OPMAP_COMPOSITE | MSIM_OPMAP_OUTER | MSIM_OPMAP_COMPILED |           \
     MSIM_OPMAP_NEAREST)

const char *const msim_ops_rule_words[MSIM_OPS_RULE_COLUMNS] = {
#define X(name, word) word,
    MSIM_OPS_RULE_MAP(X)
#undef X
};

/* The fault of a field. */
MSIM_MUST_CHECK
static enum msim_status found(struct msim_ops_fault *fault,
                              enum msim_ops_rule_column column,
                              const char *text)
{
    snprintf(fault->found, sizeof(fault->found), "'%s' is '%.40s'",
             msim_ops_rule_words[column], text);
    return MSIM_EFORMAT;
}

static enum msim_status find_rule(const char *word,
                                  const struct msim_named_rule **rule,
                                  struct msim_ops_fault *fault)
{
    const char *near = NULL;

    *rule = msim_rule_named(word, &near);
    if (*rule)
        return MSIM_OK;
    if (near)
        snprintf(fault->want, sizeof(fault->want), "%s", near);
    else
        snprintf(fault->want, sizeof(fault->want),
                 "a rule of docs/operators.md, as pointwise");
    return found(fault, MSIM_OPS_RULE_RULE, word);
}

/* Is `word` one of the words of a text, which spaces part? */
static bool is_among(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p += len)
        if ((p == text || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
            return true;
    return false;
}

static enum msim_status read_number(const char *text,
                                    enum msim_ops_rule_column column,
                                    uint8_t *out, struct msim_ops_fault *fault)
{
    char *end = NULL;
    unsigned long v;

    if (!*text)
        return MSIM_OK;
    v = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && v <= UINT8_MAX) {
        *out = (uint8_t)v;
        return MSIM_OK;
    }
    snprintf(fault->want, sizeof(fault->want), "a whole number up to %d",
             UINT8_MAX);
    return found(fault, column, text);
}

static enum msim_status read_arg(const char *text,
                                 const struct msim_named_rule *rule,
                                 uint8_t *out, struct msim_ops_fault *fault)
{
    size_t used;

    if (!rule->args)
        return read_number(text, MSIM_OPS_RULE_ARG, out, fault);
    for (uint32_t i = 0; i < rule->n_args; i++)
        if (strcmp(text, rule->args[i]) == 0) {
            *out = (uint8_t)i;
            return MSIM_OK;
        }
    used =
        (size_t)snprintf(fault->want, sizeof(fault->want), "%s", rule->args[0]);
    for (uint32_t i = 1; i < rule->n_args && used < sizeof(fault->want); i++)
        used += (size_t)snprintf(fault->want + used, sizeof(fault->want) - used,
                                 ", %s", rule->args[i]);
    return found(fault, MSIM_OPS_RULE_ARG, text);
}

static void list_flags(uint8_t may, char *text, size_t size)
{
    static const struct {
        const char *word;
        uint8_t flag;
    } FLAGS[] = {
#define X(name, word, bit) {word, bit},
        MSIM_FLAG_MAP(X)
#undef X
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++)
        if (FLAGS[i].flag & may && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? ", " : "", FLAGS[i].word);
}

static enum msim_status read_flags(const char *text, uint8_t may, uint8_t *out,
                                   struct msim_ops_fault *fault)
{
    for (const char *p = text; *(p += strspn(p, " ")); p += strcspn(p, " ")) {
        uint8_t flag = (uint8_t)msim_flag_named(p, strcspn(p, " "));

        if (!(flag & may)) {
            list_flags(may, fault->want, sizeof(fault->want));
            return found(fault, MSIM_OPS_RULE_FLAGS, text);
        }
        *out |= flag;
    }
    return MSIM_OK;
}

/* A column that the rule does not read, or that stands without a rule. */
static enum msim_status
refuse_others(const struct msim_named_rule *rule,
              const char *const fields[MSIM_OPS_RULE_COLUMNS],
              struct msim_ops_fault *fault)
{
    for (int i = MSIM_OPS_RULE_VARIANT; i < MSIM_OPS_RULE_COLUMNS; i++) {
        if (!*fields[i] || i == MSIM_OPS_RULE_FLAGS ||
            (!rule && i == MSIM_OPS_RULE_KERNELS) ||
            (rule && is_among(rule->columns, msim_ops_rule_words[i])))
            continue;
        if (rule)
            snprintf(fault->want, sizeof(fault->want),
                     "it empty: rule %s does not read it", rule->word);
        else
            snprintf(fault->want, sizeof(fault->want),
                     "it empty: there is no 'rule'");
        return found(fault, (enum msim_ops_rule_column)i, fields[i]);
    }
    return MSIM_OK;
}

enum msim_status
msim_ops_rule_read(struct msim_opmap_row *row,
                   const char *const fields[MSIM_OPS_RULE_COLUMNS],
                   struct msim_ops_fault *fault)
{
    const struct msim_named_rule *rule = NULL;
    uint8_t may = *fields[MSIM_OPS_RULE_RULE] ? UINT8_MAX : LAUNCHING;

    if (*fields[MSIM_OPS_RULE_RULE])
        MSIM_TRY(find_rule(fields[MSIM_OPS_RULE_RULE], &rule, fault));
    MSIM_TRY(refuse_others(rule, fields, fault));
    MSIM_TRY(read_flags(fields[MSIM_OPS_RULE_FLAGS], may, &row->flags, fault));
    if (!rule)
        return MSIM_OK;
    row->rule = rule->rule;
    row->group = (uint8_t)rule->group;
    row->inputs = is_among(rule->columns, "inputs") ? 1 : 0;
    if (*fields[MSIM_OPS_RULE_VARIANT])
        row->variant = fields[MSIM_OPS_RULE_VARIANT];
    MSIM_TRY(read_number(fields[MSIM_OPS_RULE_INPUTS], MSIM_OPS_RULE_INPUTS,
                         &row->inputs, fault));
    MSIM_TRY(read_number(fields[MSIM_OPS_RULE_FLOPS_EACH],
                         MSIM_OPS_RULE_FLOPS_EACH, &row->flops_each, fault));
    MSIM_TRY(read_number(fields[MSIM_OPS_RULE_KERNELS], MSIM_OPS_RULE_KERNELS,
                         &row->kernels, fault));
    return read_arg(fields[MSIM_OPS_RULE_ARG], rule, &row->arg, fault);
}
