/* data/ops and core/work/opmap/ops_rule.c: the built-in table is in the
 * language of users' tables. */
#include "core/base/csv.h"
#include "core/work/opmap/opmap_internal.h"
#include "core/work/opmap/ops_file.h"
#include "core/work/rules/opmap_rules.h"
#include "tests/unit/made_ops.h"

#include <glob.h>

/* ---- the built-in rows --------------------------------------------------- */

/* A name that a row's glob stands for: that without its escapes, and something
 * for the '*' at the end. */
static void name_of(const char *glob, char *name, size_t size)
{
    size_t n = 0;

    for (const char *p = glob; *p && n + 1 < size; p++) {
        if (*p == '\\')
            p++;
        name[n++] = (char)(*p == '*' ? 'x' : *p);
    }
    name[n] = '\0';
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_row(const struct msim_opmap_row *a,
                     const struct msim_opmap_row *b)
{
    return a->rule == b->rule && same_text(a->variant, b->variant) &&
           a->inputs == b->inputs && a->flops_each == b->flops_each &&
           a->kernels == b->kernels && a->flags == b->flags &&
           a->arg == b->arg && a->group == b->group;
}

/* Every operator of a file, into `names` and the strings of a trace. */
static uint32_t names_of(const char *path, struct build *b, uint32_t *ids)
{
    struct msim_csv *csv = NULL;
    char *const *fields;
    char name[200];
    uint32_t n = 0;

    if (!CHECK_INT(msim_csv_open(&csv, path, NULL), MSIM_OK))
        return 0;
    while (msim_csv_next(csv, &fields, NULL) == MSIM_OK && fields) {
        name_of(fields[msim_csv_find(csv, "operator")], name, sizeof(name));
        ids[n++] = build_text(b, name);
    }
    msim_csv_close(csv);
    return n;
}

/* A file of data/ops, read as a user's, gives the row that is built in. */
static void check_file(const char *path)
{
    static uint32_t ids[1000];
    static struct build b;
    struct msim_ops *ops = NULL;
    uint32_t n;

    build_init(&b);
    n = names_of(path, &b, ids);
    CHECK(n > 0);
    CHECK_INT(msim_ops_load(&ops, path, b.strings, NULL), MSIM_OK);
    for (uint32_t i = 0; ops && i < n; i++) {
        const char *name = msim_strtab_text(b.strings, ids[i]);
        const struct msim_ops_entry *e = msim_ops_find(ops, ids[i]);
        const struct msim_opmap_row *row = msim_opmap_find(name);

        if (!CHECK(e && row &&
                   (e->row.like ? e->row.like == row : same_row(&e->row, row))))
            fprintf(stderr, "  at '%s' of %s\n", name, path);
    }
    msim_ops_free(ops);
    build_release(&b);
}

static void test_ops_tables__are_tables_of_users(void)
{
    glob_t found;

    REQUIRE(glob(MSIM_DATA "/ops/*.csv", 0, NULL, &found) == 0);
    CHECK(found.gl_pathc > 10);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!strstr(found.gl_pathv[i], "example.csv"))
            check_file(found.gl_pathv[i]);
    globfree(&found);
}

/* The look-up is a binary search, so that names have to be in order, each once;
 * of prefixes the first that matches counts, so that the longer stands first.
 */
static void test_ops_tables__are_in_order(void)
{
    for (uint32_t k = 0; k < msim_opmap_names.n; k++) {
        const struct msim_opmap_row *row = &msim_opmap_names.rows[k];

        if (k && !CHECK(strcmp(row[-1].name, row->name) < 0))
            fprintf(stderr, "  at '%s'\n", row->name);
        if (!CHECK(msim_opmap_find(row->name) == (row->like ? row->like : row)))
            fprintf(stderr, "  at '%s'\n", row->name);
    }
    for (uint32_t k = 0; k < msim_opmap_prefixes.n; k++) {
        const struct msim_opmap_row *row = &msim_opmap_prefixes.rows[k];

        if (!CHECK(msim_opmap_find(row->name) == row))
            fprintf(stderr, "  at '%s'\n", row->name);
    }
}

/* Operators of other ways to call ATen have ATen's rows. */
static void test_ops_tables__synonyms(void)
{
    CHECK(msim_opmap_find("prims::iota") == msim_opmap_find("aten::arange"));
    CHECK(msim_opmap_find("aten::__iand__") ==
          msim_opmap_find("aten::__and__"));
    CHECK(msim_opmap_find("extern_kernels.bias_addmm") ==
          msim_opmap_find("aten::addmm"));
    CHECK(msim_opmap_find("prims::no_such") == NULL);
}

/* ---- rows with a rule ---------------------------------------------------- */

/* The row of fields in the order of MSIM_OPS_RULE_MAP. */
static enum msim_status row_of(const char *const fields[MSIM_OPS_RULE_COLUMNS],
                               struct msim_opmap_row *row,
                               struct msim_ops_fault *fault)
{
    *row = (struct msim_opmap_row){.name = "my::x"};
    *fault = (struct msim_ops_fault){.found = ""};
    return msim_ops_rule_read(row, fields, fault);
}

static void test_ops_rule__reads_every_column(void)
{
    struct msim_ops_fault fault;
    struct msim_opmap_row row;

    CHECK_INT(row_of((const char *const[]){"norm", "rms_norm", "2", "12", "",
                                           "composite backward", "channel"},
                     &row, &fault),
              MSIM_OK);
    CHECK(row.rule == msim_rule_norm);
    CHECK_STR(row.variant, "rms_norm");
    CHECK_INT(row.inputs, 2);
    CHECK_INT(row.flops_each, 12);
    CHECK_INT(row.flags, MSIM_OPMAP_COMPOSITE | MSIM_OPMAP_BACKWARD);
    CHECK_INT(row.arg, MSIM_ARGS_NORM_CHANNEL);
    CHECK_INT(row.group, MSIM_GROUP_NORM);
    CHECK_INT(row_of((const char *const[]){"jagged", "", "", "", "6", "", "1"},
                     &row, &fault),
              MSIM_OK);
    CHECK_INT(row.kernels, 6);
    CHECK_INT(row.inputs, 0); /* which it does not read */
    CHECK(row.variant == NULL);
    CHECK_INT(row_of((const char *const[]){"pointwise", "", "", "", "", "", ""},
                     &row, &fault),
              MSIM_OK);
    CHECK_INT(row.inputs, 1);
}

static void test_ops_rule__refuses(void)
{
    static const struct {
        const char *fields[MSIM_OPS_RULE_COLUMNS], *found, *want;
    } WRONG[] = {
        {{"pointwize", "", "", "", "", "", ""}, "'rule' is 'poin", "pointwise"},
        {{"qqqqqqq", "", "", "", "", "", ""}, "'rule' is", "docs/operators.md"},
        {{"scan", "", "1", "", "", "", ""},
         "'inputs' is '1'",
         "rule scan does"},
        {{"dot", "x", "", "", "", "", ""}, "'variant' is 'x'", "does not read"},
        {{"norm", "", "256", "", "", "", "last"}, "'inputs'", "up to 255"},
        {{"norm", "", "-1", "", "", "", "last"}, "'inputs' is '-1'", "up to"},
        {{"norm", "", "1", "2x", "", "", "last"}, "'flops_each' is", "up to"},
        {{"norm", "", "1", "2", "", "", ""}, "'arg' is ''", "layer, plain"},
        {{"norm", "", "1", "2", "", "", "2"}, "'arg' is '2'", "layer, plain"},
        {{"scan", "", "", "", "", "backwards", ""}, "'flags'", "backward, "},
        {{"", "", "", "", "", "backward", ""}, "'flags'", "composite, outer"},
        {{"", "x", "", "", "", "", ""}, "'variant' is 'x'", "no 'rule'"},
    };
    struct msim_ops_fault fault;
    struct msim_opmap_row row;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        CHECK_INT(row_of(WRONG[i].fields, &row, &fault), MSIM_EFORMAT);
        if (!CHECK(strstr(fault.found, WRONG[i].found) != NULL) ||
            !CHECK(strstr(fault.want, WRONG[i].want) != NULL))
            fprintf(stderr, "  '%s', want '%s'\n", fault.found, fault.want);
    }
}

int main(void)
{
    RUN(test_ops_tables__are_tables_of_users);
    RUN(test_ops_tables__are_in_order);
    RUN(test_ops_tables__synonyms);
    RUN(test_ops_rule__reads_every_column);
    RUN(test_ops_rule__refuses);
    return check_summary();
}
