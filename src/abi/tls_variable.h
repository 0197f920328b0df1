/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * tls_variable - where each thread has its own copy of a variable.
 */
#pragma once
#include "abi/types.h"

enum tls_means {
	TLS_NONE,
	/* At `place` from the thread pointer. */
	TLS_STATIC,
	/* At `place` in the block of the module whose number is at the address `module`. */
	TLS_BY_MODULE,
};

struct tls_variable {
	u64 place;
	u64 module;
	u32 means; /* enum tls_means */
	u32 padding;
};
