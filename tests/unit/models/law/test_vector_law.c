/*
 * models/law/vector_law.c: what a reduction's grid costs, where memory takes
 * next to nothing.
 */
#include "models/law/law.h"
#include "tests/check.h"

/* In microseconds, without a start and almost without bytes. */
static double reduction(int64_t rows, int64_t cols)
{
    struct msim_data_sheet s = {.sms = 108, .bandwidth = 1e15, .l2_bytes = 1e9};
    struct msim_work w = {.family = MSIM_FAMILY_REDUCTION,
                          .dtype = MSIM_DT_F32,
                          .bytes_read = 1,
                          .u.vector = {.rows = rows,
                                       .cols = cols,
                                       .elems = rows * cols,
                                       .fold = MSIM_FOLD_ALONG}};
    /* t0, bandwidth, cache speedup and share, row, norm */
    double p[MSIM_LAW_PARAMS] = {0, 1, 1, 1, 0, 1};

    return MSIM_LAW_VECTOR.time_us(&s, &w, p);
}

/* One sum of 1,007,616 numbers: 123 blocks with 4 loads of each thread in turn,
 * and 3 more to add their sums up. 123 sums of 8,192: the same 4 loads, and no
 * more. A load takes half a microsecond. */
static void test_vector_law__split_loads(void)
{
    CHECK_REL(reduction(1, 1007616), (4 + 3) * 0.5, 1e-6);
    CHECK_REL(reduction(123, 8192), 4 * 0.5, 1e-6);
}

/* us of moving bytes at 1 byte/us of memory and 100 of a cache of 1000 bytes.
 */
static double moved(struct msim_work *w, double bytes)
{
    struct msim_data_sheet s = {.sms = 10, .bandwidth = 1e6, .l2_bytes = 1000};
    double p[MSIM_LAW_PARAMS] = {0, 1, 100, 1, 0, 1};

    w->dtype = MSIM_DT_F32;
    w->bytes_read = w->bytes_written = bytes;
    return MSIM_LAW_VECTOR.time_us(&s, w, p);
}

/*
 * 1000 bytes read and as many written are twice the cache: 1 / (1 + 2^4) of
 * them hit. In place they are as much as the cache: half of them hit.
 */
static void test_vector_law__in_place_takes_half_the_room(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE};
    double hit = 2000 / 17.0;

    CHECK_REL(moved(&w, 1000), 2000 - hit + hit / 100, 1e-9);
    w.in_place = true;
    CHECK_REL(moved(&w, 1000), 1000 + 1000 / 100.0, 1e-9);
}

/*
 * A batch norm of 1000 channels reads 100,000 bytes twice, 20 channels at once:
 * their 4,000 bytes, read and written, are four times the cache and 1 / (1 +
 * 4^4) of the second read hits; next to nothing of the first one does. Of
 * channels of a tenth, 400 bytes run at once, and most of it hits.
 */
static void test_vector_law__channels_are_read_again(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_NORM,
                          .variant = "batch_norm",
                          .u.vector = {.rows = 1000, .cols = 25}};
    double hit = 1e5 / 257;

    CHECK_REL(moved(&w, 1e5), 3e5 - hit + hit / 100, 1e-5);
    hit = 1e4 / (1 + 0.4 * 0.4 * 0.4 * 0.4);
    CHECK_REL(moved(&w, 1e4), 3e4 - hit + hit / 100, 1e-3);
}

/* Carried to a GPU of 10 SMs at 1 GHz and 30 GB/s of memory, of which it uses
 * half: 15 bytes a cycle and SM are 150 GB/s, ten times the 15 of memory. */
static void test_vector_law__the_cache_goes_by_sms(void)
{
    struct msim_data_sheet s = {
        .sms = 10, .clock_hz = 1e9, .bandwidth = 30e9, .l2_bytes = 1000};
    double p[MSIM_LAW_PARAMS] = {0, 0.5, 2, 1.5, 0, 1};

    MSIM_LAW_VECTOR.carry(&s, p);
    CHECK_REL(p[2], 10, 1e-12);
    CHECK_REL(p[3], 1, 1e-12);
}

/* Behind the memory's side of the chip it gives nothing. */
static void test_vector_law__no_cache_of_memory(void)
{
    struct msim_data_sheet s = {.sms = 10,
                                .clock_hz = 1e9,
                                .bandwidth = 30e9,
                                .l2_bytes = 1000,
                                .miopen = true};
    double p[MSIM_LAW_PARAMS] = {0, 0.5, 2, 1.5, 0, 1};

    MSIM_LAW_VECTOR.carry(&s, p);
    CHECK_REL(p[2], 1, 1e-12);
}

/* ---- rows ---------------------------------------------------------------- */

/* Rows of data/laws/kernels.csv. */
#define FREE  8    /* row_kernel,blocks */
#define WIDE  1024 /* row_kernel,columns */
#define LOADS 4    /* jagged,loads */
#define FLAT  1024 /* flat,columns */
#define EVEN  1024 /* the power of two in it */

/* us of rows alone: next to no bytes, 2 us a row of an SM. */
static double rows_us(struct msim_work w, double sms)
{
    struct msim_data_sheet s = {.sms = sms, .bandwidth = 1e20, .l2_bytes = 1};
    double p[MSIM_LAW_PARAMS] = {0, 1, 1, 1, 2, 1};

    w.dtype = MSIM_DT_F32;
    w.bytes_read = 1;
    return MSIM_LAW_VECTOR.time_us(&s, &w, p);
}

static struct msim_work matrix(enum msim_family family, int64_t rows,
                               int64_t cols)
{
    return (struct msim_work){
        .family = family,
        .u.vector = {.rows = rows, .cols = cols, .elems = rows * cols}};
}

/* Kernels with a block a row: FREE run at once on an SM (row_kernel,blocks),
 * and rows of fewer than WIDE columns (row_kernel,columns) take their share.
 * Short rows of a gather share a block of 256 columns. */
static void test_vector_law__a_block_a_row(void)
{
    struct msim_work flat = matrix(MSIM_FAMILY_NORM, 1, WIDE);

    CHECK_REL(rows_us(matrix(MSIM_FAMILY_SOFTMAX, 1000, WIDE), 10),
              (100 - FREE) * 2, 1e-9);
    CHECK_REL(rows_us(matrix(MSIM_FAMILY_NORM, 1000, 4 * WIDE), 10),
              (100 - FREE) * 2, 1e-9);
    CHECK_REL(rows_us(matrix(MSIM_FAMILY_NORM, 1000, WIDE / 4), 10),
              (100 - FREE) * 0.5, 1e-9);
    CHECK_REL(rows_us(matrix(MSIM_FAMILY_EMBEDDING, 8000, 64), 10),
              (200 - FREE) * 2 * 64.0 / WIDE, 1e-9);
    CHECK_REL(rows_us(matrix(MSIM_FAMILY_EMBEDDING, 1000, 512), 10),
              (100 - FREE) * 2 * fmin(1, 512.0 / WIDE), 1e-9);
    CHECK(rows_us(matrix(MSIM_FAMILY_POINTWISE, 1000, WIDE), 10) < 1e-9);
    CHECK(rows_us(matrix(MSIM_FAMILY_NORM, (int64_t)(10 * FREE), WIDE), 10) <
          1e-9);
    CHECK(rows_us(flat, 10) < 1e-9);
}

/* Rows of jagged data: a warp each, of which an SM holds 64; it waits for so
 * many loads of half a microsecond (jagged,loads). */
static void test_vector_law__jagged(void)
{
    struct msim_work w = matrix(MSIM_FAMILY_COPY, 1, 100);

    w.u.vector.segments = 6400;
    CHECK_REL(rows_us(w, 10), 6400 / 640.0 * LOADS * 0.5, 1e-9);
}

/* AMD's batch norms leave SMs without a channel idle. */
static void test_vector_law__idle_units(void)
{
    static const struct {
        bool miopen;
        const char *variant;
        int64_t channels;
        double factor;
    } ROWS[] = {
        {true, "batch_norm", 5, 2},  {true, "batch_norm_backward", 2, 5},
        {true, "batch_norm", 10, 1}, {true, "batch_norm", 40, 1},
        {true, "layer_norm", 5, 1},  {false, "batch_norm", 5, 1}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_data_sheet s = {.sms = 10,
                                    .bandwidth = 1e6,
                                    .l2_bytes = 1e-3,
                                    .miopen = ROWS[i].miopen};
        struct msim_work w = matrix(MSIM_FAMILY_NORM, ROWS[i].channels, 1);
        double p[MSIM_LAW_PARAMS] = {7, 1, 1, 1, 0, 1};
        bool twice = ROWS[i].variant[0] == 'b';

        w.variant = ROWS[i].variant;
        w.bytes_read = 1000;
        w.bytes_written = 500;
        CHECK_INT(msim_vector_is_read_twice(&w), twice);
        CHECK_REL(msim_vector_bytes(&w), twice ? 2500 : 1500, 0);
        CHECK_REL(MSIM_LAW_VECTOR.time_us(&s, &w, p),
                  7 + (twice ? 2500 : 1500) * ROWS[i].factor, 1e-6);
    }
}

/* ---- features ------------------------------------------------------------ */

static void check_features(struct msim_work w, double bytes, double elems,
                           double rows, double cols, double even)
{
    struct msim_data_sheet s = {.sms = 10, .l2_bytes = 5e6};
    double blocks = bytes / 8192 / 10, x[MSIM_LAW_FEATURES];
    const double want[] = {log(bytes),  log(elems),           log(rows),
                           log(cols),   log(bytes / 5e6),     log(even),
                           log(blocks), ceil(blocks) / blocks};

    CHECK_UINT(MSIM_LAW_VECTOR.n_features, 8);
    MSIM_LAW_VECTOR.describe(&s, &w, x);
    for (int i = 0; i < 8; i++)
        if (!CHECK(fabs(x[i] - want[i]) < 1e-9))
            fprintf(stderr, "%s\n", MSIM_LAW_VECTOR.features[i]);
}

/* A flat tensor counts as a matrix of FLAT columns (flat,columns), but where
 * its numbers are reduced. Nothing counts as one. */
static void test_vector_law__features(void)
{
    struct msim_work w = matrix(MSIM_FAMILY_POINTWISE, 300, 96);

    w.bytes_read = 2e6;
    w.bytes_written = 1e6;
    check_features(w, 3e6, 28800, 300, 96, 32);
    w = matrix(MSIM_FAMILY_POINTWISE, 1, 6 * FLAT);
    w.bytes_read = 1e5;
    check_features(w, 1e5, 6.0 * FLAT, 6, FLAT, EVEN);
    w.family = MSIM_FAMILY_SOFTMAX;
    check_features(w, 1e5, 6.0 * FLAT, 1, 6.0 * FLAT, 2.0 * EVEN);
    w.family = MSIM_FAMILY_NORM;
    check_features(w, 1e5, 6.0 * FLAT, 1, 6.0 * FLAT, 2.0 * EVEN);
    w = matrix(MSIM_FAMILY_POINTWISE, 2, 6 * FLAT);
    check_features(w, 1, 12.0 * FLAT, 2, 6.0 * FLAT, 2.0 * EVEN);
    w = matrix(MSIM_FAMILY_POINTWISE, 0, 0);
    check_features(w, 1, 1, 1, 1, 1);
}

int main(void)
{
    RUN(test_vector_law__a_block_a_row);
    RUN(test_vector_law__features);
    RUN(test_vector_law__idle_units);
    RUN(test_vector_law__jagged);
    RUN(test_vector_law__in_place_takes_half_the_room);
    RUN(test_vector_law__channels_are_read_again);
    RUN(test_vector_law__the_cache_goes_by_sms);
    RUN(test_vector_law__no_cache_of_memory);
    RUN(test_vector_law__split_loads);
    return check_summary();
}
