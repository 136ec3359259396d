/*
 * models/factor/evidence.h - what traces of one machine say of the laws of its
 * GPU: factors of start and of rate, by kind of work, by family, for all.
 *
 * A platform file has them as "evidence" (predict/learn makes it):
 *
 *     {"traces": [...], "clock": 0.9,
 *      "all": [1.05, 1.1], "families": {"gemm": [1.02, 1.2]},
 *      "kin": {"gemm half": [1.0, 1.2, 130]},
 *      "kinds": {"gemm half, odd rows": [1.0, 1.25, 96]}}
 *
 * The pairs are factors of start and of rate (models/factor/levels.h), kinds
 * those of models/law/law_kind.h; the third figure is how many observations
 * there were. A kind that no trace had takes the factors of its kin, kin that
 * none had those of the family, a family that none had those of all.
 */
#ifndef MSIM_MODELS_FACTOR_EVIDENCE_H
#define MSIM_MODELS_FACTOR_EVIDENCE_H
#include "core/base/json.h"
#include "models/factor/levels.h"

#define MSIM_EVIDENCE_KIND 96 /* bytes of a kind at most */

struct msim_evidence_kind {
    char text[MSIM_EVIDENCE_KIND];
    struct msim_level factors; /* logarithms */
};

struct msim_evidence {
    struct msim_evidence_kind *kinds, *kin; /* by text; owned */
    uint32_t n, n_kin;
    struct msim_level families[MSIM_FAMILY_COUNT];
    double clock; /* of the machine's SMs over the usual one; 0: no evidence */
};

/* Read the member "evidence" of a platform file; NULL: none. EFORMAT names
 * `file`; ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_evidence_read(struct msim_evidence *e, const cJSON *json,
                                    const char *file, struct msim_error *err);
void msim_evidence_release(struct msim_evidence *e);

/* How much of a kind's text kin have in common: what comes before the words for
 * the kernel, 9 bytes of "gemm half, odd rows". */
size_t msim_evidence_kin(const char *kind);

/* Correct an estimate of a work of the kind `kind`. */
void msim_evidence_apply(const struct msim_evidence *e, const char *kind,
                         struct msim_estimate *estimate);

#endif
