/*
 * core/rewrite/gpu_form.h - operators whose CPU form is another than that of a
 * GPU.
 */
#ifndef MSIM_CORE_REWRITE_GPU_FORM_H
#define MSIM_CORE_REWRITE_GPU_FORM_H

#define MSIM_GPU_FORM_MATH    "aten::_scaled_dot_product_attention_math"
#define MSIM_GPU_FORM_DROPOUT "aten::dropout"

#endif
