#!/usr/bin/env bash
# What programs of one operator, of chains and of small networks hold has laws of
# its own kernels, but for what is named here. Skipped without PyTorch.
# shellcheck source=tests/torch.bash
source "$SOURCE_DIR/tests/torch.bash"
export TORCH_CPP_LOG_LEVEL=ERROR

# Solvers and decompositions of linear algebra are calls of cuSOLVER, MAGMA and
# cuBLAS that no table has. What is refused depends on what tensors hold.
cat >want <<'END'
bincount: aten::bincount (nearest)
cholesky: aten::linalg_cholesky (bound)
det: aten::linalg_det (bound)
eigh: aten::linalg_eigh (bound)
eigvalsh: aten::linalg_eigvalsh (bound)
gaussian_nll_loss: refused: 'item' reads what a tensor of sizes [] holds, which is not known without computing it
histc: aten::histc (nearest)
inv: aten::linalg_inv (bound)
isin: aten::isin (nearest)
lstsq: refused: 'linalg_lstsq' reads what a tensor of sizes [0] holds, which is not known without computing it
lu_factor: aten::linalg_lu_factor (bound)
matrix_exp: aten::linalg_matrix_exp (bound)
mode: aten::mode (nearest)
multilabel_margin_loss: aten::multilabel_margin_loss (nearest)
multinomial: aten::multinomial (nearest)
pinv: aten::linalg_pinv (bound)
qr: aten::linalg_qr (bound)
renorm: aten::renorm (nearest)
slogdet: aten::linalg_slogdet (bound)
solve: aten::linalg_solve (bound)
solve_triangular: aten::linalg_solve_triangular (bound)
svd: aten::linalg_svd (bound)
unique_consecutive_: refused: 'unique_consecutive' reads what a tensor of sizes [64, 500] holds, which is not known without computing it
END
"$python" "$SOURCE_DIR/scripts/capture/capture_programs.py" \
    --binary "$MYSTIQUE_SIM" --out traces >found 2>said ||
    { cat said >&2; exit 1; }
diff want found >&2 || {
    echo "capture_programs: <: as named in this test, >: found" >&2
    exit 1
}
grep -q '^3[67][0-9] programs recorded' said || { cat said >&2; exit 1; }
echo "capture_programs: ok"
