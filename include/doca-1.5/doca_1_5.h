/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_1_5.h
 * How the headers of this folder work.
 *
 * They are the API of DOCA 1.5, for programs of that release: their build files ask for `dependency('doca')` with
 * PREFIX/lib/pkgconfig/1.5 (or pkgconfig/dpu/1.5) on PKG_CONFIG_PATH. Each includes the header of its name in ../doca-2.2 for
 * what is the same in 2.2; that one includes today's header. A function that has another signature in 2.2, or behaves
 * differently, is linked to a symbol of libdoca_1_5 that begins with doca_1_5_. So one process may hold objects of both releases,
 * each used by its own functions.
 *
 * Names that are newer than 1.5 are visible too, except those of memory maps, which are objects of another kind here.
 */
#ifndef DOCA_1_5_H_
#define DOCA_1_5_H_

/** Links the declaration before it to this symbol of the libraries. */
#define DOCA_1_5_SYMBOL(symbol) __asm__(#symbol)

#endif /* DOCA_1_5_H_ */
