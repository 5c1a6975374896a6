/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange in which the processes of a domain learn about each other. */
#ifndef UROM_DOMAIN_EXCHANGE_H
#define UROM_DOMAIN_EXCHANGE_H

#include "urom/domain.h"

doca_error_t urom_domain_begin(struct doca_urom_domain *domain);
/* Continues until the phase is GATHERED or FAILED. Returns true if anything moved. */
bool urom_domain_exchange(struct doca_urom_domain *domain);
void urom_domain_fail(struct doca_urom_domain *domain, const char *what, doca_error_t why);
void urom_domain_free_exchange(struct doca_urom_domain *domain);

#endif
