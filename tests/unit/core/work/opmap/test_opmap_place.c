/*
 * The works of a trace that was captured on a CPU, where it is to run on a GPU
 * and where it stays; and how operands lie in memory.
 */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

/* For a GPU: what only a CPU does is left out, dropout is one
 * kernel, step counters stay on the host, and what repeat works out. */
static void test_opmap_place__on_a_gpu(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::addmm", "f32[5]@ f32[8,4]@ f32[4,5]@ 1 1", NULL);
    build_op(&b, 1, "aten::copy_", "f32[8,5]@ f32[8,5]@ false", NULL);
    build_op(&b, 0, "aten::dropout", "f32[8]@ 0.1 true", NULL);
    build_op(&b, 1, "aten::bernoulli_", "f32[8]@ 0.9", NULL);
    build_op(&b, 1, "aten::mul", "f32[8]@ f32[8]@", NULL);
    build_op(&b, 0, "Optimizer.step#Adam.step", "", NULL);
    build_op(&b, 1, "aten::add_", "f32[]@ 1", NULL);
    build_op(&b, 1, "aten::mul_", "f32[9]@ 0.9", NULL);
    build_op(&b, 0, "aten::repeat", "f32[12]@ (3)", NULL);
    build_op(&b, 1, "aten::copy_", "f32[3,12]@ f32[3,12]@ false", NULL);
    build_op(&b, 1, "aten::add", "i64[1]@ 1 1", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "dropout");
    CHECK_INT(msim_opmap(&b.t, NULL, 3, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 4, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 6, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 7, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 7, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 9, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 10, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    build_release(&b);
}

/* Of a DTensor the operator itself has the sizes of all ranks, and the one that
 * its subclass calls has those of this rank, wherever they run. */
static void test_opmap_place__subclass(void)
{
    static const enum msim_opmap_place PLACES[] = {
        MSIM_OPMAP_AS_TRACED, MSIM_OPMAP_ON_CPU, MSIM_OPMAP_ON_GPU};

    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        const char *all = i ? "f32[8,4]@ f32[4,6]@" : "f32[8,4] f32[4,6]";
        const char *own = i ? "f32[8,4]@ f32[4,3]@" : "f32[8,4] f32[4,3]";

        build_init(&b);
        build_op(&b, 0, "aten::mm", all, NULL);
        build_op(&b, 1, "PythonSubclass", all, NULL);
        build_op(&b, 2, "aten::mm", own, NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, PLACES[i], w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, PLACES[i], w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, PLACES[i], w, &n),
                  MSIM_OPMAP_WORKS);
        CHECK_INT(w[0].u.gemm.n, 3);
        build_release(&b);
    }
}

/* Lists are one operator on a GPU and go one by one on a CPU. A list of step
 * counters stays on the host. */
static void test_opmap_place__lists(void)
{
    build_init(&b);
    build_op(&b, 0, "Optimizer.step#Adam.step", "", NULL);
    build_op(&b, 1, "aten::_foreach_sqrt", "(f32[8]@ f32[4]@)", NULL);
    build_op(&b, 2, "aten::sqrt", "f32[8]@", NULL);
    build_op(&b, 2, "aten::sqrt", "f32[4]@", NULL);
    build_op(&b, 1, "aten::_foreach_add_", "(f32[]@ f32[]@) 1", NULL);
    build_op(&b, 2, "aten::add_", "f32[]@ 1", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].bytes_read, 12 * 4);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 4, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 5, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_WORKS);
    build_release(&b);
}

/*
 * aten::convolution calls the operator that has the work. On the meta device it
 * calls memory alone, and has it: 2 x 6 x 8 x 8 results of 4 x 3 x 3 products,
 * two FLOPs each, and the bias behind it on a GPU. Of a CPU's trace it stands
 * for the cuDNN call whatever the CPU calls.
 */
static void test_opmap_place__a_convolution_alone(void)
{
    const char *args = "f32[2,4,8,8] f32[6,4,3,3] f32[6] (1 1) (1 1) (1 1) "
                       "false (0 0) 1";

    build_init(&b);
    build_op(&b, 0, "aten::convolution", args, NULL);
    build_op(&b, 1, "aten::new_empty", "f32[2,4,8,8] (2 6 8 8)", NULL);
    build_op(&b, 0, "aten::convolution", args, NULL);
    build_op(&b, 1, "aten::cudnn_convolution",
             "f32[2,4,8,8] f32[6,4,3,3] (1 1) (1 1) (1 1) 1 false false true",
             NULL);
    build_op(&b, 0, "aten::convolution", args, NULL);
    build_op(&b, 1, "aten::slow_conv2d", "f32[2,4,8,8] f32[6,4,3,3]", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].family, MSIM_FAMILY_CONV);
    CHECK_INT((int64_t)w[0].flops, 2 * 2 * 6 * 64 * 36);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 3, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 4, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 2);
    CHECK_INT((int64_t)w[0].flops, 2 * 2 * 6 * 64 * 36);
    CHECK_INT(msim_opmap(&b.t, NULL, 5, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    build_release(&b);
}

/*
 * A bias is a kernel behind cuDNN's convolution, and inside PyTorch's own of a
 * filter for each channel, which all types but half precision take.
 */
static void test_opmap_place__bias_of_depthwise(void)
{
    static const struct {
        const char *name, *args;
        uint32_t works;
    } cases[] = {
        {"aten::mkldnn_convolution",
         "f32[2,4,8,8] f32[4,1,3,3] f32[4] (1 1) (1 1) (1 1) 4", 1},
        {"aten::mkldnn_convolution",
         "f16[2,4,8,8] f16[4,1,3,3] f16[4] (1 1) (1 1) (1 1) 4", 2},
        {"aten::mkldnn_convolution",
         "f32[2,4,8,8] f32[4,2,3,3] f32[4] (1 1) (1 1) (1 1) 2", 2},
        {"aten::_conv_depthwise2d",
         "f32[2,4,8,8] f32[4,1,3,3] (3 3) f32[4] (1 1) (1 1) (1 1)", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, cases[i].name, cases[i].args, NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_ON_GPU, w, &n),
                  MSIM_OPMAP_WORKS);
        CHECK_INT(n, cases[i].works);
        build_release(&b);
    }
}

/*
 * A GRU of two layers and both directions that a CPU unrolls: cuDNN takes 10
 * steps of a batch of 4 with 6 features to 8 hidden ones. Products of the first
 * layer's inputs are (40 x 6) x (6 x 24) in each direction, those of the second
 * (40 x 16) x (16 x 24), and 40 steps are (4 x 8) x (8 x 24).
 */
static void test_opmap_place__recurrent_layers(void)
{
    static const char *const args[] = {
        "f32[10,4,6]@ f32[4,4,8]@ (f32[24,6]@) true 2 0.0 false true false",
        "f32[4,10,6]@ f32[4,4,8]@ (f32[24,6]@) true 2 0.0 false true true",
    };

    for (size_t i = 0; i < 2; i++) {
        build_init(&b);
        build_op(&b, 0, "aten::gru", args[i], NULL);
        build_op(&b, 1, "aten::addmm", "f32[24]@ f32[4,8]@ f32[8,24]@ 1 1",
                 NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_ON_GPU, w, &n),
                  MSIM_OPMAP_WORKS);
        CHECK_INT(n, 4);
        CHECK_INT(w[0].u.gemm.m, 40);
        CHECK_INT(w[0].u.gemm.k, 6);
        CHECK_INT(w[0].u.gemm.batch, 2);
        CHECK_INT(w[1].u.gemm.k, 16);
        CHECK_INT(w[2].u.gemm.m, 4);
        CHECK_INT(w[2].u.gemm.n, 24);
        CHECK_INT(w[2].repeats, 40);
        CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_ON_GPU, w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_ON_CPU, w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        build_release(&b);
    }
}

/*
 * A CPU adds lists of tensors one by one, and sorts a copy; a GPU does each in
 * one operator, which has the work.
 */
static void test_opmap_place__one_operator_on_a_gpu(void)
{
    build_init(&b);
    b.t.cpu_only = true;
    build_op(&b, 0, "aten::_foreach_add_",
             "(f32[8]@ f32[4]@) (f32[8]@ f32[4]@)", NULL);
    build_op(&b, 1, "aten::add_", "f32[8]@ f32[8]@", NULL);
    build_op(&b, 0, "aten::sort", "f32[16,8]@ 1 false", NULL);
    build_op(&b, 1, "aten::copy_", "f32[16,8]@ f32[16,8]@", NULL);
    for (uint32_t k = 0; k < 4; k++)
        CHECK_INT(msim_opmap(&b.t, NULL, k, -1, MSIM_OPMAP_ON_GPU, w, &n),
                  k % 2 ? MSIM_OPMAP_NO_KERNEL : MSIM_OPMAP_WORKS);
    build_release(&b);
}

/* The same on a CPU: a dropout is the chain inside it, and what an operator
 * calls to do its work is in it, such as the clearing of a table's gradient. */
static void test_opmap_place__on_a_cpu(void)
{
    build_init(&b);
    b.t.cpu_only = true;
    build_op(&b, 0, "aten::dropout", "f32[8]@ 0.1 true", NULL);
    build_op(&b, 1, "aten::bernoulli_", "f32[8]@ 0.9", NULL);
    build_op(&b, 1, "aten::mul", "f32[8]@ f32[8]@", NULL);
    build_op(&b, 0, "aten::embedding_dense_backward",
             "f32[6,4]@ i64[6]@ 100 -1 false", NULL);
    build_op(&b, 1, "aten::zero_", "f32[100,4]@", NULL);
    build_op(&b, 0, "aten::mkldnn_convolution",
             "f32[2,4,8,8]@ f32[6,4,3,3]@ none (1 1) (1 1) (1 1) 1", NULL);
    CHECK_INT(msim_opmap_place_of(&b.t, true), MSIM_OPMAP_ON_CPU);
    CHECK_INT(msim_opmap_place_of(&b.t, false), MSIM_OPMAP_ON_GPU);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "bernoulli_");
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 3, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "embedding_backward");
    CHECK_INT(w[0].u.vector.table_rows, 100);
    CHECK_INT(w[0].u.vector.lookups, 6);
    CHECK_INT(w[0].bytes_written, (6 + 100) * 4 * 4);
    CHECK_INT(msim_opmap(&b.t, NULL, 4, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 3, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    /* no operator below it clears the table */
    CHECK_INT(w[0].bytes_written, (6 + 100) * 4 * 4);
    CHECK_INT(msim_opmap(&b.t, NULL, 4, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_opmap(&b.t, NULL, 5, -1, MSIM_OPMAP_ON_GPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "tf32");
    CHECK_INT(msim_opmap(&b.t, NULL, 5, -1, MSIM_OPMAP_ON_CPU, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "");
    b.t.cpu_only = false;
    CHECK_INT(msim_opmap_place_of(&b.t, true), MSIM_OPMAP_AS_TRACED);
    build_release(&b);
}

/* The first work of an operator whose first two tensors lie as given. */
static const struct msim_work *lying(const char *name, const char *args,
                                     uint8_t first, uint8_t second)
{
    struct msim_arg *a;
    bool listed;

    build_init(&b);
    build_op(&b, 0, name, args, NULL);
    a = (struct msim_arg *)msim_args_get(&b.t, b.t.ops[0].args, 0);
    listed = a->kind == MSIM_ARG_LIST;
    a[listed ? 1 : 0].layout = first;
    a[listed ? 2 : 1].layout = second;
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    build_release(&b);
    return &w[0];
}

/* Whether an address is computed for each element, by how two operands lie. */
static bool addressed(const char *name, const char *args, uint8_t first,
                      uint8_t second)
{
    return lying(name, args, first, second)->u.vector.addressed;
}

/* Operands that are turned alike count as plain (TensorIterator sorts sizes by
 * stride); a cat takes only what lies in order as a whole. */
static void test_opmap_place__operands_that_lie_apart(void)
{
    enum { PLAIN = MSIM_LAYOUT_PLAIN, TURNED = MSIM_LAYOUT_TURNED };
    static const char two[] = "f32[8,4] f32[8,4] 1",
                      list[] = "(f32[8,4] f32[8,4]) 1";

    CHECK(!addressed("aten::add", two, PLAIN, PLAIN));
    CHECK(!addressed("aten::add", two, TURNED, TURNED));
    CHECK(addressed("aten::add", two, PLAIN, TURNED));
    CHECK(addressed("aten::add", two, PLAIN, MSIM_LAYOUT_GAPS));
    CHECK(addressed("aten::add", "f32[8,4] f32[4] 1", PLAIN, PLAIN));
    CHECK(!addressed("aten::add", "f32[8,4] f32[1] 1", PLAIN, PLAIN));
    CHECK(!addressed("aten::cat", list, PLAIN, PLAIN));
    CHECK(addressed("aten::cat", list, PLAIN, TURNED));
}

/* Images or filters with channels last make the convolution so; the channels of
 * a batch norm are then no rows that lie together. */
static void test_opmap_place__channels_last(void)
{
    enum { PLAIN = MSIM_LAYOUT_PLAIN, TURNED = MSIM_LAYOUT_TURNED };
    static const char conv[] = "aten::cudnn_convolution",
                      norm[] = "aten::cudnn_batch_norm",
                      images[] = "f16[2,8,4,4] f16[8,8,3,3] (1 1) (1 1) (1 1) "
                                 "1 false false true",
                      batch[] = "f16[2,8,4,4] f32[8] f32[8]";

    CHECK(!lying(conv, images, PLAIN, PLAIN)->u.conv.channels_last);
    CHECK(lying(conv, images, TURNED, PLAIN)->u.conv.channels_last);
    CHECK(lying(conv, images, PLAIN, TURNED)->u.conv.channels_last);
    CHECK_INT(lying(norm, batch, PLAIN, PLAIN)->u.vector.fold, MSIM_FOLD_ALONG);
    CHECK_INT(lying(norm, batch, TURNED, PLAIN)->u.vector.fold,
              MSIM_FOLD_ACROSS);
}

/* A copy that brings another dimension last reads out of memory order; one
 * that keeps the last dimension reads whole runs, each element by an address of
 * its own. */
static void test_opmap_place__copies_out_of_order(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::transpose", "f32[8,4,2] 1 2", "f32[8,2,4]");
    build_op(&b, 0, "aten::contiguous", "f32[8,2,4] 0", "f32[8,2,4]");
    build_op(&b, 1, "aten::copy_", "f32[8,2,4] f32[8,2,4] false", NULL);
    build_op(&b, 0, "aten::permute", "f32[8,4,2] (1 0 2)", "f32[4,8,2]");
    build_op(&b, 0, "aten::contiguous", "f32[4,8,2] 0", "f32[4,8,2]");
    build_op(&b, 1, "aten::copy_", "f32[4,8,2] f32[4,8,2] false", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK(w[0].u.vector.strided);
    CHECK(!w[0].u.vector.addressed);
    CHECK_INT(msim_opmap(&b.t, NULL, 5, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK(!w[0].u.vector.strided);
    CHECK(w[0].u.vector.addressed);
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_place__on_a_gpu);
    RUN(test_opmap_place__on_a_cpu);
    RUN(test_opmap_place__subclass);
    RUN(test_opmap_place__lists);
    RUN(test_opmap_place__a_convolution_alone);
    RUN(test_opmap_place__one_operator_on_a_gpu);
    RUN(test_opmap_place__bias_of_depthwise);
    RUN(test_opmap_place__recurrent_layers);
    RUN(test_opmap_place__operands_that_lie_apart);
    RUN(test_opmap_place__channels_last);
    RUN(test_opmap_place__copies_out_of_order);
    return check_summary();
}
