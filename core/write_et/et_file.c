/*
 * core/write_et/et_file.c - frame and nodes of an execution trace's file.
 */
#include "core/write_et/write_et.h"

/* X(type, as PyTorch's C++ spells it) */
#define TYPE_MAP(X)                                                            \
    X(UNKNOWN, "unknown")                                                      \
    X(F64, "double")                                                           \
    X(F32, "float")                                                            \
    X(F16, "c10::Half")                                                        \
    X(BF16, "c10::BFloat16")                                                   \
    X(F8, "c10::Float8_e4m3fn")                                                \
    X(I64, "long int")                                                         \
    X(I32, "int")                                                              \
    X(I16, "short int")                                                        \
    X(I8, "signed char")                                                       \
    X(U8, "unsigned char")                                                     \
    X(BOOL, "bool")                                                            \
    X(C64, "c10::complex<float>")                                              \
    X(C128, "c10::complex<double>")                                            \
    X(F4X2, "c10::Float4_e2m1fn_x2")                                           \
    X(ODD, "odd")

const char *msim_et_tensor_type(enum msim_dtype dtype)
{
    static const char *const TEXT[] = {
#define X(type, text) [MSIM_DT_##type] = "Tensor(" text ")",
        TYPE_MAP(X)
#undef X
    };

    return TEXT[dtype];
}

const char *msim_et_dtype(enum msim_dtype dtype)
{
    static const char *const TEXT[] = {
#define X(type, text) [MSIM_DT_##type] = text,
        TYPE_MAP(X)
#undef X
    };

    return TEXT[dtype];
}

/* ---- attributes ----------------------------------------------------------
 */

/* Half of a file is their names and types: those of an attribute are one text,
 * up to its value. */
#define ATTR(name, type)                                                       \
    "{\"name\": \"" name "\", \"type\": \"" type "\", \"value\": "

#define attr_number(j, name, number)                                           \
    put_number(j, ATTR(name, "uint64"), (int64_t)(number))
#define attr_signed(j, name, number)                                           \
    put_number(j, ATTR(name, "int64"), (int64_t)(number))
#define attr_text(j, name, text) put_text(j, ATTR(name, "string"), text)

static void put_number(struct msim_json *j, const char *attr, int64_t value)
{
    msim_json_open_at(j, attr);
    msim_json_integer(j, NULL, value);
    msim_json_close(j);
}

static void put_text(struct msim_json *j, const char *attr, const char *text)
{
    msim_json_open_at(j, attr);
    msim_json_text(j, NULL, text);
    msim_json_close(j);
}

static void message_attrs(struct msim_json *j, const struct msim_et_message *m)
{
    attr_text(j, "collective_name", m->name);
    attr_text(j, "dtype", m->dtype);
    attr_number(j, "in_msg_nelems", m->in_elems);
    attr_number(j, "out_msg_nelems", m->out_elems);
    attr_text(j, "in_split_size", "[]");
    attr_text(j, "out_split_size", "[]");
    if (!m->group)
        return;
    attr_number(j, "global_rank_start", m->start);
    attr_number(j, "global_rank_stride", m->stride);
    attr_text(j, "pg_name", m->group);
    attr_text(j, "pg_desc", m->group);
    attr_number(j, "pg_size", m->size);
}

/* ---- nodes ----------------------------------------------------------------
 */

static void put_side(struct msim_json *j, const char *key,
                     const struct msim_et_side *s)
{
    static const char *const KEYS[MSIM_ET_COLUMNS] = {
        [MSIM_ET_VALUES] = "values",
        [MSIM_ET_SHAPES] = "shapes",
        [MSIM_ET_TYPES] = "types",
        [MSIM_ET_STRIDES] = "strides"};

    msim_json_open(j, key, '{', false);
    for (int c = 0; c < MSIM_ET_COLUMNS; c++) {
        msim_json_open(j, KEYS[c], '[', false);
        if (s->put)
            s->put(j, s->of, (enum msim_et_column)c);
        msim_json_close(j);
    }
    msim_json_close(j);
}

void msim_et_file_node(struct msim_json *j, const struct msim_et_record *n)
{
    if (j->status != MSIM_OK) /* nobody will read the rest */
        return;
    msim_json_open(j, NULL, '{', false);
    msim_json_unsigned(j, "id", n->id);
    msim_json_text(j, "name", n->name);
    msim_json_unsigned(j, "ctrl_deps", n->parent);
    put_side(j, "inputs", &n->in);
    put_side(j, "outputs", &n->out);
    msim_json_open(j, "attrs", '[', false);
    attr_number(j, "rf_id", n->rf_id);
    attr_number(j, "fw_parent", 0);
    attr_signed(j, "seq_id", n->sequence);
    attr_number(j, "scope", n->scope);
    attr_number(j, "tid", n->thread);
    attr_number(j, "fw_tid", n->fw_thread);
    attr_text(j, "op_schema", n->schema ? n->schema : "");
    attr_text(j, "kernel_backend", "");
    attr_text(j, "kernel_file", "");
    if (n->ranges)
        attr_text(j, "tensor_range", n->ranges);
    if (n->message)
        message_attrs(j, n->message);
    msim_json_close(j);
    msim_json_close(j);
}

/* ---- groups ---------------------------------------------------------------
 */

void msim_et_file_group(struct msim_json *j, const struct msim_et_group *g)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "pg_name", g->name);
    msim_json_text(j, "pg_desc", g->name);
    msim_json_text(j, "backend_config", "cuda:nccl");
    msim_json_open(j, "ranks", '[', false);
    for (uint32_t i = 0; i < g->size && !g->whole; i++)
        msim_json_integer(j, NULL,
                          g->ranks ? (int64_t)g->ranks[i]
                                   : (int64_t)g->start +
                                         (int64_t)i * (int64_t)g->stride);
    msim_json_close(j);
    msim_json_unsigned(j, "group_size", g->size);
    msim_json_unsigned(j, "group_count", 9);
    msim_json_close(j);
}

/* ---- the file -------------------------------------------------------------
 */

void msim_et_file_begin(struct msim_json *j,
                        enum msim_status (*sink)(void *, const char *, size_t),
                        void *ctx, const char *generator, int64_t process)
{
    msim_json_begin(j, sink, ctx);
    msim_json_open(j, NULL, '{', true);
    msim_json_text(j, "schema", "1.1.1-chakra.0.0.4");
    msim_json_text(j, "generator", generator);
    msim_json_integer(j, "pid", process);
    msim_json_text(j, "time", "1970-01-01 00:00:00");
    msim_json_integer(j, "start_ts", 0);
    msim_json_open(j, "nodes", '[', true);
}

enum msim_status msim_et_file_end(struct msim_json *j)
{
    const struct msim_et_record root = {.id = MSIM_ET_ROOT,
                                        .parent = MSIM_ET_ROOT,
                                        .name = MSIM_ET_PROCESS_NAME,
                                        .sequence = -1,
                                        .scope = 7};

    msim_et_file_node(j, &root);
    msim_json_close(j);
    msim_json_integer(j, "finish_ts", 1);
    return msim_json_end(j);
}
