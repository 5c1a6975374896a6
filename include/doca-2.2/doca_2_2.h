/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_2_2.h
 * How the headers of this folder work.
 *
 * They are the API of DOCA 2.2, for programs of that release: their build files ask for `dependency('doca')` with
 * PREFIX/lib/pkgconfig/2.2 (or pkgconfig/dpu/2.2) on PKG_CONFIG_PATH. Each includes today's header of its name, one folder up,
 * for what is the same. A function that has another name today is declared by its old name and linked to today's function; one
 * that has another signature, or behaves differently, is linked to a symbol of libdoca_2_2 that begins with doca_2_2_. So one
 * process may hold objects of both releases, each used by its own functions.
 */
#ifndef DOCA_2_2_H_
#define DOCA_2_2_H_

/** Links the declaration before it to this symbol of the libraries. */
#define DOCA_2_2_SYMBOL(symbol) __asm__(#symbol)

#endif /* DOCA_2_2_H_ */
