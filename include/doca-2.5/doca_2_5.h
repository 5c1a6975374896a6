/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_2_5.h
 * How the headers of this folder work.
 *
 * They declare what differs between DOCA 2.5 and today, for programs of 2.5: their build files find them with
 * PREFIX/lib/pkgconfig/2.5 (or pkgconfig/dpu/2.5) on PKG_CONFIG_PATH, which puts this folder before today's headers, one folder
 * up. A header that is not here is the same today. Each header here includes today's for what is the same. A function that has
 * another name today is declared by its old name and linked to today's function; one that has another signature, or behaves
 * differently, is linked to a symbol that begins with doca_2_5_. So one process may hold objects of both releases.
 *
 * Names that are newer than 2.5 are visible too, because hiding them would need a copy of nearly every header.
 */
#ifndef DOCA_2_5_H_
#define DOCA_2_5_H_

/** Links the declaration before it to this symbol of the libraries. */
#define DOCA_2_5_SYMBOL(symbol) __asm__(#symbol)

#endif /* DOCA_2_5_H_ */
