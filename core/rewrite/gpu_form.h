/*
 * core/rewrite/gpu_form.h - what a trace has whose CPU form is another than
 * that of a GPU.
 */
#ifndef MSIM_CORE_REWRITE_GPU_FORM_H
#define MSIM_CORE_REWRITE_GPU_FORM_H
#include <stdbool.h>

#define MSIM_GPU_FORM_MATH    "aten::_scaled_dot_product_attention_math"
#define MSIM_GPU_FORM_DROPOUT "aten::dropout"

/* "Optimizer.step#AdamW.step": is it a step that goes by lists on a GPU? */
bool msim_step_takes_lists(const char *label);

#endif
