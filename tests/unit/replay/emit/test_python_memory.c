/*
 * tests/unit/replay/emit/test_python_memory.c - memory that no operator writes
 * before one reads it.
 */
#include "tests/unit/made_et.h"

#define EMPTY "aten::empty(SymInt[] size) -> Tensor"

/* torch.tensor() makes memory, and Python puts numbers in: they are read before
 * an operator writes any. Bytes of 63 are 0.75 in fp32, and finite in all. */
static void test_memory__that_python_fills(void)
{
    struct made_et m = {0};

    et_op(&m, 100, EMPTY, "(=4 =4)", "7:4x4l");
    et_op(&m, 110, "my::to(Tensor x) -> Tensor", "7:4x4l", "8:4x4l");
    et_op(&m, 120, EMPTY, "(=4 =4)", "17:4x4");
    et_op(&m, 130, "my::to(Tensor x) -> Tensor", "17:4x4", "18:4x4");
    et_op(&m, 140, EMPTY, "(=4 =4)", "27:4x4");
    et_op(&m, 150, ET_ADD_, "27:4x4 18:4x4 =1", "27:4x4");
    et_op(&m, 160, EMPTY, "(=4 =4)", "37:4x4");
    et_check_text(&m, false,
                  "    x0 = aten.empty.default([4, 4])\n"
                  "    ctypes.memset(x0.data_ptr(), 0, x0.nbytes)\n"
                  "    torch.ops.my.to.default(x0)\n"
                  "    del x0\n"
                  "    x0 = aten.empty.default([4, 4])\n"
                  "    ctypes.memset(x0.data_ptr(), 63, x0.nbytes)\n"
                  "    x0 = torch.ops.my.to.default(x0)\n"
                  "    x1 = aten.empty.default([4, 4])\n"
                  "    aten.add_.Tensor(x1, x0)\n"
                  "    del x0, x1\n"
                  "    aten.empty.default([4, 4])\n");
}

#define SET                                                                    \
    "aten::set_.source_Storage_storage_offset(Tensor(a!) self, Storage "       \
    "source, SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> "    \
    "Tensor(a!)"

/* A data loader's memory comes from another process; what is in it matters to
 * whoever reads it. An empty tensor has nothing to be filled. */
static void test_memory__from_elsewhere(void)
{
    struct made_et m = {0};

    et_op(&m, 100, EMPTY, "(=0)", "7:0");
    et_op(&m, 110, SET, "7:0 - =0 (=4) (=1)", "8#7:4");
    et_op(&m, 120, EMPTY, "(=0)", "17:0l");
    et_op(&m, 130, SET, "17:0l - =0 (=4) (=1)", "18#17:4l");
    et_op(&m, 140, "my::to(Tensor x) -> Tensor", "18#17:4l", "19:4l");
    et_check_text(&m, false,
                  "    x0 = aten.empty.default([0])\n"
                  "    aten.set_.source_Storage_storage_offset(x0, "
                  "torch.UntypedStorage(), 0, [4], [1])\n"
                  "    del x0\n"
                  "    x0 = aten.empty.default([0])\n"
                  "    x0 = aten.set_.source_Storage_storage_offset(x0, "
                  "torch.UntypedStorage(), 0, [4], [1])\n"
                  "    ctypes.memset(x0.data_ptr(), 0, x0.nbytes)\n"
                  "    torch.ops.my.to.default(x0)\n"
                  "    del x0\n");
}

int main(void)
{
    RUN(test_memory__that_python_fills);
    RUN(test_memory__from_elsewhere);
    return check_summary();
}
